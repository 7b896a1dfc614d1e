"""prune_messages: takes reasoning and tool calls out of a history, so that the next prompt is shorter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, TypeGuard

from onion.errors import InvalidArgumentError
from onion.loop.prompt import MessageInput, read_messages
from onion.spec.base import is_array, is_object
from onion.spec.prompt import (
    AssistantMessage,
    ReasoningFilePart,
    ReasoningPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
)

if TYPE_CHECKING:
    from onion.spec.prompt import AssistantPart, Message, ToolMessagePart

ReasoningPruning: TypeAlias = Literal["all", "before-last-message", "none"]
_LAST = re.compile(r"before-last-(?P<count>[1-9]\d*)-messages")


class ToolCallRule(TypedDict, total=False):
    """Which tool calls go.

    Attributes:
        type: ``all``, ``before-last-message``, or ``before-last-N-messages`` with a number for N.
        tools: Only calls of these tools; all tools where it is left out.
    """

    type: str
    tools: Sequence[str] | None


ToolCallPruning: TypeAlias = str | Sequence[ToolCallRule]


def prune_messages(
    messages: Sequence[MessageInput],
    *,
    reasoning: ReasoningPruning = "none",
    tool_calls: ToolCallPruning = (),
    empty_messages: Literal["keep", "remove"] = "remove",
) -> tuple[Message, ...]:
    """*messages* without some of their reasoning and tool calls; the given ones are not changed.

    A call, its result, and the question and answer about its approval go or stay together: one that a kept message
    refers to stays as a whole.

    Args:
        messages: Messages, or their JSON form.
        reasoning: Whose reasoning goes: of all messages, of all but the last one, or none.
        tool_calls: Which tool calls go: ``all``, ``before-last-message``, ``before-last-N-messages``, ``none``, or
            rules that also name tools, applied one after the other.
        empty_messages: Whether messages that have nothing left go too.

    Raises:
        InvalidArgumentError: For a rule that is none of these.
        InvalidPromptError: For messages that are none; it names the place.
    """
    if reasoning not in ("all", "before-last-message", "none"):
        raise _unknown("reasoning", reasoning, "'all', 'before-last-message' or 'none'")
    if empty_messages not in ("keep", "remove"):
        raise _unknown("empty_messages", empty_messages, "'keep' or 'remove'")
    rules = [(_kept(rule.get("type")), rule.get("tools")) for rule in _rules(tool_calls)]
    pruned = read_messages(messages, allow_system_in_messages=True, place="messages")
    if reasoning != "none":
        last = len(pruned) - 1 if reasoning == "before-last-message" else len(pruned)
        pruned = tuple(_without_reasoning(m) if index != last else m for index, m in enumerate(pruned))
    for kept, tools in rules:
        pruned = _without_calls(pruned, kept, None if tools is None else frozenset(tools))
    return tuple(message for message in pruned if message.content or empty_messages == "keep")


def _unknown(parameter: str, given: object, known: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{parameter} must be {known}, got {given!r}", parameter=parameter, value=given)


def _rules(tool_calls: ToolCallPruning) -> Sequence[ToolCallRule]:
    if isinstance(tool_calls, str):
        return () if tool_calls == "none" else ({"type": tool_calls},)
    if _are_rules(tool_calls):
        return tool_calls
    raise _unknown("tool_calls", tool_calls, "a word, or a list of rules with 'type' and 'tools'")


def _are_rules(given: object) -> TypeGuard[Sequence[ToolCallRule]]:
    return is_array(given) and all(is_object(rule) and rule.keys() <= {"type", "tools"} for rule in given)


def _kept(kind: str | None) -> int:
    """How many messages at the end a rule leaves alone."""
    if kind == "all":
        return 0
    if kind == "before-last-message":
        return 1
    found = _LAST.fullmatch(kind or "")
    if found is None:
        raise _unknown("tool_calls", kind, "'all', 'none', 'before-last-message' or 'before-last-N-messages'")
    return int(found["count"])


def _without_reasoning(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    content = tuple(part for part in message.content if not isinstance(part, ReasoningPart | ReasoningFilePart))
    return message if len(content) == len(message.content) else replace(message, content=content)


class _Ties:
    """Which approval belongs to which call, and which tool a call is of."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.tools: dict[str, str] = {}
        self.approved_calls: dict[str, str] = {}
        for part in _parts(messages):
            if isinstance(part, ToolCallPart | ToolResultPart):
                self.tools.setdefault(part.tool_call_id, part.tool_name)
            elif isinstance(part, ToolApprovalRequestPart):
                self.approved_calls[part.approval_id] = part.tool_call_id

    def call_of(self, part: AssistantPart | ToolMessagePart) -> str | None:
        """The id of the call that *part* belongs to; None if it has nothing to do with tools."""
        if isinstance(part, ToolCallPart | ToolResultPart | ToolApprovalRequestPart):
            return part.tool_call_id
        if isinstance(part, ToolApprovalResponsePart):
            return self.approved_calls.get(part.approval_id, part.approval_id)
        return None


def _parts(messages: Sequence[Message]) -> list[AssistantPart | ToolMessagePart]:
    return [part for m in messages if isinstance(m, AssistantMessage | ToolMessage) for part in m.content]


def _without_calls(messages: tuple[Message, ...], kept: int, tools: frozenset[str] | None) -> tuple[Message, ...]:
    ties = _Ties(messages)
    first_kept = max(0, len(messages) - kept)
    needed = {ties.call_of(part) for part in _parts(messages[first_kept:])}

    def stays(part: AssistantPart | ToolMessagePart) -> bool:
        call = ties.call_of(part)
        return call is None or call in needed or (tools is not None and ties.tools.get(call) not in tools)

    pruned: list[Message] = []
    for message in messages[:first_kept]:
        match message:
            case AssistantMessage():
                pruned.append(replace(message, content=tuple(part for part in message.content if stays(part))))
            case ToolMessage():
                pruned.append(replace(message, content=tuple(part for part in message.content if stays(part))))
            case _:
                pruned.append(message)
    return (*pruned, *messages[first_kept:])
