"""Why a model stopped, what it used, and what it warns of."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from onion.spec.base import JsonValue, value

UnifiedFinishReason: TypeAlias = Literal[
    "stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"
]


@value
class FinishReason:
    """Why the model stopped: one of our words, and the provider's own."""

    unified: UnifiedFinishReason
    raw: str | None = None


@value
class InputTokens:
    """Tokens of the prompt; None where the provider does not say."""

    total: int | None = None
    no_cache: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


@value
class OutputTokens:
    """Tokens of the answer; None where the provider does not say."""

    total: int | None = None
    text: int | None = None
    reasoning: int | None = None


@value
class Usage:
    """Tokens that one call used; `raw` is the provider's own account."""

    input_tokens: InputTokens = InputTokens()
    output_tokens: OutputTokens = OutputTokens()
    raw: JsonValue = None


@value
class UnsupportedWarning:
    """The call asks for something that the provider does not have; it was left out."""

    type: ClassVar[Literal["unsupported"]] = "unsupported"
    feature: str
    details: str | None = None


@value
class CompatibilityWarning:
    """The call asks for something that was sent in another form than asked for."""

    type: ClassVar[Literal["compatibility"]] = "compatibility"
    feature: str
    details: str | None = None


@value
class DeprecatedWarning:
    """The call uses a setting that will go away."""

    type: ClassVar[Literal["deprecated"]] = "deprecated"
    setting: str
    message: str


@value
class OtherWarning:
    """Anything else that the caller should know."""

    type: ClassVar[Literal["other"]] = "other"
    message: str


CallWarning: TypeAlias = UnsupportedWarning | CompatibilityWarning | DeprecatedWarning | OtherWarning
