"""The parts of a run's full stream: the loop's own family beside the parts of the model that it passes on.

Text and reasoning deltas carry `text` here, where a model's deltas carry `delta`.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from onion.spec.base import JsonObject, ProviderMetadata, part
from onion.spec.content import Custom, DocumentSource, URLSource
from onion.spec.parts import (
    ErrorPart,
    RawPart,
    ReasoningEnd,
    ReasoningStart,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
)
from onion.spec.result import RequestInfo, ResponseInfo
from onion.spec.step import LanguageModelUsage, StepPerformance
from onion.spec.tools import (
    FileOutput,
    ReasoningFileOutput,
    ToolApprovalRequestOutput,
    ToolApprovalResponseOutput,
    ToolOutputDenied,
    TypedToolCall,
    TypedToolError,
    TypedToolResult,
)
from onion.spec.usage import CallWarning, UnifiedFinishReason


@part
class Start:
    """The run begins."""

    type: ClassVar[Literal["start"]] = "start"


@part
class StartStep:
    """A step begins: the model took the call."""

    type: ClassVar[Literal["start-step"]] = "start-step"
    request: RequestInfo = RequestInfo()
    warnings: tuple[CallWarning, ...] = ()


@part
class StepRestart:
    """The step begins again after a failure; what it streamed so far is void."""

    type: ClassVar[Literal["step-restart"]] = "step-restart"
    attempt: int
    error: object


@part
class TextDeltaOutput:
    """More text of the block *id*."""

    type: ClassVar[Literal["text-delta"]] = "text-delta"
    id: str
    text: str
    provider_metadata: ProviderMetadata | None = None


@part
class ReasoningDeltaOutput:
    """More reasoning of the block *id*."""

    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"
    id: str
    text: str
    provider_metadata: ProviderMetadata | None = None


@part
class ToolInputStartOutput:
    """The input of a tool call begins to arrive; *id* is the id of the call."""

    type: ClassVar[Literal["tool-input-start"]] = "tool-input-start"
    id: str
    tool_name: str
    provider_executed: bool | None = None
    dynamic: bool | None = None
    title: str | None = None
    tool_metadata: JsonObject | None = None
    provider_metadata: ProviderMetadata | None = None


@part
class FinishStep:
    """A step is done: the model finished and its tools ran."""

    type: ClassVar[Literal["finish-step"]] = "finish-step"
    finish_reason: UnifiedFinishReason
    raw_finish_reason: str | None = None
    usage: LanguageModelUsage = LanguageModelUsage()
    provider_metadata: ProviderMetadata | None = None
    response: ResponseInfo = ResponseInfo()
    performance: StepPerformance | None = None


@part
class Finish:
    """The run is done; `total_usage` is the sum over its steps."""

    type: ClassVar[Literal["finish"]] = "finish"
    finish_reason: UnifiedFinishReason
    raw_finish_reason: str | None = None
    total_usage: LanguageModelUsage = LanguageModelUsage()


@part
class Abort:
    """`result.abort(reason)` ended the run."""

    type: ClassVar[Literal["abort"]] = "abort"
    reason: object = None


FullStreamPart: TypeAlias = (
    Start
    | StartStep
    | StepRestart
    | TextStart
    | TextDeltaOutput
    | TextEnd
    | ReasoningStart
    | ReasoningDeltaOutput
    | ReasoningEnd
    | ToolInputStartOutput
    | ToolInputDelta
    | ToolInputEnd
    | FileOutput
    | ReasoningFileOutput
    | URLSource
    | DocumentSource
    | Custom
    | TypedToolCall
    | TypedToolResult
    | TypedToolError
    | ToolOutputDenied
    | ToolApprovalRequestOutput
    | ToolApprovalResponseOutput
    | RawPart
    | ErrorPart
    | FinishStep
    | Finish
    | Abort
)
