"""The prompt as instructions and messages of the Messages API.

Roles must alternate, so neighbours of one role become one message. All results of a turn stand in the message right
behind their calls, in the order of the calls and before everything else. A system message stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, assert_never

from onion.providers._json import text_in
from onion.providers.anthropic.assistant import assistant_block
from onion.providers.anthropic.files import file_block
from onion.providers.anthropic.names import Ids
from onion.providers.anthropic.outcomes import result_block
from onion.spec.base import JsonValue
from onion.spec.prompt import (
    AssistantMessage,
    SystemMessage,
    TextPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CallWarning, CompatibilityWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.providers.anthropic.marks import Marks
    from onion.providers.anthropic.toolbox import Toolbox
    from onion.spec.base import ProviderOptions
    from onion.spec.prompt import Message, Prompt, UserPart


@dataclass
class _Turn:
    """One message of the request in the making; `order` counts the calls that it makes."""

    role: Literal["user", "assistant", "system"]
    blocks: list[dict[str, JsonValue]] = field(default_factory=list[dict[str, JsonValue]])
    results: list[dict[str, JsonValue]] = field(default_factory=list[dict[str, JsonValue]])
    order: dict[str, int] = field(default_factory=dict[str, int])


class Conversation:
    """Turns one prompt into the members ``system`` and ``messages`` of a request.

    Args:
        toolbox: The tools of the call.
        marks: Sets the marks for the cache.
        warnings: Where goes what is left out.
        takes_system: The model takes system messages behind a user's.
        sends_reasoning: What the model thought goes back to it.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        marks: Marks,
        warnings: list[CallWarning],
        *,
        takes_system: bool = True,
        sends_reasoning: bool = True,
    ) -> None:
        self.system: list[JsonValue] = []
        """The instructions that the prompt begins with."""
        self._toolbox = toolbox
        self._marks = marks
        self._warnings = warnings
        self._takes_system = takes_system
        self._sends_reasoning = sends_reasoning
        self._ids = Ids()
        self._turns: list[_Turn] = []

    def add(self, prompt: Prompt) -> None:
        """Take the messages of *prompt*.

        Raises:
            UnsupportedFunctionalityError: When a part has no form here.
            InvalidPromptError: When a file's content is not what it is said to be.
        """
        for message in prompt:
            self._add(message)

    def messages(self) -> list[JsonValue]:
        """The messages, as the request has them."""
        self._place_system()
        for turn in self._turns:
            turn.blocks[:0] = turn.results
        turns = [turn for turn in self._turns if turn.blocks]
        if turns and turns[-1].role == "assistant":  # the API refuses an answer to continue that ends in blanks
            last = turns[-1].blocks[-1]
            if last.get("type") == "text":
                last["text"] = text_in(last, "text").rstrip()
        return [{"role": turn.role, "content": list(turn.blocks)} for turn in turns]

    def _add(self, message: Message) -> None:
        match message:
            case SystemMessage():
                self._add_system(message)
            case UserMessage():
                blocks = [self._user_block(part) for part in message.content]
                self._say("user", blocks, message.provider_options)
            case AssistantMessage():
                self._add_assistant(message)
            case ToolMessage():
                self._add_results(message)
            case _:
                assert_never(message)

    def _say(
        self,
        role: Literal["user", "assistant"],
        blocks: list[dict[str, JsonValue] | None],
        options: ProviderOptions | None,
    ) -> _Turn | None:
        said = [block for block in blocks if block is not None]
        if not said:
            return None
        self._marks.set(said[-1], options)
        if not self._turns or self._turns[-1].role != role:
            self._turns.append(_Turn(role))
        self._turns[-1].blocks += said
        return self._turns[-1]

    def _add_system(self, message: SystemMessage) -> None:
        if not message.content.strip():
            return
        block: dict[str, JsonValue] = {"type": "text", "text": message.content}
        self._marks.set(block, message.provider_options)
        if not self._turns:
            self.system.append(block)
        elif self._turns[-1].role == "system":
            self._turns[-1].blocks.append(block)
        else:
            self._turns.append(_Turn("system", [block]))

    def _user_block(self, part: UserPart) -> dict[str, JsonValue] | None:
        if isinstance(part, TextPart) and not part.text.strip():
            return None
        block: dict[str, JsonValue] = (
            {"type": "text", "text": part.text} if isinstance(part, TextPart) else file_block(part)
        )
        self._marks.set(block, part.provider_options)
        return block

    def _add_assistant(self, message: AssistantMessage) -> None:
        blocks: list[dict[str, JsonValue] | None] = []
        for part in message.content:
            block = assistant_block(part, self._toolbox, self._warnings, sends_reasoning=self._sends_reasoning)
            self._marks.set(block, part.provider_options)
            blocks.append(block)
        turn = self._say("assistant", blocks, message.provider_options)
        for block in blocks:
            if turn is not None and block is not None and block.get("type") == "tool_use":
                block["id"] = self._ids.of(text_in(block, "id"))
                turn.order[text_in(block, "id")] = len(turn.order)

    def _add_results(self, message: ToolMessage) -> None:
        parts = [part for part in message.content if isinstance(part, ToolResultPart)]
        for part in parts:
            call_id = self._ids.of(part.tool_call_id)
            block = {**result_block(part, self._marks), "tool_use_id": call_id}
            self._marks.set(block, part.provider_options)
            if part is parts[-1]:
                self._marks.set(block, message.provider_options)
            position = self._position_of_call(call_id)
            if position == len(self._turns) or self._turns[position].role != "user":
                self._turns.insert(position, _Turn("user"))
            turn = self._turns[position]
            turn.results.append(block)
            if position:
                self._sort(turn.results, self._turns[position - 1].order)

    def _sort(self, results: list[dict[str, JsonValue]], order: Mapping[str, int]) -> None:
        """Put *results* into the order of the calls; those of no known call come last."""
        results.sort(key=lambda result: order.get(text_in(result, "tool_use_id"), len(order)))

    def _position_of_call(self, call_id: str) -> int:
        """Where the turn is, or has to be, that answers the call of that id."""
        for position in range(len(self._turns), 0, -1):
            if call_id in self._turns[position - 1].order:
                return position
        return len(self._turns) - (bool(self._turns) and self._turns[-1].role == "user")

    def _place_system(self) -> None:
        """Keep system messages that the API takes where they stand; make marked texts of the user of all others."""
        placed: list[_Turn] = []
        for position, turn in enumerate(self._turns):
            before = placed[-1].role if placed else None
            follower = self._turns[position + 1].role if position + 1 < len(self._turns) else None
            fits = self._takes_system and before == "user" and follower in ("assistant", None)
            said = turn if fits or turn.role != "system" else self._as_user(turn)
            if said.role == before:
                placed[-1].blocks += said.blocks
                placed[-1].results += said.results
            else:
                placed.append(said)
        self._turns = placed

    def _as_user(self, turn: _Turn) -> _Turn:
        details = "sent as a marked text of the user: the API has no place for it there"
        warning = CompatibilityWarning(feature="system message in the conversation", details=details)
        if warning not in self._warnings:
            self._warnings.append(warning)
        marked = [{**block, "text": f"<system>\n{text_in(block, 'text')}\n</system>"} for block in turn.blocks]
        return _Turn("user", marked)
