"""An assistant message as items of the Responses API: what the API itself made goes back as it came.

Items keep their order. Reasoning goes back only together with what followed it, and what followed reasoning keeps its
id only behind it: the API refuses the one without the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import JSONParseError
from onion.providers._json import NOTHING, dump_json, object_in, objects_in, parse_json, text_in
from onion.providers._tooling import input_text
from onion.providers.openai_responses import items as keys
from onion.spec.prompt import (
    CustomPart,
    ErrorJsonOutput,
    FilePart,
    JsonOutput,
    ReasoningPart,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
    ToolResultPart,
)
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import AssistantMessage, AssistantPart

_Entry: TypeAlias = "tuple[dict[str, JsonValue], str]"
"""An item, and the id of the reasoning that it must follow."""

_KEPT_OF_CALLS = ("namespace", "caller")


class Echo:
    """Turns assistant messages into items.

    Args:
        name: Key of the provider options.
        is_stored: The server keeps what it answered, so that reasoning can be named by its id alone.
        call_types: By name of a tool, the type of the items that call it, where that is not ``function_call``.
        warnings: Where it is said what could not go back.
    """

    def __init__(
        self, name: str, *, is_stored: bool, call_types: Mapping[str, str], warnings: list[CallWarning]
    ) -> None:
        self.types_of_calls: dict[str, str] = {}
        """By id of a call, the type of its item."""
        self._name = name
        self._is_stored = is_stored
        self._call_types = call_types
        self._warnings = warnings
        self._items: list[dict[str, JsonValue]] = []
        self._after: list[str] = []
        self._inputs: dict[str, JsonValue] = {}

    def items(self, message: AssistantMessage) -> list[JsonObject]:
        """The items for *message*."""
        self._items, self._after = [], []
        for part in message.content:
            self._add(part)
        return self._paired()

    def _add(self, part: AssistantPart) -> None:
        own = (part.provider_options or {}).get(self._name, NOTHING)
        match part:
            case TextPart():
                self._add_text(part, own)
            case ReasoningPart():
                self._add_reasoning(part, own)
            case ToolCallPart():
                self._add_call(part, own)
            case ToolResultPart():
                self._add_result(part, own)
            case CustomPart() if object_in(own, keys.ITEM):
                self._push(dict(object_in(own, keys.ITEM)), own)
            case FilePart() if text_in(own, keys.ITEM_ID):
                pass  # goes back in the item of the tool that made it
            case ToolApprovalRequestPart():
                pass
            case _:
                self._leave_out(f"{part.type} parts of the assistant")

    def _push(self, item: dict[str, JsonValue], own: JsonObject) -> None:
        self._items.append(item)
        self._after.append(text_in(own, keys.REASONING_ID))

    def _last(self, kind: str, item_id: str) -> dict[str, JsonValue] | None:
        """The item that a part continues, if it is of the same item as the part before."""
        last = self._items[-1] if self._items else NOTHING
        return self._items[-1] if item_id and last.get("type") == kind and last.get("id") == item_id else None

    def _add_text(self, part: TextPart, own: JsonObject) -> None:
        item_id = text_in(own, keys.ITEM_ID)
        if not item_id:
            if part.text.strip():
                self._push({"role": "assistant", "content": part.text}, own)
            return
        content: dict[str, JsonValue] = (
            {"type": "refusal", "refusal": part.text}
            if own.get("refusal")
            else {"type": "output_text", "text": part.text, "annotations": own.get("annotations") or []}
        )
        item = self._last("message", item_id)
        if item is not None:
            said = item["content"]
            item["content"] = [*(said if isinstance(said, list) else ()), content]
            return
        phase: dict[str, JsonValue] = {"phase": own["phase"]} if own.get("phase") else {}
        status = own.get("status") or "completed"
        head: dict[str, JsonValue] = {"type": "message", "role": "assistant", "id": item_id, "status": status, **phase}
        self._push(head | {"content": [content]}, own)

    def _add_reasoning(self, part: ReasoningPart, own: JsonObject) -> None:
        item_id = text_in(own, keys.ITEM_ID)
        encrypted = own.get(keys.ENCRYPTED)
        if not item_id and not encrypted:
            self._leave_out("reasoning that another provider wrote")
            return
        item = self._last("reasoning", item_id)
        if item is None:
            nothing: list[JsonValue] = []
            item = {"type": "reasoning", **_identity(own), "summary": nothing}
            self._push(item, own)
        if encrypted:
            item["encrypted_content"] = encrypted
        kind = text_in(own, keys.CONTENT_TYPE) or "summary_text"
        if part.text:
            member = "content" if kind == keys.REASONING_TEXT else "summary"
            before = item.get(member)
            item[member] = [*(before if isinstance(before, list) else ()), {"type": kind, "text": part.text}]

    def _add_call(self, part: ToolCallPart, own: JsonObject) -> None:
        kind = text_in(own, keys.ITEM_TYPE)
        if part.provider_executed:
            self._inputs[part.tool_call_id] = part.input
            if object_in(own, keys.ITEM):
                self._push(dict(object_in(own, keys.ITEM)), own)
            elif kind in keys.CLIENT_TOOLS:
                self._push(_native(part, kind, own), own)
            elif not kind:
                self._leave_out("tool calls that another provider ran")
            return
        kind = kind or self._call_types.get(part.tool_name, "function_call")
        self.types_of_calls[part.tool_call_id] = kind
        if kind in keys.CLIENT_TOOLS:
            self._push(_native(part, kind, own), own)
            return
        item: dict[str, JsonValue] = {
            "type": "function_call",
            "call_id": part.tool_call_id,
            "name": part.tool_name,
            "arguments": input_text(part.input),
        }
        self._push(item | _identity(own) | {key: own[key] for key in _KEPT_OF_CALLS if key in own}, own)

    def _add_result(self, part: ToolResultPart, own: JsonObject) -> None:
        kind = text_in(own, keys.ITEM_TYPE)
        output = part.output
        found = output.value if isinstance(output, JsonOutput | ErrorJsonOutput) else None
        if not kind or not isinstance(found, Mapping):
            self._leave_out("results of tools that another provider ran")
            return
        item: dict[str, JsonValue] = {"type": kind, **_identity(own), **found}
        if kind in keys.OUTPUTS:
            item["call_id"] = own.get("callId", part.tool_call_id)
        elif kind != "mcp_call":
            item |= _object(self._inputs.get(part.tool_call_id))
        self._push(item, own)

    def _paired(self) -> list[JsonObject]:
        """The items without reasoning that would stand alone, and without ids that would need it."""
        entries = list(zip(self._items, self._after, strict=True))
        while (settled := self._settled(entries)) != entries:  # what goes may leave others alone
            entries = settled
        return [item for item, _ in entries]

    def _settled(self, entries: list[_Entry]) -> list[_Entry]:
        kept: list[_Entry] = []
        behind = ""
        for place, (item, needed) in enumerate(entries):
            if item.get("type") == "reasoning":
                if self._can_go_back(item, entries, place):
                    kept.append((item, needed))
                    behind = text_in(item, "id")
            elif needed and needed != behind:
                kept.append((_anonymous(item), ""))
            else:
                kept.append((item, needed))
        return kept

    def _can_go_back(self, item: JsonObject, entries: list[_Entry], place: int) -> bool:
        if not (self._is_stored or "encrypted_content" in item or "content" in item):
            self._leave_out("reasoning without encrypted content, which the server did not store")
            return False
        others = (found for found, _ in islice(entries, place + 1, None) if found.get("type") != "reasoning")
        if not next(others, NOTHING).get("id"):
            self._leave_out("reasoning without the item that followed it")
            return False
        return True

    def _leave_out(self, feature: str) -> None:
        warning = UnsupportedWarning(feature=feature, details="the API would refuse it; left out of the request")
        if warning not in self._warnings:
            self._warnings.append(warning)


def _identity(own: JsonObject) -> dict[str, JsonValue]:
    item_id = text_in(own, keys.ITEM_ID)
    return {"id": item_id} if item_id else {}


def _native(part: ToolCallPart, kind: str, own: JsonObject) -> dict[str, JsonValue]:
    """The item of a call to a tool that the API defines."""
    item: dict[str, JsonValue] = {"type": kind, **_identity(own), "call_id": own.get("callId", part.tool_call_id)}
    if kind == "custom_tool_call":
        text = part.input if isinstance(part.input, str) else dump_json(part.input).decode()
        return item | {"name": part.tool_name, "input": text} | {key: own[key] for key in _KEPT_OF_CALLS if key in own}
    if kind != "program":
        item["status"] = "completed"
    return item | dict(_object(part.input))


def _object(given: JsonValue) -> JsonObject:
    """The input as an object; some histories hold it as JSON text."""
    if isinstance(given, str):
        with contextlib.suppress(JSONParseError):
            given = parse_json(given)
    return given if isinstance(given, Mapping) else NOTHING


def _anonymous(item: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The item as one that the server need not know: a message or a call without its id; others cannot do without."""
    if item.get("type") == "message":
        texts = (text_in(part, "text") or text_in(part, "refusal") for part in objects_in(item, "content"))
        phase: dict[str, JsonValue] = {"phase": item["phase"]} if "phase" in item else {}
        return {"role": "assistant", "content": "".join(texts), **phase}
    return {key: found for key, found in item.items() if key != "id"} if "call_id" in item else item
