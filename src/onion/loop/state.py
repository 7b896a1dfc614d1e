"""What a run and its current step know while they go on."""

from __future__ import annotations

import copy
import dataclasses
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from types import WrapperDescriptorType

from onion.loop.attachments import Attachments
from onion.loop.blocks import Blocks
from onion.loop.interrupt import Control, TimeoutLimits
from onion.loop.lifecycle import Lifecycle
from onion.loop.options import ToolOptions
from onion.loop.output_reader import OutputReader
from onion.loop.prompt import InstructionsInput, PromptWriter
from onion.loop.settings import RunOptions
from onion.loop.stop import StopCondition
from onion.loop.tools import Tool
from onion.spec.base import record
from onion.spec.call import CallOptions, CallSettings, ResponseFormat, RunInfo, ToolChoice
from onion.spec.model import LanguageModel
from onion.spec.parts import FinishPart
from onion.spec.prompt import Message, SystemMessage
from onion.spec.result import GenerateResult
from onion.spec.step import LanguageModelUsage, ModelInfo, ResponseMessage, StepContent, StepResult
from onion.spec.tools import (
    ToolApprovalRequestOutput,
    ToolApprovalResponseOutput,
    ToolOutcome,
    TypedToolCall,
)
from onion.spec.usage import FinishReason, Usage
from onion.wrap import Middleware

current_run: ContextVar[RunInfo | None] = ContextVar("onion_run", default=None)
"""The run whose tool is being executed: the parent of a run that the tool starts."""


def new_id() -> str:
    """An id that does not occur twice. Whoever guesses one gains nothing, so it need not be a secret."""
    return f"{random.getrandbits(96):024x}"


NO_USAGE = LanguageModelUsage()
NO_ANSWER = GenerateResult(content=(), finish_reason=FinishReason(unified="error"), usage=Usage())
"""The answer of a step whose model has not answered."""


_ENDED_RUN = "_onion_run"
"""On an error, the id of the run that it ended."""


def _copied(error: BaseException) -> BaseException:
    """A second error like *error*; an ``__init__`` of its own is not called, it may want other things than `args`."""
    kind = type(error)
    try:
        is_built_in = isinstance(kind.__init__, WrapperDescriptorType)
        own = copy.copy(error) if is_built_in else kind.__new__(kind, *error.args)
    except Exception:  # noqa: BLE001 - a class may refuse to be made so, in whatever way: then both runs share one error
        return error
    vars(own).update(vars(error))
    own.__cause__, own.__context__ = error.__cause__, error.__context__
    own.__suppress_context__ = error.__suppress_context__
    return own.with_traceback(error.__traceback__)


@record
class ClientCall:
    """A call that the loop has to answer, and what became of it.

    Attributes:
        tool: None for invalid calls.
        parsed: The validated input, as the tool's function gets it.
        options: What the tool is told beside it.
        outcome: None while it has not run, and while it waits.
        inner_requests: What the sub-run of an agent's tool waits for.
    """

    call: TypedToolCall
    tool: Tool | None = None
    parsed: object = None
    options: ToolOptions[object] | None = None
    request: ToolApprovalRequestOutput | None = None
    response: ToolApprovalResponseOutput | None = None
    outcome: ToolOutcome | None = None
    inner_requests: Sequence[ToolApprovalRequestOutput] = ()

    @property
    def is_runnable(self) -> bool:
        """Whether the loop is to execute it."""
        if self.outcome is not None or self.tool is None or self.tool.execute is None:
            return False
        return self.request is None or (self.response is not None and self.response.approved)

    @property
    def is_answered(self) -> bool:
        """Whether the model will find an answer to it: an outcome or a denial."""
        return self.outcome is not None or (self.response is not None and not self.response.approved)

    def content(self) -> list[StepContent]:
        """What the step's content holds of it beside the call: request, response, outcome."""
        own: tuple[StepContent | None, ...] = (self.request, self.response, self.outcome, *self.inner_requests)
        return [part for part in own if part is not None]


