"""What is asked of every exchange, in any wire format: it parses, however it is cut, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import httpx

from onion.errors import JSONParseError, OnionError
from onion.providers._json import parse_json
from onion.providers._model import StreamDecoder
from onion.providers._sse import ServerSentEvent, SSEDecoder
from onion.spec.base import JsonValue
from onion.spec.call import CallOptions
from onion.spec.content import OtherContent, ToolResult
from onion.spec.json import to_json
from onion.spec.model import LanguageModel
from onion.spec.parts import ErrorPart, StreamPart
from onion.spec.prompt import TextPart, UserMessage
from onion.spec.result import GenerateResult
from onion.streaming import collect
from onion.testing.rules import LintError, StreamRules
from tests.recorded.exchanges import Exchange, members
from tests.recorded.framings import cuts, framings
from tests.recorded.lost import lost

_WHOLE = get_args(OtherContent)
CALL = CallOptions(prompt=(UserMessage(content=(TextPart(text="hi"),)),))


@dataclass(frozen=True)
class WireFormat:
    """One wire format, and what it leaves out on purpose.

    Attributes:
        read: Reads a whole answer.
        make_decoder: Makes what reads a stream; equal ones, down to the ids that they make up.
        make_model: Makes the model that goes over a client.
        dropped: What is left out, as patterns of paths, and why.
        written: How the values at a path are written in the result, where they are not kept as they are.
        repeated: Types of events whose content comes again in others, and why; in those it is looked for.
    """

    read: Callable[[JsonValue], GenerateResult]
    make_decoder: Callable[[], StreamDecoder]
    make_model: Callable[[httpx.AsyncClient], LanguageModel]
    dropped: Mapping[str, str]
    written: Mapping[str, Callable[[JsonValue], JsonValue]] = field(
        default_factory=dict[str, Callable[[JsonValue], JsonValue]]
    )
    repeated: Mapping[str, str] = field(default_factory=dict[str, str])

    def check(self, exchange: Exchange) -> list[str]:
        """The faults found with *exchange*."""
        if exchange.status >= 300 or not (exchange.sse or isinstance(exchange.body, dict)):
            return self._check_failure(exchange)
        return self._check_whole(exchange) if exchange.sse is None else self._check_stream(exchange, exchange.sse)

    def decode(self, pieces: Iterable[bytes]) -> tuple[list[StreamPart], OnionError | None]:
        """The parts of a body that arrives in *pieces*, and the failure if it fails before content."""
        events = SSEDecoder()
        decoder = self.make_decoder()
        parts: list[StreamPart] = []
        for piece in pieces:
            parts += decoder.feed_events(events.feed(piece))
        parts += decoder.feed_events(events.end(), is_rest=True)
        try:
            parts += decoder.end()
        except OnionError as error:
            return parts, error
        return parts, None

    def _check_failure(self, exchange: Exchange) -> list[str]:
        said = members(members(exchange.body).get("error")).get("message", exchange.body)
        faults: list[str] = []
        for is_stream in (False, True):
            try:
                asyncio.run(self._over_client(exchange, is_stream=is_stream))
            except OnionError as error:
                if str(said)[:150] not in str(error):
                    faults.append(f"the error does not say {said!r}: {error}")
            else:
                faults.append("a failure was taken for an answer")
        return faults

    def _check_whole(self, exchange: Exchange) -> list[str]:
        result = self.read(exchange.body)
        identity = replace(result.response, body=None) if result.response else None
        faults = lost([exchange.body], opened(to_json(replace(result, response=identity))), self.dropped, self.written)
        for is_stream in (False, True):
            content = asyncio.run(self._over_client(exchange, is_stream=is_stream))
            if [part.type for part in result.content] != content:
                faults.append(f"over a client the content is another: {content}")
        return faults

    def _check_stream(self, exchange: Exchange, body: bytes) -> list[str]:
        parts, failure = self.decode([body])
        faults = [] if failure else broken_rules(parts)
        found = _json(parts, failure)
        faults += [f"other parts {name}" for name, pieces in framings(body) if _json(*self.decode(pieces)) != found]
        events = events_of([body])
        faults += [f"other events {name}" for name, pieces in cuts(body) if events_of(pieces) != events]
        chunks = [parse_json(event.data) for event in events if event.data != b"[DONE]"]
        news = [chunk for chunk in chunks if members(chunk).get("type") not in self.repeated]
        faults += lost(news, opened(found), self.dropped, self.written)
        try:
            content = asyncio.run(self._over_client(exchange, is_stream=True))
        except OnionError as error:
            reported = failure or next((part.error for part in parts if isinstance(part, ErrorPart)), None)
            return faults if str(error) == str(reported) else [*faults, f"over a client it fails: {error}"]
        streamed = [part for part in parts if not (isinstance(part, ToolResult) and part.preliminary)]
        whole = [part.type for part in streamed if isinstance(part, _WHOLE)]
        if [kind for kind in content if kind not in ("text", "reasoning")] != whole:
            faults.append(f"over a client the content is another: {content}")
        return faults

    async def _over_client(self, exchange: Exchange, *, is_stream: bool) -> list[str]:
        """The kinds of content that a model gives, over the whole way but the network."""

        def answer(request: httpx.Request) -> httpx.Response:
            del request
            return httpx.Response(exchange.status, headers=exchange.headers, content=exchange.raw)

        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            model = self.make_model(client)
            result = await (collect(await model.do_stream(CALL)) if is_stream else model.do_generate(CALL))
        return [part.type for part in result.content]


def events_of(pieces: Iterable[bytes]) -> list[ServerSentEvent]:
    """The events of a body that arrives in *pieces*."""
    decoder = SSEDecoder()
    found = [event for piece in pieces for event in decoder.feed(piece)]
    return found + decoder.end()


def broken_rules(parts: Sequence[StreamPart]) -> list[str]:
    """What of the stream grammar *parts* break."""
    rules = StreamRules("the decoder", strict=False)
    try:
        for part in parts:
            rules.feed(part)
        rules.ended()
    except LintError as error:
        return [str(error)]
    return []


def opened(result: JsonValue) -> JsonValue:
    """*result* with the inputs of its calls parsed beside their texts: some servers send them parsed."""
    if isinstance(result, list | tuple):
        return [opened(item) for item in result]
    if not isinstance(result, dict):
        return result
    found = {key: opened(member) for key, member in result.items()}
    text = result.get("input")
    if isinstance(text, str):
        with contextlib.suppress(JSONParseError):
            found["parsed input"] = parse_json(text)
    return found


def _json(parts: Sequence[StreamPart], failure: OnionError | None) -> JsonValue:
    return [to_json(list(parts)), to_json(failure)]
