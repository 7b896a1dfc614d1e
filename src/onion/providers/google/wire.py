"""The Gemini API as a wire format.

Its form is that of the API reference, "Generating content"; members that nobody knows are kept where
they belong to content or to the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from onion.providers._model import UNKNOWN, AnswerDecoder
from onion.providers.google.chunks import ChunkReader
from onion.providers.google.request import to_request
from onion.providers.google.result import to_result
from onion.providers.google.toolbox import Toolbox
from onion.providers.google.traits import ModelTraits
from onion.spec.base import value

if TYPE_CHECKING:
    from onion.providers._model import Exchange, WireRequest
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.result import GenerateResult


@value
class GeminiWire:
    """The wire format, as one model speaks it."""

    traits: ModelTraits

    def request(self, model_id: str, params: CallOptions, *, is_stream: bool) -> WireRequest:
        """The request for one call."""
        return to_request(model_id, params, self.traits, is_stream=is_stream)

    def result(self, body: JsonValue, params: CallOptions, exchange: Exchange = UNKNOWN) -> GenerateResult:
        """The answer that *body* holds."""
        return to_result(body, Toolbox(params.tools, self.traits), exchange)

    def decoder(self, params: CallOptions, *, hide: Callable[[str], str]) -> AnswerDecoder:
        """What reads one streamed answer."""
        reader = ChunkReader(Toolbox(params.tools, self.traits))
        return AnswerDecoder(reader, include_raw=bool(params.include_raw_chunks), hide=hide)