@record
class Step:
    """One step while it goes on.

    Attributes:
        model: With the layers of the run around it.
        tools: The active ones.
        messages: What the model is sent, without instructions.
        params: The call.
        answer: The model's whole answer; `NO_ANSWER` until it is there.
        others: The content of the answer that is not text or reasoning, in order, as the step will hold it.
        calls: The client calls among it.
        inputs: The tools whose inputs are being streamed, by call id.
        finish: The model's own finish, once it came.
        has_begun: `on_step_start` was told.
        is_open: `do_stream` or `do_generate` has returned.
        failure: What went wrong in the stream; the full stream has shown it already.
    """

    number: int
    info: RunInfo
    model: LanguageModel
    model_info: ModelInfo
    tools: Mapping[str, Tool]
    messages: tuple[Message, ...]
    tool_choice: ToolChoice
    params: CallOptions
    started: float = dataclasses.field(default_factory=time.perf_counter)
    called: float = 0.0
    answered: float = 0.0
    first_output: float | None = None
    answer: GenerateResult = NO_ANSWER
    others: list[StepContent] = dataclasses.field(default_factory=lambda: [])
    calls: list[ClientCall] = dataclasses.field(default_factory=lambda: [])
    inputs: dict[str, Tool | None] = dataclasses.field(default_factory=lambda: {})
    tool_times: dict[str, float] = dataclasses.field(default_factory=lambda: {})
    finish: FinishPart | None = None
    has_begun: bool = False
    is_open: bool = False
    failure: BaseException | None = None

    def start_again(self) -> None:
        """Forget the answer so far: the step begins anew."""
        self.answer = NO_ANSWER
        self.finish = self.failure = self.first_output = None
        self.others.clear()
        self.calls.clear()
        self.info = dataclasses.replace(self.info, attempt=self.info.attempt + 1)
        self.params = self.params.replace(run=self.info)


@record
class Run:
    """One run while it goes on; shared by the loop, its phases and the views.

    Attributes:
        layers: The layers of `middleware=`.
        shorthand: The layers that arguments ask for, in their place between those and the model's own.
        settings: The settings of every call.
        instructions: As messages; `given_instructions` is what the caller or `prepare_step` gave.
        pending: Provider-executed calls whose results are still to come.
        blocks: The blocks of text and reasoning that the full stream has had.
        prepare_call: Makes the run that this one is to become, before it begins.
        step: The one that goes on, from its beginning to its finish.
        has_started: `on_start` was told.
        is_waiting: A resumed sub-run waits again, so there is nothing to ask the model.
        is_torn: The reader was cancelled or went away, or the process ends: nobody takes another part.
        failure: What ended the run, if it did not end well.
    """

    options: RunOptions
    is_streaming: bool
    control: Control
    limits: TimeoutLimits
    told: Lifecycle
    info: RunInfo
    layers: tuple[Middleware, ...]
    shorthand: tuple[Middleware, ...]
    stop_when: Sequence[StopCondition]
    settings: CallSettings
    tools: Mapping[str, Tool]
    reader: OutputReader[object]
    response_format: ResponseFormat | None
    writer: PromptWriter
    attachments: Attachments
    given_instructions: InstructionsInput | None
    instructions: tuple[SystemMessage, ...]
    initial_messages: tuple[Message, ...]
    messages: tuple[Message, ...]
    models: dict[int, tuple[LanguageModel, LanguageModel, ModelInfo]] = dataclasses.field(default_factory=lambda: {})
    steps: list[StepResult] = dataclasses.field(default_factory=lambda: [])
    response_messages: list[ResponseMessage] = dataclasses.field(default_factory=lambda: [])
    usage: LanguageModelUsage = NO_USAGE
    pending: set[str] = dataclasses.field(default_factory=set[str])
    blocks: Blocks = dataclasses.field(default_factory=Blocks)
    structured_text: str | None = None
    step: Step | None = None
    prepare_call: Callable[[], Awaitable[Run]] | None = None
    has_started: bool = False
    is_waiting: bool = False
    is_torn: bool = False
    failure: BaseException | None = None

    def become(self, other: Run) -> None:
        """Take over all that *other*, which has not begun, was made with."""
        for field in dataclasses.fields(other):
            setattr(self, field.name, getattr(other, field.name))

    def add_messages(self, messages: Sequence[ResponseMessage]) -> None:
        """Put new messages at the end of the history."""
        self.messages = (*self.messages, *messages)
        self.response_messages.extend(messages)

    def add_step(self, step: StepResult) -> None:
        """Keep a finished step."""
        self.steps.append(step)
        self.usage = step.usage if len(self.steps) == 1 else self.usage + step.usage
        self.add_messages(step.response_messages)

    def fail(self, error: BaseException) -> BaseException:
        """Note what ended the run, and put on it what was finished before; a copy, if it ended another run already."""
        ended = vars(error).get(_ENDED_RUN, self.info.run_id)
        if ended != self.info.run_id:
            error = _copied(error)
        vars(error).update({"steps": tuple(self.steps), "usage": self.usage, _ENDED_RUN: self.info.run_id})
        self.failure = error
        return error
