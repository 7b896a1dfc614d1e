"""What lifecycle hooks and callbacks are told. In-process values; every one carries the run."""

from __future__ import annotations

from typing import Literal

from onion.spec.base import value
from onion.spec.call import CallOptions, RunInfo
from onion.spec.full_stream import FullStreamPart
from onion.spec.prompt import Message
from onion.spec.step import LanguageModelUsage, ModelInfo, StepResult
from onion.spec.tools import TypedToolCall, TypedToolError, TypedToolResult
from onion.spec.usage import UnifiedFinishReason, Usage


@value
class StartEvent:
    """A run begins."""

    run: RunInfo
    model: ModelInfo
    messages: tuple[Message, ...]
    instructions: str | None = None


@value
class StepStartEvent:
    """A step begins, before the model is called."""

    run: RunInfo
    step_number: int
    model: ModelInfo
    messages: tuple[Message, ...]
    steps: tuple[StepResult, ...]


@value
class LanguageModelCallStartEvent:
    """The model of a step is about to be called with *params*."""

    run: RunInfo
    model: ModelInfo
    params: CallOptions


@value
class LanguageModelCallEndEvent:
    """The model of a step has answered."""

    run: RunInfo
    model: ModelInfo
    finish_reason: UnifiedFinishReason
    usage: Usage
    response_time_ms: float


@value
class ChunkEvent:
    """A part of the full stream is passed on."""

    run: RunInfo
    chunk: FullStreamPart


@value
class ToolExecutionStartEvent:
    """A client tool is about to run."""

    run: RunInfo
    tool_call: TypedToolCall
    messages: tuple[Message, ...]


@value
class ToolExecutionEndEvent:
    """A client tool has run."""

    run: RunInfo
    tool_call: TypedToolCall
    output: TypedToolResult | TypedToolError
    duration_ms: float


@value
class StepEndEvent:
    """A step is finished."""

    run: RunInfo
    step: StepResult


@value
class StepErrorEvent:
    """A step failed; the run ends with an ErrorEvent."""

    run: RunInfo
    step_number: int
    error: BaseException


@value
class EndEvent:
    """The run ended well."""

    run: RunInfo
    steps: tuple[StepResult, ...]
    total_usage: LanguageModelUsage
    finish_reason: UnifiedFinishReason


@value
class ErrorEvent:
    """The run ended with *error*, after the finished *steps*."""

    run: RunInfo
    error: BaseException
    steps: tuple[StepResult, ...]


@value
class AbortEvent:
    """The run was aborted or cancelled after the finished *steps*."""

    run: RunInfo
    reason: object
    steps: tuple[StepResult, ...]
    kind: Literal["abort", "cancel"] = "abort"


LifecycleEvent = (
    StartEvent
    | StepStartEvent
    | LanguageModelCallStartEvent
    | LanguageModelCallEndEvent
    | ChunkEvent
    | ToolExecutionStartEvent
    | ToolExecutionEndEvent
    | StepEndEvent
    | StepErrorEvent
    | EndEvent
    | ErrorEvent
    | AbortEvent
)
