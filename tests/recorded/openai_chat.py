"""What is asked of every exchange in the chat format: it parses, however it is cut, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx

from onion.errors import OnionError
from onion.providers import openai_compatible
from onion.providers._chat import ChunkDecoder, to_result
from onion.providers._json import parse_json
from onion.providers._sse import SSEDecoder
from onion.spec.call import CallOptions
from onion.spec.json import to_json
from onion.spec.parts import ErrorPart, StreamPart
from onion.spec.prompt import TextPart, UserMessage
from onion.streaming import collect
from onion.testing.rules import LintError, StreamRules
from tests.recorded.exchanges import Exchange, members
from tests.recorded.framings import framings
from tests.recorded.lost import lost

if TYPE_CHECKING:
    from onion.providers.openai_chat import ChatModel
    from onion.spec.base import JsonValue

NAME = "recorded"
MADE = "made-"
CALL = CallOptions(prompt=(UserMessage(content=(TextPart(text="hi"),)),))

DROPPED = {
    "object": "says only that it is a completion",
    "*.role": "is always the assistant",
    "*.index": "is the order of the list",
    "*.tool_calls[[]].type": "is always a function",
    "obfuscation": "is padding",
    "*.delta.channel": "is said by the field that the text is in",
    "*.content[[]].type": "is said by the kind of part",
    "*.content[[]].thinking[[]].type": "is always text",
    "choices[[]].message.thought_signature": "is said again in extra_content",
}
"""What is left out on purpose, as patterns of paths, and why."""


def _time(created: JsonValue) -> JsonValue:
    assert isinstance(created, int)
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


WRITTEN = {"created": _time}
"""What is written in another form, by path."""


def check(exchange: Exchange) -> list[str]:
    """The faults found with *exchange*."""
    if exchange.status >= 300 or not (exchange.sse or isinstance(exchange.body, dict)):
        return _check_failure(exchange)
    return _check_whole(exchange) if exchange.sse is None else _check_stream(exchange, exchange.sse)


def _check_failure(exchange: Exchange) -> list[str]:
    said = members(members(exchange.body).get("error")).get("message", exchange.body)
    faults: list[str] = []
    for is_stream in (False, True):
        try:
            asyncio.run(_over_client(exchange, is_stream=is_stream))
        except OnionError as error:
            if str(said)[:150] not in str(error):
                faults.append(f"the error does not say {said!r}: {error}")
        else:
            faults.append("a failure was taken for an answer")
    return faults


def _check_whole(exchange: Exchange) -> list[str]:
    result = to_result(exchange.body, name=NAME)
    identity = replace(result.response, body=None) if result.response else None
    faults = lost([exchange.body], to_json(replace(result, response=identity)), DROPPED, WRITTEN)
    for is_stream in (False, True):
        content = asyncio.run(_over_client(exchange, is_stream=is_stream))
        if [part.type for part in result.content] != content:
            faults.append(f"over a client the content is another: {content}")
    return faults


def _check_stream(exchange: Exchange, body: bytes) -> list[str]:
    parts, failure = decode([body])
    faults = [] if failure else broken_rules(parts)
    found = _json(parts, failure)
    faults += [f"other parts {name}" for name, pieces in framings(body) if _json(*decode(pieces)) != found]
    events = SSEDecoder()
    chunks = [parse_json(event.data) for event in (*events.feed(body), *events.end()) if event.data != b"[DONE]"]
    faults += lost(chunks, found, DROPPED, WRITTEN)
    try:
        content = asyncio.run(_over_client(exchange, is_stream=True))
    except OnionError as error:
        reported = failure or next((part.error for part in parts if isinstance(part, ErrorPart)), None)
        return faults if str(error) == str(reported) else [*faults, f"over a client it fails: {error}"]
    whole = [part.type for part in parts if part.type in ("tool-call", "tool-result", "file", "source")]
    if [kind for kind in content if kind not in ("text", "reasoning")] != whole:
        faults.append(f"over a client the content is another: {content}")
    return faults


def decode(pieces: Iterable[bytes]) -> tuple[list[StreamPart], OnionError | None]:
    """The parts of a body that arrives in *pieces*, and the failure if it fails before content."""
    numbers = iter(range(1000))
    events = SSEDecoder()
    decoder = ChunkDecoder(name=NAME, generate_id=lambda: f"{MADE}{next(numbers)}")
    parts: list[StreamPart] = []
    for piece in pieces:
        parts += decoder.feed_events(events.feed(piece))
    parts += decoder.feed_events(events.end(), is_rest=True)
    try:
        parts += decoder.end()
    except OnionError as error:
        return parts, error
    return parts, None


def _json(parts: Sequence[StreamPart], failure: OnionError | None) -> JsonValue:
    return [to_json(list(parts)), to_json(failure)]


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


async def _over_client(exchange: Exchange, *, is_stream: bool) -> list[str]:
    """The kinds of content that a model gives, over the whole way but the network."""

    def answer(request: httpx.Request) -> httpx.Response:
        del request
        return httpx.Response(exchange.status, headers=exchange.headers, content=exchange.raw)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        model: ChatModel = openai_compatible(base_url="http://recorded/v1", model="m", name=NAME, http_client=client)
        result = await (collect(await model.do_stream(CALL)) if is_stream else model.do_generate(CALL))
    return [part.type for part in result.content]


__all__ = ["DROPPED", "broken_rules", "check", "decode"]
