"""The Messages API as a wire format.

Its form is that of Anthropic's API reference, "Create a Message" and "Streaming messages", read 2026-12-01; members
that nobody knows are kept where they belong to content, and ignored elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from onion.providers._model import UNKNOWN, AnswerDecoder
from onion.providers.anthropic.context import context_of
from onion.providers.anthropic.events import EventReader
from onion.providers.anthropic.request import to_request
from onion.providers.anthropic.result import to_result
from onion.providers.anthropic.traits import ModelTraits
from onion.spec.base import value

if TYPE_CHECKING:
    from onion.providers._model import Exchange, WireRequest
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.result import GenerateResult


@value
class MessagesWire:
    """The wire format, as one model speaks it."""

    traits: ModelTraits

    def request(self, model_id: str, params: CallOptions, *, is_stream: bool) -> WireRequest:
        """The request for one call."""
        return to_request(model_id, params, self.traits, is_stream=is_stream)

    def result(self, body: JsonValue, params: CallOptions, exchange: Exchange = UNKNOWN) -> GenerateResult:
        """The answer that *body* holds."""
        return to_result(body, context_of(params, self.traits), exchange)

    def decoder(self, params: CallOptions, *, hide: Callable[[str], str]) -> AnswerDecoder:
        """What reads one streamed answer."""
        reader = EventReader(context_of(params, self.traits))
        return AnswerDecoder(reader, include_raw=bool(params.include_raw_chunks), hide=hide)
