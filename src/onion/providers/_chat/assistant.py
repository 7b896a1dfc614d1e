"""An assistant message of the chat format: text, tool calls, and reasoning on its way back to who wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import NOTHING, object_in, objects_in, text_in
from onion.providers._tooling import input_text
from onion.spec.prompt import (
    FilePart,
    ReasoningPart,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
)
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers._chat.dialect import ChatDialect
    from onion.spec.base import JsonObject, JsonValue, ProviderOptions
    from onion.spec.prompt import AssistantMessage, AssistantPart

OWN_KEYS = frozenset({"reasoning_field", "reasoning_details", "refusal", "extra_content", "message", "audio_id"})
"""Keys of our provider metadata that say where a part goes in the next request; all others go along as they are."""

THINKING_PARTS = "content"
"""Value of ``reasoning_field`` for reasoning that came as ``thinking`` parts of the content (Mistral)."""


def assistant_message(message: AssistantMessage, dialect: ChatDialect, warnings: list[CallWarning]) -> JsonValue | None:
    """The message, or None if nothing of it can be said here; what is left out is added to *warnings*."""
    return _Assembly(dialect, warnings).run(message)


class _Assembly:
    def __init__(self, dialect: ChatDialect, warnings: list[CallWarning]) -> None:
        self._dialect = dialect
        self._warnings = warnings
        self._content: list[JsonObject] = []
        self._is_list = False
        self._calls: list[JsonValue] = []
        self._fields: dict[str, str] = {}
        self._details: list[JsonValue] = []
        self._extra: dict[str, JsonValue] = {}

    def run(self, message: AssistantMessage) -> JsonValue | None:
        for part in message.content:
            self._add(part)
        converted: dict[str, JsonValue] = {"role": "assistant", "content": self._said()}
        converted |= self._fields
        if self._details:
            converted["reasoning_details"] = self._details
        if self._calls:
            converted["tool_calls"] = self._calls
        converted |= self._extra
        if converted == {"role": "assistant", "content": None}:
            return None
        return {**converted, **(message.provider_options or {}).get(self._dialect.name, NOTHING)}

    def _said(self) -> JsonValue:
        if self._is_list:
            return list(self._content)
        text = "".join(text_in(part, "text") for part in self._content)
        return text or None

    def _add(self, part: AssistantPart) -> None:
        own = self._own(part.provider_options)
        self._extra |= object_in(own, "message")
        match part:
            case TextPart():
                self._add_text(part, own)
            case ReasoningPart():
                self._add_reasoning(part, own)
            case ToolCallPart() if not part.provider_executed:
                self._add_call(part, own)
            case FilePart() if text_in(own, "audio_id"):
                self._extra["audio"] = {"id": own["audio_id"]}
            case ToolApprovalRequestPart():
                pass
            case _:
                kind = "provider-executed tool calls" if isinstance(part, ToolCallPart) else f"{part.type} parts"
                self._leave_out(f"{kind} of the assistant")

    def _add_text(self, part: TextPart, own: JsonObject) -> None:
        if own.get("refusal"):
            self._extra["refusal"] = part.text
        elif part.text:
            others = {key: found for key, found in own.items() if key not in OWN_KEYS}
            self._is_list = self._is_list or bool(others)
            self._content.append({"type": "text", "text": part.text, **others})

    def _add_reasoning(self, part: ReasoningPart, own: JsonObject) -> None:
        details = objects_in(own, "reasoning_details")
        self._details += details
        field = text_in(own, "reasoning_field")
        if not field and not details:
            field = "" if self._is_foreign(part.provider_options) else self._dialect.reasoning_field or ""
            if not field:
                self._leave_out("reasoning that another provider wrote")
        if field == THINKING_PARTS:
            self._is_list = True
            self._content.append({"type": "thinking", "thinking": [{"type": "text", "text": part.text}]})
        elif field:
            self._fields[field] = self._fields.get(field, "") + part.text

    def _add_call(self, part: ToolCallPart, own: JsonObject) -> None:
        call: dict[str, JsonValue] = {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": input_text(part.input)},
        }
        extra = object_in(own, "extra_content")
        if extra:
            call["extra_content"] = extra
        self._calls.append(call)

    def _own(self, options: ProviderOptions | None) -> JsonObject:
        return (options or {}).get(self._dialect.name, NOTHING)

    def _is_foreign(self, options: ProviderOptions | None) -> bool:
        return any(name not in (self._dialect.name, "onion") for name in options or {})

    def _leave_out(self, feature: str) -> None:
        details = "the chat format cannot carry it; left out of the request"
        warning = UnsupportedWarning(feature=feature, details=details)
        if warning not in self._warnings:
            self._warnings.append(warning)
