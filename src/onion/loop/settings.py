"""The keyword arguments of the loop, and what is checked of them before anything is sent."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Required, TypeAlias, TypedDict

from onion.errors import InvalidArgumentError
from onion.loop.kinds import check_kind, check_names
from onion.loop.lifecycle import HOOK_NAMES, Callbacks
from onion.loop.prompt import InstructionsInput
from onion.spec.base import value
from onion.spec.call import RunInfo, ToolChoice
from onion.spec.model import LanguageModel
from onion.spec.prompt import Message
from onion.spec.step import ResponseMessage, StepResult

if TYPE_CHECKING:
    from onion.loop.approval import ApprovalStore, ToolApproval
    from onion.loop.download import Download
    from onion.loop.interrupt import TimeoutLimits
    from onion.loop.prompt import MessageInput, PromptInput
    from onion.loop.stop import StopCondition
    from onion.loop.toolset import Tools
    from onion.middleware.tool_call_repair import RepairFunction
    from onion.spec.base import JsonValue, ProviderOptions
    from onion.spec.call import ReasoningEffort
    from onion.wrap import Middleware


class NamedToolChoice(TypedDict):
    """The model must call one tool."""

    type: Literal["tool"]
    tool_name: str


ToolChoiceInput: TypeAlias = Literal["auto", "none", "required"] | NamedToolChoice | ToolChoice


class Include(TypedDict, total=False):
    """What results and streams carry beside the answer.

    Keys: ``request_body`` and ``response_body`` (both kept unless False), ``raw_chunks`` (True streams the provider's
    own chunks as well).
    """

    request_body: bool
    response_body: bool
    raw_chunks: bool


class StepSettings(TypedDict, total=False):
    """The settings of a model call; None leaves one to the provider."""

    max_output_tokens: int | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    presence_penalty: float | None
    frequency_penalty: float | None
    stop_sequences: Sequence[str] | None
    seed: int | None
    reasoning: ReasoningEffort | None
    headers: Mapping[str, str] | None
    provider_options: ProviderOptions | None
    tool_choice: ToolChoiceInput | None
    active_tools: Sequence[str] | None
    tool_order: Sequence[str] | None


class StepOverrides(StepSettings, total=False):
    """What `prepare_step` may change. `messages` and `instructions` carry on, the rest holds for the one step."""

    model: str | LanguageModel | None
    messages: Sequence[MessageInput] | None
    instructions: InstructionsInput | None


@value
class StepPreparation:
    """What `prepare_step` is told before each step.

    Attributes:
        messages: As this step would send them, without instructions.
        instructions: As they were given last.
        response_messages: All that this run has added so far.
    """

    step_number: int
    model: LanguageModel
    steps: tuple[StepResult, ...]
    messages: tuple[Message, ...]
    instructions: InstructionsInput | None
    initial_messages: tuple[Message, ...]
    initial_instructions: InstructionsInput | None
    response_messages: tuple[ResponseMessage, ...]
    run: RunInfo

    @property
    def context(self) -> object:
        """What the caller gave as `context=`."""
        return self.run.context


PrepareStep: TypeAlias = Callable[[StepPreparation], StepOverrides | Awaitable[StepOverrides | None] | None]
RefineToolInput: TypeAlias = Mapping[str, Callable[["JsonValue"], "JsonValue | Awaitable[JsonValue]"]]


class LoopOptions(StepSettings, Callbacks, total=False):
    """What the loop may be told beside the model and the prompt; an agent keeps it.

    Keys:
        instructions: The system prompt.
        allow_system_in_messages: Whether system messages may stand among the messages.
        tools: What the model may call.
        stop_when: One condition or several, of which any ends the run. Absent: one step; 20 for an agent.
        prepare_step: Asked before each step for what is to differ in it.
        repair_tool_call: A function that mends broken tool calls, as a ToolCallRepair layer around the model.
        refine_tool_input: By tool name, a function over the parsed input, before approval and execution.
        tool_approval: Which calls need an approval: by tool name, or one function for all.
        tool_approval_secret: Signs approval requests, so that a history held by a client can be trusted.
        approval_store: Claims approval ids, so that each runs its tool at most once.
        middleware: Layers around the model, the tools and the lifecycle of the run.
        max_retries: Further tries of a failed model call; 2 if absent, as a Retry layer innermost of `middleware`.
        stream_retries: How often a step may begin again after a failure inside its stream.
        tool_call_concurrency: How many tools may run at once.
        timeout: Seconds for the whole run, or `TimeoutLimits`.
        download: Fetches files that the model cannot take by URL.
        context: The caller's own; tools, hooks and `prepare_step` see it.
        tools_context: By tool name, what that tool sees instead.
        include: What results carry beside the answer.
    """

    instructions: InstructionsInput | None
    allow_system_in_messages: bool
    tools: Tools | None
    stop_when: StopCondition | Sequence[StopCondition] | None
    prepare_step: PrepareStep | None
    repair_tool_call: RepairFunction | None
    refine_tool_input: RefineToolInput | None
    tool_approval: ToolApproval | None
    tool_approval_secret: str | bytes | None
    approval_store: ApprovalStore | None
    middleware: Middleware | Sequence[Middleware] | None
    max_retries: int | None
    stream_retries: int
    tool_call_concurrency: int | None
    timeout: float | TimeoutLimits | None
    download: Download | None
    context: object
    tools_context: Mapping[str, object] | None
    include: Include | None


class RunOptions(LoopOptions, total=False):
    """The keyword arguments of `generate_text` and `stream_text`, but for `output`; see `LoopOptions` for the rest.

    Keys:
        model: What answers, or a string such as ``"openai:gpt-5"``.
        prompt, messages: One of them; a text, or messages as values or as mappings of the AI SDK's JSON.
    """

    model: Required[str | LanguageModel]
    prompt: PromptInput | None
    messages: Sequence[MessageInput] | None


KNOWN = frozenset(RunOptions.__annotations__)
KNOWN_TO_AGENTS: Final = frozenset(("model", *LoopOptions.__annotations__))
_CHOICES = {
    "auto": ToolChoice(type="auto"),
    "none": ToolChoice(type="none"),
    "required": ToolChoice(type="required"),
}
_WHOLE = ("max_output_tokens", "top_k", "seed", "max_retries", "stream_retries", "tool_call_concurrency")
_NUMBERS = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
_CHECKED = frozenset((*_WHOLE, *_NUMBERS))
_LISTS = frozenset(("stop_sequences", "active_tools", "tool_order"))
_AT_LEAST = {"max_output_tokens": 1, "max_retries": 0, "stream_retries": 0, "tool_call_concurrency": 1}


def check_options(options: Mapping[str, object], *, function: str, known: Collection[str] = KNOWN) -> None:
    """Check names, callbacks and settings.

    Raises:
        TypeError: For a name that the function does not have, or a missing model.
        InvalidArgumentError: For a setting that no provider can take, or a callback that cannot be called.
    """
    check_names(options, known, function=function)
    if options.get("model") is None:
        msg = f"{function}() needs a model: a LanguageModel, or a string such as 'openai:gpt-5'"
        raise TypeError(msg)
    for name in HOOK_NAMES & options.keys():
        callback = options[name]
        if callback is not None and not callable(callback):
            msg = f"{name} must be a function, plain or async, got {callback!r}"
            raise InvalidArgumentError(msg, parameter=name, value=callback)
    check_settings(options)


def check_settings(options: Mapping[str, object]) -> None:
    """Check the settings that are numbers, and the kind of the others.

    Raises:
        InvalidArgumentError: For one that cannot be used.
    """
    for name in _LISTS & options.keys():
        if isinstance(text := options[name], str):  # which is a sequence of texts, too
            msg = f"{name} must be a list of texts, got a text: write [{text!r}]"
            raise InvalidArgumentError(msg, parameter=name, value=text)
    for name, number in options.items():
        if number is None:
            continue
        if name not in _CHECKED:
            check_kind(name, number)
            continue
        if isinstance(number, bool) or not isinstance(number, int if name in _WHOLE else int | float):
            kind = "a whole number" if name in _WHOLE else "a number"
            raise InvalidArgumentError(f"{name} must be {kind}, got {number!r}", parameter=name, value=number)
        if not math.isfinite(number):
            raise InvalidArgumentError(f"{name} must be finite, got {number!r}", parameter=name, value=number)
        least = _AT_LEAST.get(name)
        if least is not None and number < least:
            raise InvalidArgumentError(f"{name} must be at least {least}, got {number!r}", parameter=name, value=number)


def read_tool_choice(given: ToolChoiceInput | None) -> ToolChoice:
    """What `tool_choice=` means; None is ``auto``.

    Raises:
        InvalidArgumentError: For anything else than the four choices.
    """
    if given is None:
        return _CHOICES["auto"]
    if isinstance(given, ToolChoice):
        return given
    if isinstance(given, str):
        if given in _CHOICES:
            return _CHOICES[given]
    elif given.get("type") == "tool" and "tool_name" in given:
        return ToolChoice(type="tool", tool_name=given["tool_name"])
    msg = f"tool_choice must be one of {tuple(_CHOICES)} or {{'type': 'tool', 'tool_name': ...}}, got {given!r}"
    raise InvalidArgumentError(msg, parameter="tool_choice", value=given)
