"""One step of a run as it is kept: what the model said, what the tools did, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from onion.spec.base import JsonValue, ProviderMetadata, value
from onion.spec.content import Custom, DocumentSource, Reasoning, Source, Text, URLSource
from onion.spec.prompt import AssistantMessage, ToolMessage
from onion.spec.result import RequestInfo, ResponseInfo
from onion.spec.tools import (
    FileOutput,
    GeneratedFile,
    ReasoningFileOutput,
    ToolApprovalRequestOutput,
    ToolApprovalResponseOutput,
    TypedToolCall,
    TypedToolError,
    TypedToolResult,
)
from onion.spec.usage import CallWarning, UnifiedFinishReason, Usage


@value
class InputTokenDetails:
    """Input tokens by kind; None is unknown."""

    no_cache_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


@value
class OutputTokenDetails:
    """Output tokens by kind; None is unknown."""

    text_tokens: int | None = None
    reasoning_tokens: int | None = None


def _add(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


@value
class LanguageModelUsage:
    """Tokens of a step or a run; None is unknown, which is not zero. Adding two gives a third."""

    input_tokens: int | None = None
    input_token_details: InputTokenDetails = InputTokenDetails()
    output_tokens: int | None = None
    output_token_details: OutputTokenDetails = OutputTokenDetails()
    total_tokens: int | None = None
    raw: JsonValue = None

    @classmethod
    def of(cls, usage: Usage) -> LanguageModelUsage:
        """The usage of one call."""
        given, made = usage.input_tokens, usage.output_tokens
        return cls(
            input_tokens=given.total,
            input_token_details=InputTokenDetails(
                no_cache_tokens=given.no_cache, cache_read_tokens=given.cache_read, cache_write_tokens=given.cache_write
            ),
            output_tokens=made.total,
            output_token_details=OutputTokenDetails(text_tokens=made.text, reasoning_tokens=made.reasoning),
            total_tokens=_add(given.total, made.total),
            raw=usage.raw,
        )

    def __add__(self, other: LanguageModelUsage) -> LanguageModelUsage:
        """The sum, without `raw`: a provider's account of one call says nothing of two."""
        mine, theirs = self.input_token_details, other.input_token_details
        my_output, their_output = self.output_token_details, other.output_token_details
        return LanguageModelUsage(
            input_tokens=_add(self.input_tokens, other.input_tokens),
            input_token_details=InputTokenDetails(
                no_cache_tokens=_add(mine.no_cache_tokens, theirs.no_cache_tokens),
                cache_read_tokens=_add(mine.cache_read_tokens, theirs.cache_read_tokens),
                cache_write_tokens=_add(mine.cache_write_tokens, theirs.cache_write_tokens),
            ),
            output_tokens=_add(self.output_tokens, other.output_tokens),
            output_token_details=OutputTokenDetails(
                text_tokens=_add(my_output.text_tokens, their_output.text_tokens),
                reasoning_tokens=_add(my_output.reasoning_tokens, their_output.reasoning_tokens),
            ),
            total_tokens=_add(self.total_tokens, other.total_tokens),
        )


@value
class StepPerformance:
    """How long a step took. Milliseconds, but for the rate.

    Attributes:
        step_time_ms: From the start of the step to its end, tools included.
        response_time_ms: The model call, until its last part was read.
        tool_execution_ms: By tool call id.
        time_to_first_output_ms: Until the first text, reasoning or tool input; None when nothing was streamed.
        output_tokens_per_second: None where the provider reports no output tokens.
    """

    step_time_ms: float = 0.0
    response_time_ms: float = 0.0
    tool_execution_ms: Mapping[str, float] = field(default_factory=lambda: {})
    time_to_first_output_ms: float | None = None
    output_tokens_per_second: float | None = None


@value
class ModelInfo:
    """Which model a step called, as it was configured."""

    provider: str
    model_id: str


StepContent: TypeAlias = (
    Text
    | Reasoning
    | FileOutput
    | ReasoningFileOutput
    | URLSource
    | DocumentSource
    | Custom
    | TypedToolCall
    | TypedToolResult
    | TypedToolError
    | ToolApprovalRequestOutput
    | ToolApprovalResponseOutput
)
ResponseMessage: TypeAlias = AssistantMessage | ToolMessage


@value
class StepResult:
    """One finished step.

    Attributes:
        content: The model's parts in order, then per client call, in call order: approval request, response, outcome.
        response_messages: The messages that this step added.
        performance: Timings; not compared.
    """

    step_number: int
    model: ModelInfo
    content: tuple[StepContent, ...]
    finish_reason: UnifiedFinishReason
    raw_finish_reason: str | None = None
    usage: LanguageModelUsage = LanguageModelUsage()
    warnings: tuple[CallWarning, ...] = ()
    provider_metadata: ProviderMetadata | None = None
    request: RequestInfo = RequestInfo()
    response: ResponseInfo = ResponseInfo()
    response_messages: tuple[ResponseMessage, ...] = ()
    performance: StepPerformance = field(default_factory=StepPerformance, compare=False)

    @property
    def text(self) -> str:
        """All text of the step, joined."""
        return "".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def reasoning(self) -> tuple[Reasoning | ReasoningFileOutput, ...]:
        """The reasoning parts."""
        return tuple(part for part in self.content if isinstance(part, Reasoning | ReasoningFileOutput))

    @property
    def reasoning_text(self) -> str | None:
        """All reasoning of the step, joined; None if there is none."""
        texts = [part.text for part in self.content if isinstance(part, Reasoning)]
        return "".join(texts) if texts else None

    @property
    def files(self) -> tuple[GeneratedFile, ...]:
        """The files that the model made."""
        return tuple(part.file for part in self.content if isinstance(part, FileOutput))

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the answer rests on."""
        return tuple(part for part in self.content if isinstance(part, URLSource | DocumentSource))

    @property
    def tool_calls(self) -> tuple[TypedToolCall, ...]:
        """The tool calls of the model, valid or not."""
        return tuple(part for part in self.content if isinstance(part, TypedToolCall))

    @property
    def tool_results(self) -> tuple[TypedToolResult, ...]:
        """The results of the tools that did not fail."""
        return tuple(part for part in self.content if isinstance(part, TypedToolResult))
