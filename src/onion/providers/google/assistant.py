"""What the assistant said, as parts: each goes back as it came, with the signature that it came with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.providers._tooling import input_object
from onion.providers.google.files import file_part
from onion.providers.google.names import ACTION, beside, own_options
from onion.spec.prompt import (
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    FileReference,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
    ToolResultPart,
)
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import AssistantPart


def assistant_part(part: AssistantPart, warnings: list[CallWarning]) -> dict[str, JsonValue] | None:
    """The form of *part*, or None if nothing of it goes back; what is left out is added to *warnings*."""
    own = own_options(part.provider_options)
    match part:
        case TextPart():
            return {"text": part.text, **beside(own)} if part.text or beside(own) else None
        case ReasoningPart() if own:
            return {"text": part.text, "thought": True, **beside(own)}
        case ReasoningPart() if not part.text.strip() and not part.provider_options:
            return None
        case FilePart() if own or not isinstance(part.data, FileReference):
            return {**file_part(part), **beside(own)}
        case ReasoningFilePart() if own:
            return {**file_part(part), "thought": True, **beside(own)}
        case ToolCallPart() if not part.provider_executed:
            return _call(part, own)
        case ToolCallPart() if _kind(own, _CALLS):
            return _server_call(part, own)
        case ToolResultPart() if _kind(own, _RESULTS):
            return _server_result(part, own)
        case CustomPart() if object_in(own, "part"):
            return dict(object_in(own, "part"))
        case ToolApprovalRequestPart():
            return None
        case _:
            _leave_out(_LEFT_OUT.get(part.type, f"{part.type} parts of the assistant"), warnings)
            return None


_CALLS = ("toolCall", "executableCode")
_RESULTS = ("toolResponse", "codeExecutionResult")
_LEFT_OUT: Mapping[str, str] = {
    "file": "files that another provider keeps",
    "reasoning": "reasoning that another provider wrote",
    "reasoning-file": "files that another provider made while it reasoned",
    "tool-call": "provider-executed tool calls",
    "tool-result": "provider-executed tool results",
}


def wire_id(part: ToolCallPart) -> str | None:
    """The id that a call of the caller's tool has at the API; None where the API gave it none."""
    own = own_options(part.provider_options)
    if "functionCall" not in own:
        return part.tool_call_id
    found = object_in(own, "functionCall").get("id")
    return found if isinstance(found, str) and found else None


def action_of(part: ToolCallPart) -> str:
    """What the model called, if it was no tool by its name but something to be done at a computer."""
    return text_in(object_in(own_options(part.provider_options), "functionCall"), "name")


def _call(part: ToolCallPart, own: JsonObject) -> dict[str, JsonValue]:
    more = {key: found for key, found in object_in(own, "functionCall").items() if key != "id"}
    call_id = wire_id(part)
    identity: dict[str, JsonValue] = {"id": call_id} if call_id else {}
    args = dict(input_object(part.input))
    if "name" in more:
        args.pop(ACTION, None)
    call: JsonObject = {**identity, "name": part.tool_name, "args": args, **more}
    return {"functionCall": call, **beside(own)}


def _server_call(part: ToolCallPart, own: JsonObject) -> dict[str, JsonValue]:
    kind = _kind(own, _CALLS)
    given = input_object(part.input)
    more: JsonObject = given if kind == "executableCode" else {"args": given} if given else {}
    return {kind: {**object_in(own, kind), **more}, **beside(own)}


def _server_result(part: ToolResultPart, own: JsonObject) -> dict[str, JsonValue]:
    kind, output = _kind(own, _RESULTS), part.output
    found = output.value if isinstance(output, JsonOutput | ErrorJsonOutput | TextOutput | ErrorTextOutput) else None
    if kind == "codeExecutionResult":
        more: JsonObject = found if isinstance(found, dict) else {}
    else:
        more = {} if found is None else {"response": found}
    return {kind: {**object_in(own, kind), **more}, **beside(own)}


def _kind(own: JsonObject, kinds: tuple[str, ...]) -> str:
    return next((kind for kind in kinds if kind in own), "")


def _leave_out(feature: str, warnings: list[CallWarning]) -> None:
    warning = UnsupportedWarning(feature=feature, details="the Gemini API cannot carry it; left out of the request")
    if warning not in warnings:
        warnings.append(warning)
