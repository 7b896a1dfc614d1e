"""What the caller's tools gave back, as ``functionResponse`` parts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import JSONParseError, UnsupportedFunctionalityError
from onion.providers._json import parse_json
from onion.providers._tooling import output_text
from onion.providers.google.files import file_part
from onion.providers.google.names import NAME
from onion.spec.prompt import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FilePart,
    JsonOutput,
    TextPart,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import ToolResultPart


def response_parts(
    part: ToolResultPart, wire_id: str | None, action: str = "", *, takes_files: bool
) -> tuple[dict[str, JsonValue], list[dict[str, JsonValue]]]:
    """The part for one result, and parts of the user that must follow the results: files that it cannot hold.

    Args:
        part: The result.
        wire_id: The id that its call has at the API.
        action: What was to be done at a computer: the API knows the result by it, and wants members of its own in it.
        takes_files: The model takes files inside of results.

    Raises:
        UnsupportedFunctionalityError: When it holds what the API has no word for.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    response: dict[str, JsonValue] = {"id": wire_id} if wire_id else {}
    response["name"] = action or part.tool_name
    match part.output:
        case JsonOutput():
            response["response"] = _response(part.output.value, action)
        case ErrorJsonOutput():
            response["response"] = {"error": part.output.value}
        case ErrorTextOutput() | ExecutionDenied():
            response["response"] = {"error": output_text(part.output)}
        case ContentOutput():
            files = _files(part.output)
            response["response"] = _response(output_text(part.output), action)
            if takes_files and files:
                response["parts"] = [*files]
            elif files:
                told: dict[str, JsonValue] = {"text": f"Files that {part.tool_name} gave back:"}
                return {"functionResponse": response}, [told, *files]
        case _:
            response["response"] = {"output": output_text(part.output)}
    return {"functionResponse": response}, []


def _response(output: JsonValue, action: str) -> JsonObject:
    if action and isinstance(output, str):
        with contextlib.suppress(JSONParseError):
            output = parse_json(output)
    return output if action and isinstance(output, Mapping) else {"output": output}


def _files(output: ContentOutput) -> list[dict[str, JsonValue]]:
    files: list[dict[str, JsonValue]] = []
    for item in output.value:
        if isinstance(item, FilePart):
            files.append(file_part(item))
        elif not isinstance(item, TextPart):
            raise UnsupportedFunctionalityError.of(f"{item.kind} parts in tool results", provider=NAME)
    return files
