"""The parts of a streamed answer.

The grammar: at most one `StreamStart`, first; ids unique per kind within one call; every start has exactly one end,
with its deltas between; the tool call of a client tool comes after its `ToolInputEnd`; exactly one `FinishPart`, last.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal, TypeAlias

from onion.spec.base import JsonValue, ProviderMetadata, part
from onion.spec.content import OtherContent
from onion.spec.usage import CallWarning, FinishReason, Usage


@part
class StreamStart:
    """The provider took the call; what it warns of."""

    type: ClassVar[Literal["stream-start"]] = "stream-start"
    warnings: tuple[CallWarning, ...] = ()


@part
class ResponseMetadata:
    """Id, time and model of the answer, as soon as they are known."""

    type: ClassVar[Literal["response-metadata"]] = "response-metadata"
    id: str | None = None
    timestamp: datetime | None = None
    model_id: str | None = None


@part
class TextStart:
    """A block of text begins."""

    type: ClassVar[Literal["text-start"]] = "text-start"
    id: str
    provider_metadata: ProviderMetadata | None = None


@part
class TextDelta:
    """More text of the block *id*."""

    type: ClassVar[Literal["text-delta"]] = "text-delta"
    id: str
    delta: str
    provider_metadata: ProviderMetadata | None = None


@part
class TextEnd:
    """The block of text is whole."""

    type: ClassVar[Literal["text-end"]] = "text-end"
    id: str
    provider_metadata: ProviderMetadata | None = None


@part
class ReasoningStart:
    """A block of reasoning begins."""

    type: ClassVar[Literal["reasoning-start"]] = "reasoning-start"
    id: str
    provider_metadata: ProviderMetadata | None = None


@part
class ReasoningDelta:
    """More reasoning of the block *id*."""

    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"
    id: str
    delta: str
    provider_metadata: ProviderMetadata | None = None


@part
class ReasoningEnd:
    """The block of reasoning is whole."""

    type: ClassVar[Literal["reasoning-end"]] = "reasoning-end"
    id: str
    provider_metadata: ProviderMetadata | None = None


@part
class ToolInputStart:
    """The input of a tool call begins to arrive; *id* is the id of the call."""

    type: ClassVar[Literal["tool-input-start"]] = "tool-input-start"
    id: str
    tool_name: str
    provider_executed: bool | None = None
    dynamic: bool | None = None
    title: str | None = None
    provider_metadata: ProviderMetadata | None = None


@part
class ToolInputDelta:
    """More of the input's JSON text."""

    type: ClassVar[Literal["tool-input-delta"]] = "tool-input-delta"
    id: str
    delta: str
    provider_metadata: ProviderMetadata | None = None


@part
class ToolInputEnd:
    """The input is whole; the tool call follows."""

    type: ClassVar[Literal["tool-input-end"]] = "tool-input-end"
    id: str
    provider_metadata: ProviderMetadata | None = None


@part
class RawPart:
    """A chunk as the provider sent it, if `include_raw_chunks` asks for it."""

    type: ClassVar[Literal["raw"]] = "raw"
    raw_value: JsonValue


@part
class ErrorPart:
    """A failure after content was passed on: an exception, or what a foreign provider sent instead of one."""

    type: ClassVar[Literal["error"]] = "error"
    error: object


@part
class FinishPart:
    """The end of the answer; always the last part."""

    type: ClassVar[Literal["finish"]] = "finish"
    finish_reason: FinishReason
    usage: Usage
    provider_metadata: ProviderMetadata | None = None
    structured_output_text: str | None = None
    """As in `GenerateResult`."""


StreamPart: TypeAlias = (
    StreamStart
    | ResponseMetadata
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputEnd
    | OtherContent
    | RawPart
    | ErrorPart
    | FinishPart
)
