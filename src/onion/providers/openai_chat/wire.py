"""The chat completions API as a wire format, in one server's dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from onion.providers._chat import ChatDialect, ChunkReader, to_request, to_result
from onion.providers._model import UNKNOWN, AnswerDecoder, WireRequest
from onion.spec.base import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers._model import Exchange
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.result import GenerateResult

PATH = "/chat/completions"


@value
class ChatWire:
    """The chat format in one server's dialect.

    Attributes:
        path: Where requests go; ``{model}`` stands for the id of the model.
    """

    dialect: ChatDialect
    path: str = PATH

    def request(self, model_id: str, params: CallOptions, *, is_stream: bool) -> WireRequest:
        """The request for one call."""
        wanted = to_request(model_id, params, self.dialect, is_stream=is_stream)
        path = self.path.replace("{model}", quote(model_id, safe=""))
        return WireRequest(path=path, body=wanted.body, warnings=wanted.warnings)

    def result(self, body: JsonValue, params: CallOptions, exchange: Exchange = UNKNOWN) -> GenerateResult:
        """The answer that a completion holds."""
        return to_result(body, exchange, name=self.dialect.name)

    def decoder(self, params: CallOptions, *, hide: Callable[[str], str]) -> AnswerDecoder:
        """What reads one streamed answer."""
        return AnswerDecoder(ChunkReader(self.dialect.name), include_raw=bool(params.include_raw_chunks), hide=hide)
