"""A model behind HTTP. It never retries, logs or caches: that is what layers are for."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._http import HTTPRequest, HTTPTransport
from onion.providers._json import dump_json, parse_json
from onion.providers._model.address import Address
from onion.providers._model.wire import Exchange
from onion.providers._sse import SSEDecoder
from onion.spec.base import JsonObject, value
from onion.spec.parts import StreamStart
from onion.spec.result import RequestInfo, ResponseInfo
from onion.streaming import open_stream, replay

if TYPE_CHECKING:
    from onion.errors import APICallError
    from onion.providers._http import HTTPAnswer
    from onion.providers._model.wire import StreamDecoder, Wire, WireRequest
    from onion.providers._sse import ServerSentEvent
    from onion.spec.call import CallOptions
    from onion.spec.model import SupportedURLs
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.spec.usage import CallWarning

_SHOWN_BYTES = 4096
_SHOWN_CHARACTERS = 200


@value
class Server:
    """Where a provider's models are, and how they are spoken to.

    Attributes:
        provider: Name of the provider with the wire format: ``openai.chat``.
        transform_request: Changes the body before it is sent.
    """

    provider: str
    address: Address
    transport: HTTPTransport
    supported_urls: Mapping[str, Sequence[re.Pattern[str]]]
    transform_request: Callable[[JsonObject], JsonObject] | None = None


class WireModel:
    """A language model behind HTTP; made by a provider."""

    __slots__ = ("_server", "_wire", "model_id")

    def __init__(self, model_id: str, server: Server, wire: Wire) -> None:
        self.model_id: str = model_id
        self._server = server
        self._wire = wire

    @property
    def provider(self) -> str:
        """Who answers, with the wire format."""
        return self._server.provider

    @property
    def supported_urls(self) -> SupportedURLs:
        """What the server fetches itself."""
        return self._server.supported_urls

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        """Answer whole.

        Raises:
            APICallError: When the request fails, or the answer is none.
            LoadAPIKeyError: When there is no key; nothing was sent.
            UnsupportedFunctionalityError: When the prompt cannot be expressed; nothing was sent.
        """
        wanted, request = self._request(params, is_stream=False)
        answer = await self._server.transport.open(request)
        try:
            body = await answer.read()
        finally:
            await answer.aclose()
        return self._result(answer, body, params, wanted.warnings)

    async def do_stream(self, params: CallOptions) -> StreamResult:
        """Answer as a stream, which the caller then owns and must close.

        Raises:
            APICallError: When the request fails.
            StreamProviderError: When the server reports a failure before any content.
            StreamInterruptedError: When the stream breaks off before any content.
            LoadAPIKeyError: When there is no key; nothing was sent.
            UnsupportedFunctionalityError: When the prompt cannot be expressed; nothing was sent.
        """
        wanted, request = self._request(params, is_stream=True)
        answer = await self._server.transport.open(request)
        if _is_json(answer):  # a server that does not stream, or reports a failure with a status of success
            return await self._whole(answer, params, wanted.warnings)
        told, headers = RequestInfo(body=request.body), ResponseInfo(headers=answer.headers)
        decoder = self._wire.decoder(params, hide=answer.hide_secrets)
        parts = _parts(answer, decoder, wanted.warnings)
        return await open_stream(parts, close=answer.aclose, request=told, response=headers)

    def __repr__(self) -> str:
        return f"{self.provider}/{self.model_id}"

    def _request(self, params: CallOptions, *, is_stream: bool) -> tuple[WireRequest, HTTPRequest]:
        server = self._server
        wanted = self._wire.request(self.model_id, params, is_stream=is_stream)
        body = server.transform_request(wanted.body) if server.transform_request else wanted.body
        url, headers = server.address.of(wanted.path, wanted.headers, params.headers, sender=server.provider)
        request = HTTPRequest(url=url, content=dump_json(body), headers=headers, body=body, sender=server.provider)
        return wanted, request

    def _result(
        self, answer: HTTPAnswer, body: bytes, params: CallOptions, warnings: tuple[CallWarning, ...]
    ) -> GenerateResult:
        if not body.strip():  # what a broken proxy sends; a stream that ends at once is as retryable
            msg = f"the server answered HTTP {answer.status_code} with an empty body"
            raise answer.request.error(msg, answer, is_retryable=True)
        request = RequestInfo(body=answer.request.body)
        exchange = Exchange(request=request, warnings=warnings, headers=answer.headers)
        try:
            return self._wire.result(parse_json(body), params, exchange)
        except (JSONParseError, TypeValidationError, StreamProviderError) as error:
            raise answer.failed(body, str(error)) from None  # the cause may show what the body repeats of a key

    async def _whole(self, answer: HTTPAnswer, params: CallOptions, warnings: tuple[CallWarning, ...]) -> StreamResult:
        try:
            body = await answer.read()
        finally:
            await answer.aclose()
        result = self._result(answer, body, params, warnings)
        response = replace(result.response or ResponseInfo(), body=None)
        return replay(replace(result, response=response))


def _is_json(answer: HTTPAnswer) -> bool:
    return answer.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


async def _parts(
    answer: HTTPAnswer, decoder: StreamDecoder, warnings: tuple[CallWarning, ...]
) -> AsyncGenerator[StreamPart, None]:
    """The parts of a streamed answer; raises as long as no content was handed out, and closes the answer."""
    yield StreamStart(warnings=warnings)
    events = _Events(answer)
    failure: StreamInterruptedError | None = None
    try:
        while not (decoder.is_over or events.is_at_end):
            try:
                found = events.of(await answer.next_bytes())
            except StreamInterruptedError as error:
                failure = error
                break
            for part in decoder.feed_events(found, is_rest=events.is_at_end):
                yield part
        for part in decoder.end(failure or events.misfit()):
            yield part
        await answer.drain()
    finally:
        await answer.aclose()


class _Events:
    """The events of an answer; keeps how a body begins that holds none, to show what came instead."""

    def __init__(self, answer: HTTPAnswer) -> None:
        self.is_at_end = False
        self._answer = answer
        self._decoder = SSEDecoder()
        self._has_events = False
        self._head = b""

    def of(self, data: bytes | None) -> list[ServerSentEvent]:
        """The events that *data*, the next piece of the body, completes; None is its end.

        Raises:
            StreamInterruptedError: When an event grows past the limit.
        """
        self.is_at_end = data is None
        found = self._decoder.end() if data is None else self._decoder.feed(data)
        if not self._has_events:
            self._has_events = bool(found)
            if data and len(self._head) < _SHOWN_BYTES:
                self._head += data[:_SHOWN_BYTES]
        return found

    def misfit(self) -> APICallError | None:
        """The error for a body that holds neither events nor comments, but something else."""
        head = self._head.strip()
        if self._has_events or not self.is_at_end or not head or head.startswith(b":"):
            return None
        shown = head[:_SHOWN_CHARACTERS].decode("utf-8", "replace")
        return self._answer.failed(head, f"no stream of events but {shown}")
