"""The Responses API as a wire format, in one server's dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._model import UNKNOWN, AnswerDecoder
from onion.providers.openai_responses.dialect import ResponsesDialect
from onion.providers.openai_responses.events import EventReader
from onion.providers.openai_responses.items import tool_of
from onion.providers.openai_responses.request import to_request
from onion.providers.openai_responses.result import to_result
from onion.spec.base import value
from onion.spec.call import ProviderTool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.providers._model import Exchange, WireRequest
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.result import GenerateResult


@value
class ResponsesWire:
    """The Responses format in one server's dialect."""

    dialect: ResponsesDialect

    def request(self, model_id: str, params: CallOptions, *, is_stream: bool) -> WireRequest:
        """The request for one call."""
        return to_request(model_id, params, self.dialect, is_stream=is_stream)

    def result(self, body: JsonValue, params: CallOptions, exchange: Exchange = UNKNOWN) -> GenerateResult:
        """The answer that a response holds."""
        return to_result(body, exchange, name=self.dialect.name, tool_names=names_of(params))

    def decoder(self, params: CallOptions, *, hide: Callable[[str], str]) -> AnswerDecoder:
        """What reads one streamed answer."""
        reader = EventReader(self.dialect.name, tool_names=names_of(params))
        return AnswerDecoder(reader, include_raw=bool(params.include_raw_chunks), hide=hide)


def names_of(params: CallOptions) -> Mapping[str, str]:
    """By tool of the API, the name that the caller gave it."""
    tools = [tool for tool in params.tools or () if isinstance(tool, ProviderTool)]
    return {own: tool.name for tool in tools if (own := tool_of(tool.id)) is not None}
