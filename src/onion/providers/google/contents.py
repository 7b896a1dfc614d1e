"""The prompt as a system instruction and contents of the Gemini API.

Neighbours of one role become one content. All results of a turn stand right behind their calls, in the order of the
calls and before everything else, for calls without an id are told apart by nothing but their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, assert_never

from onion.providers.google.assistant import action_of, assistant_part, wire_id
from onion.providers.google.files import file_part
from onion.providers.google.names import SIGNATURE, beside, own_options
from onion.providers.google.outcomes import response_parts
from onion.spec.base import JsonValue
from onion.spec.prompt import (
    AssistantMessage,
    SystemMessage,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CallWarning, CompatibilityWarning

if TYPE_CHECKING:
    from onion.providers.google.traits import ModelTraits
    from onion.spec.prompt import Message, Prompt, UserPart

UNSIGNED = "skip_thought_signature_validator"
"""Stands for the signature of a call that the model did not make (Gemini API, "Thought signatures")."""


@dataclass
class _Turn:
    """One content in the making; `order` counts the calls that it makes."""

    role: Literal["user", "model"]
    parts: list[dict[str, JsonValue]] = field(default_factory=list[dict[str, JsonValue]])
    results: list[tuple[int, dict[str, JsonValue]]] = field(default_factory=list[tuple[int, dict[str, JsonValue]]])
    order: dict[str, int] = field(default_factory=dict[str, int])


class Conversation:
    """Turns one prompt into the members ``systemInstruction`` and ``contents`` of a request.

    Args:
        traits: What is known of the model.
        warnings: Where goes what is left out.
    """

    def __init__(self, traits: ModelTraits, warnings: list[CallWarning]) -> None:
        self._traits = traits
        self._warnings = warnings
        self._system: list[str] = []
        self._turns: list[_Turn] = []
        self._calls: dict[str, tuple[str | None, str]] = {}
        """By the caller's id of a call, its id and name at the API."""

    @property
    def system(self) -> JsonValue:
        """The instructions that the prompt begins with, if the model takes them apart."""
        if not self._system or not self._traits.takes_system:
            return None
        return {"parts": [{"text": text} for text in self._system]}

    def instruct(self, text: str) -> None:
        """Add an instruction."""
        self._system.append(text)

    def add(self, prompt: Prompt) -> None:
        """Take the messages of *prompt*.

        Raises:
            UnsupportedFunctionalityError: When a part has no form here.
            InvalidPromptError: When a file's content is not what it is said to be.
        """
        for message in prompt:
            self._add(message)

    def contents(self) -> list[JsonValue]:
        """The contents, as the request has them."""
        if self._system and not self._traits.takes_system:
            details = "sent at the head of the prompt: the model has no system instructions"
            self._warnings.append(CompatibilityWarning(feature="system message", details=details))
            if not self._turns or self._turns[0].role != "user":
                self._turns.insert(0, _Turn("user"))
            self._turns[0].parts.insert(0, {"text": "\n\n".join(self._system)})
        for turn in self._turns:
            turn.parts[:0] = [part for _, part in sorted(turn.results, key=_place)]
        return [{"role": turn.role, "parts": [*turn.parts]} for turn in self._turns if turn.parts]

    def _add(self, message: Message) -> None:
        match message:
            case SystemMessage():
                self._add_system(message.content)
            case UserMessage():
                self._say("user", [_user_part(part) for part in message.content])
            case AssistantMessage():
                self._add_assistant(message)
            case ToolMessage():
                for part in message.content:
                    if isinstance(part, ToolResultPart):
                        self._add_result(part)
            case _:
                assert_never(message)

    def _add_system(self, text: str) -> None:
        if not text.strip():
            return
        if not self._turns:
            self._system.append(text)
            return
        self._say("user", [{"text": f"<system>\n{text}\n</system>"}])
        self._warn("system message in the conversation", "sent as a marked text of the user: the API has no place here")

    def _say(self, role: Literal["user", "model"], parts: list[dict[str, JsonValue] | None]) -> None:
        said = [part for part in parts if part is not None]
        if said and (not self._turns or self._turns[-1].role != role):
            self._turns.append(_Turn(role))
        if said:
            self._turns[-1].parts += said

    def _add_assistant(self, message: AssistantMessage) -> None:
        parts = [assistant_part(part, self._warnings) for part in message.content]
        calls = [part for part in parts if part is not None and "functionCall" in part]
        if calls and self._traits.wants_signatures and not any(SIGNATURE in part for part in calls):
            calls[0][SIGNATURE] = UNSIGNED
            self._warn("tool calls without a thought signature", "another model made them: sent as unsigned")
        self._say("model", parts)
        made = [part for part in message.content if isinstance(part, ToolCallPart) and not part.provider_executed]
        for call in made:
            self._calls[call.tool_call_id] = (wire_id(call), action_of(call))
            self._turns[-1].order[call.tool_call_id] = len(self._turns[-1].order)

    def _add_result(self, part: ToolResultPart) -> None:
        known, action = self._calls.get(part.tool_call_id, (part.tool_call_id, ""))
        response, more = response_parts(part, known, action, takes_files=self._traits.takes_file_results)
        position = self._position_of_call(part.tool_call_id)
        if position == len(self._turns) or self._turns[position].role != "user":
            self._turns.insert(position, _Turn("user"))
        order = self._turns[position - 1].order if position else {}
        turn = self._turns[position]
        turn.results.append((order.get(part.tool_call_id, len(order)), response))
        turn.parts += more

    def _position_of_call(self, call_id: str) -> int:
        """Where the turn is, or has to be, that answers the call of that id."""
        for position in range(len(self._turns), 0, -1):
            if call_id in self._turns[position - 1].order:
                return position
        return len(self._turns) - (bool(self._turns) and self._turns[-1].role == "user")

    def _warn(self, feature: str, details: str) -> None:
        warning = CompatibilityWarning(feature=feature, details=details)
        if warning not in self._warnings:
            self._warnings.append(warning)


def _place(result: tuple[int, dict[str, JsonValue]]) -> int:
    return result[0]


def _user_part(part: UserPart) -> dict[str, JsonValue] | None:
    own = beside(own_options(part.provider_options))
    if not isinstance(part, TextPart):
        return {**file_part(part), **own}
    return {"text": part.text, **own} if part.text.strip() else None
