"""What a tool gave back as an item of the Responses API: the type depends on the call that it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import UnsupportedFunctionalityError
from onion.providers._tooling import output_text
from onion.providers.openai_responses.files import content_parts
from onion.providers.openai_responses.items import CLIENT_TOOLS
from onion.spec.prompt import (
    ContentOutput,
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    JsonOutput,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import ToolResultOutput, ToolResultPart

_FAILURES = (ErrorTextOutput, ErrorJsonOutput, ExecutionDenied)


def output_item(part: ToolResultPart, call_type: str, name: str) -> JsonObject:
    """The item that answers a call.

    Args:
        part: The result.
        call_type: Type of the item that was the call: ``function_call``, or one of the `CLIENT_TOOLS`.
        name: Key of the provider options.

    Raises:
        UnsupportedFunctionalityError: When it holds what the API has no word for.
    """
    tool = CLIENT_TOOLS.get(call_type)
    item: dict[str, JsonValue] = {
        "type": tool.output if tool else "function_call_output",
        "call_id": part.tool_call_id,
    }
    match call_type:
        case "shell_call":
            item |= _members(part.output, "output") or {"output": [_shell_text(part.output)]}
        case "apply_patch_call":
            item |= _patch(part.output)
        case "computer_call":
            item |= _members(part.output, "output") or {"output": _screenshot(part.output, name)}
        case "tool_search_call":
            item |= {"execution": "client", "status": "completed", "tools": _found_tools(part.output)}
        case _:
            item["output"] = _output(part.output, name)
    return item


def _output(output: ToolResultOutput, name: str) -> JsonValue:
    """Text, or content parts where files are among them."""
    if not isinstance(output, ContentOutput):
        return output_text(output)
    custom = next((item for item in output.value if isinstance(item, CustomPart)), None)
    if custom is not None:
        raise UnsupportedFunctionalityError.of(f"{custom.kind} parts in tool results", provider=name)
    return content_parts([item for item in output.value if not isinstance(item, CustomPart)], name)


def _found_tools(output: ToolResultOutput) -> JsonValue:
    """The tools that a search at the caller's gave, as a list or under ``tools``."""
    found = output.value if isinstance(output, JsonOutput) else None
    return (found["tools"] if isinstance(found, Mapping) and "tools" in found else found) or ()


def _members(output: ToolResultOutput, key: str) -> JsonObject | None:
    """The members of the item, where a tool gave them as the API has them."""
    found = output.value if isinstance(output, JsonOutput) else None
    return found if isinstance(found, Mapping) and key in found else None


def _shell_text(output: ToolResultOutput) -> JsonObject:
    """Text as what a command printed."""
    text, is_failure = output_text(output), isinstance(output, _FAILURES)
    return {
        "stdout": "" if is_failure else text,
        "stderr": text if is_failure else "",
        "outcome": {"type": "exit", "exit_code": int(is_failure)},
    }


def _patch(output: ToolResultOutput) -> JsonObject:
    given = _members(output, "status")
    if given is not None:
        return given
    return {"status": "failed" if isinstance(output, _FAILURES) else "completed", "output": output_text(output)}


def _screenshot(output: ToolResultOutput, name: str) -> JsonValue:
    """The image in a content output; anything else is given as it is, for the API to judge."""
    found = _output(output, name)
    for item in found if isinstance(found, list) else ():
        if isinstance(item, Mapping) and item.get("type") == "input_image":
            return {
                "type": "computer_screenshot",
                **{key: item[key] for key in ("image_url", "file_id") if key in item},
            }
    return found
