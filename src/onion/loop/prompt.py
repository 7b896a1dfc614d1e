"""From what the user gives as prompt, messages and instructions to the prompt that a model is sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar

from onion.errors import InvalidPromptError, MissingToolResultsError, TypeValidationError
from onion.loop.attachments import Attachments
from onion.loop.messages import options_from
from onion.loop.reading import read_list, read_message
from onion.spec.prompt import (
    AssistantMessage,
    AssistantPart,
    Message,
    Prompt,
    SystemMessage,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolMessagePart,
    ToolResultPart,
    UserMessage,
    UserPart,
)

if TYPE_CHECKING:
    from onion.spec.base import ProviderOptions

MessageInput: TypeAlias = Message | Mapping[str, object]
PromptInput: TypeAlias = str | Sequence[MessageInput]
InstructionsInput: TypeAlias = (
    str | SystemMessage | Mapping[str, object] | Sequence[SystemMessage | Mapping[str, object]]
)

P = ParamSpec("P")
T = TypeVar("T")
ItemT = TypeVar("ItemT", bound=Message | UserPart | AssistantPart | ToolMessagePart)


def read_prompt(
    *,
    prompt: PromptInput | None,
    messages: Sequence[MessageInput] | None,
    allow_system_in_messages: bool = False,
) -> tuple[Message, ...]:
    """The messages that a call starts with.

    Raises:
        InvalidPromptError: When both or neither are given, or one cannot be sent; the message names index and field.
    """
    if prompt is not None and messages is not None:
        msg = "both prompt and messages are given: leave one of them out"
        raise InvalidPromptError(msg)
    if messages is not None:
        return read_messages(messages, allow_system_in_messages=allow_system_in_messages)
    if prompt is None:
        msg = "neither prompt nor messages is given: say something to the model"
        raise InvalidPromptError(msg)
    if not isinstance(prompt, str):
        return read_messages(prompt, allow_system_in_messages=allow_system_in_messages, place="prompt")
    if not prompt.strip():
        msg = "prompt is empty: say something to the model"
        raise InvalidPromptError(msg)
    return (UserMessage(content=(TextPart(text=prompt),)),)


def read_messages(
    messages: Sequence[MessageInput], *, allow_system_in_messages: bool = False, place: str = "messages"
) -> tuple[Message, ...]:
    """The *messages*, checked, with shorthands written out.

    Raises:
        InvalidPromptError: When one cannot be sent; the message names index and field.
    """
    items = _read(read_list, messages, place, "a list of messages")
    if not items:
        msg = f"{place} is empty: it must hold at least one message"
        raise InvalidPromptError(msg)
    read = tuple(_read(read_message, message, f"{place}[{index}]") for index, message in enumerate(items))
    for index, message in enumerate(read):
        if isinstance(message, SystemMessage) and not allow_system_in_messages:
            hint = "put it into instructions, or set allow_system_in_messages where you trust who wrote it"
            msg = f"{place}[{index}] is a system message: {hint}"
            raise InvalidPromptError(msg)
        if isinstance(message, UserMessage) and not message.content:
            msg = f"{place}[{index}].content is empty: a user message must say or show something"
            raise InvalidPromptError(msg)
    return read


def read_instructions(instructions: InstructionsInput | None) -> tuple[SystemMessage, ...]:
    """The system messages that go before all others.

    Raises:
        InvalidPromptError: When they are neither text nor system messages.
    """
    if instructions is None or instructions == "":
        return ()
    if isinstance(instructions, str):
        return (SystemMessage(content=instructions),)
    if isinstance(instructions, SystemMessage | Mapping):
        return (_read_system(instructions, "instructions"),)
    return tuple(_read_system(message, f"instructions[{index}]") for index, message in enumerate(instructions))


def _read_system(message: object, place: str) -> SystemMessage:
    read = _read(read_message, message, place)
    if isinstance(read, SystemMessage):
        return read
    msg = f"{place}.role must be 'system', not {read.role!r}"
    raise InvalidPromptError(msg)


def _read(reader: Callable[Concatenate[object, P], T], given: object, *place: P.args, **more: P.kwargs) -> T:
    """What *reader* makes of it; what does not fit is a fault of the prompt."""
    try:
        return reader(given, *place, **more)
    except TypeValidationError as error:
        raise InvalidPromptError(error.message) from error


def model_prompt(instructions: Sequence[SystemMessage], messages: Sequence[Message]) -> Prompt:
    """The prompt that a model is sent for these messages; see `PromptWriter`."""
    return PromptWriter().write(instructions, messages)


class PromptWriter:
    """Writes the prompts of a run; where the messages continue those of the last prompt, it writes only the new ones.

    What a model does not understand is left out: approval requests, responses that are not for the provider, empty
    texts, messages in which nothing is left, options that are ours. Tool messages in a row become one.
    """

    def __init__(self) -> None:
        self.attachments: Attachments = Attachments()
        """Fills in the files that the model cannot fetch; beside the writer, because it remembers as long."""
        self._source: tuple[Message, ...] = ()  # as far as was written; no call in it is open
        self._prompt: Prompt = ()  # what became of it

    def write(self, instructions: Sequence[SystemMessage], messages: Sequence[Message]) -> Prompt:
        """The prompt for *messages*, which were read before.

        Raises:
            MissingToolResultsError: When a call that the provider does not execute is never answered, or not before
                the next user or system message.
        """
        source = tuple(messages)
        open_calls: dict[str, str] = {}
        known = len(self._source)
        if source[:known] != self._source:
            known, self._source, self._prompt = 0, (), ()
        prompt = list(self._prompt)
        for message in source[known:]:
            if open_calls and isinstance(message, SystemMessage | UserMessage):
                _demand_results(open_calls)
            _follow_calls(message, open_calls)
            if (sendable := _sendable(message)) is not None:
                _append(prompt, sendable)
        _demand_results(open_calls)
        self._source, self._prompt = source, tuple(prompt)
        return (*map(_without_ours, instructions), *prompt) if instructions else self._prompt


def _follow_calls(message: Message, open_calls: dict[str, str]) -> None:
    if isinstance(message, AssistantMessage):
        for part in message.content:
            if isinstance(part, ToolCallPart) and not part.provider_executed:
                open_calls[part.tool_call_id] = part.tool_name
    elif isinstance(message, ToolMessage):
        for outcome in message.content:
            if isinstance(outcome, ToolResultPart):
                open_calls.pop(outcome.tool_call_id, None)


def _demand_results(open_calls: Mapping[str, str]) -> None:
    if open_calls:
        calls = ", ".join(f"{call_id!r} of {name!r}" for call_id, name in open_calls.items())
        msg = f"the messages hold no result for the tool calls {calls}: add a tool message with their results"
        raise MissingToolResultsError(msg, tool_call_ids=tuple(open_calls))


def _sendable(message: Message) -> Message | None:
    """The message as a model may see it; None if nothing is left of it."""
    if isinstance(message, SystemMessage):
        return _without_ours(message)
    if isinstance(message, UserMessage):
        content = tuple([_without_ours(part) for part in message.content if not _is_blank(part)])
        if content != message.content:
            message = dataclasses.replace(message, content=content)
        return _without_ours(message) if content else None
    if isinstance(message, AssistantMessage):
        said = tuple(
            [
                _without_ours(part)
                for part in message.content
                if not isinstance(part, ToolApprovalRequestPart) and not _is_blank(part)
            ]
        )
        if said != message.content:
            message = dataclasses.replace(message, content=said)
        return _without_ours(message) if said else None
    given = tuple([_without_ours(kept) for part in message.content if (kept := _for_provider(part)) is not None])
    if given != message.content:
        message = dataclasses.replace(message, content=given)
    return _without_ours(message) if given else None


def _is_blank(part: UserPart | AssistantPart) -> bool:
    """Whether it says nothing; an empty text with provider options may carry a signature."""
    return isinstance(part, TextPart) and not part.text and not part.provider_options


def _for_provider(part: ToolMessagePart) -> ToolMessagePart | None:
    if not isinstance(part, ToolApprovalResponsePart):
        return part
    return dataclasses.replace(part, provider_executed=None) if part.provider_executed else None


def _without_ours(item: ItemT) -> ItemT:
    """The message or part without the provider options that are Onion's own."""
    given = item.provider_options
    if given is None or "onion" not in given:
        return item
    return dataclasses.replace(item, provider_options=options_from(given))


def _append(prompt: list[Message], message: Message) -> None:
    last = prompt[-1] if prompt else None
    if not isinstance(message, ToolMessage) or not isinstance(last, ToolMessage):
        prompt.append(message)
        return
    # the options of a message, such as a mark for prompt caching, hold for its end: they stay with its last part
    *before, end = last.content
    end = dataclasses.replace(end, provider_options=_merged(last.provider_options, end.provider_options))
    prompt[-1] = dataclasses.replace(message, content=(*before, end, *message.content))


def _merged(outer: ProviderOptions | None, inner: ProviderOptions | None) -> ProviderOptions | None:
    """Both, provider by provider; where they disagree, the part's own hold."""
    if outer is None or inner is None:
        return inner or outer
    return {name: {**outer.get(name, {}), **inner.get(name, {})} for name in {**outer, **inner}}
