"""What a call of a model gives back, whole."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from onion.spec.base import ProviderMetadata, value
from onion.spec.content import Content, Text
from onion.spec.usage import CallWarning, FinishReason, Usage


@value
class RequestInfo:
    """What was sent: the JSON body, without credentials."""

    body: object = None


@value
class ResponseInfo:
    """What the provider says of its answer beside the answer."""

    id: str | None = None
    timestamp: datetime | None = None
    model_id: str | None = None
    headers: Mapping[str, str] | None = None
    body: object = None


@value
class GenerateResult:
    """The answer of `do_generate`.

    Attributes:
        content: The parts in the order in which the model made them.
        structured_output_text: Text to parse for structured output instead of the text parts, where a provider gives
            the object apart from the text.
    """

    content: tuple[Content, ...]
    finish_reason: FinishReason
    usage: Usage
    warnings: tuple[CallWarning, ...] = ()
    provider_metadata: ProviderMetadata | None = None
    request: RequestInfo | None = None
    response: ResponseInfo | None = None
    structured_output_text: str | None = None

    @property
    def text(self) -> str:
        """All text parts, joined."""
        return "".join(part.text for part in self.content if isinstance(part, Text))
