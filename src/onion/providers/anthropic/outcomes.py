"""What the caller's tools gave back, as ``tool_result`` blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import UnsupportedFunctionalityError
from onion.providers._json import object_in, text_in
from onion.providers._tooling import output_text
from onion.providers.anthropic.files import file_block
from onion.providers.anthropic.names import NAME, own_options
from onion.spec.prompt import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    TextPart,
)

if TYPE_CHECKING:
    from onion.providers.anthropic.marks import Marks
    from onion.spec.base import JsonValue
    from onion.spec.prompt import CustomPart, ToolResultPart


def result_block(part: ToolResultPart, marks: Marks) -> dict[str, JsonValue]:
    """The block for one result.

    Raises:
        UnsupportedFunctionalityError: When it holds what the API has no word for.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    block: dict[str, JsonValue] = {
        "type": "tool_result",
        "tool_use_id": part.tool_call_id,
        "content": _content(part, marks),
    }
    if isinstance(part.output, ErrorTextOutput | ErrorJsonOutput):
        block["is_error"] = True
    return block


def _content(part: ToolResultPart, marks: Marks) -> JsonValue:
    if isinstance(part.output, ContentOutput):
        return [block for item in part.output.value if (block := _item(item, marks)) is not None]
    return output_text(part.output)


def _item(item: TextPart | FilePart | CustomPart, marks: Marks) -> dict[str, JsonValue] | None:
    if isinstance(item, TextPart) and not item.text.strip():
        return None
    block = _block(item)
    marks.set(block, item.provider_options)
    return block


def _block(item: TextPart | FilePart | CustomPart) -> dict[str, JsonValue]:
    if isinstance(item, TextPart):
        return {"type": "text", "text": item.text}
    if isinstance(item, FilePart):
        return file_block(item)
    own = own_options(item.provider_options)
    tool_name = text_in(own, "tool_name")
    if tool_name:  # a tool that a search of the caller's own found
        return {"type": "tool_reference", "tool_name": tool_name}
    if not object_in(own, "block"):
        raise UnsupportedFunctionalityError.of(f"{item.kind} parts in tool results", provider=NAME)
    return dict(object_in(own, "block"))
