"""Answers of the Gemini API, written as Google's servers write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onion.providers._json import object_in, objects_in
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.google import ModelTraits
from onion.providers.google.chunks import ChunkReader
from onion.providers.google.request import to_request
from onion.providers.google.result import to_result
from onion.providers.google.toolbox import Toolbox
from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage
from onion.streaming import Collector
from onion.testing.rules import StreamRules
from tests.providers.loopback import Connection, answer, stream

if TYPE_CHECKING:
    from onion.providers._model import WireRequest
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart
    from onion.spec.prompt import Message
    from onion.spec.result import GenerateResult
    from tests.providers.loopback import Script

KEY = "AIzaTESTKEY123"
NEWEST = ModelTraits()
HELLO = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))
USAGE: JsonObject = {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4}


def candidate(*parts: JsonObject, **more: JsonValue) -> dict[str, JsonValue]:
    """A candidate with those parts."""
    return {"content": {"parts": list(parts), "role": "model"}, "index": 0, "finishReason": "STOP", **more}


def chunk(*parts: JsonObject, reason: str | None = None, **more: JsonValue) -> dict[str, JsonValue]:
    """One chunk of a stream."""
    return {
        "candidates": [candidate(*parts, finishReason=reason, **more)],
        "modelVersion": "gemini-x",
        "responseId": "r-1",
    }


def whole(*parts: JsonObject, reason: str | None = "STOP", **more: JsonValue) -> dict[str, JsonValue]:
    """A whole answer."""
    return {**chunk(*parts, reason=reason, **more), "usageMetadata": USAGE}


def text(said: str, **more: JsonValue) -> dict[str, JsonValue]:
    """A part of text."""
    return {"text": said, **more}


def call(name: str, args: JsonValue = None, *, call_id: str | None = None, **more: JsonValue) -> JsonObject:
    """A part with a call of the caller's tool."""
    identity: dict[str, JsonValue] = {} if call_id is None else {"id": call_id}
    return {"functionCall": {**identity, "name": name, "args": args or {}}, **more}


def sse(*chunks: JsonValue) -> bytes:
    """Chunks as they go over the wire."""
    return b"".join(f"data: {json.dumps(each)}\r\n\r\n".encode() for each in chunks)


def decoded(*chunks: JsonValue, params: CallOptions = HELLO, traits: ModelTraits = NEWEST) -> list[StreamPart]:
    """The parts of a stream, which keep the grammar."""
    decoder = AnswerDecoder(ChunkReader(Toolbox(params.tools, traits)), include_raw=bool(params.include_raw_chunks))
    events = SSEDecoder()
    parts = decoder.feed_events(events.feed(sse(*chunks)))
    parts += decoder.feed_events(events.end(), is_rest=True)
    parts += decoder.end()
    rules = StreamRules("the decoder", strict=True)
    for part in parts:
        rules.feed(part)
    rules.ended()
    return parts


def collected(*chunks: JsonValue, params: CallOptions = HELLO) -> GenerateResult:
    """What a stream collects to."""
    collector = Collector()
    for part in decoded(*chunks, params=params):
        collector.feed(part)
    return collector.result()


def read(body: JsonValue, params: CallOptions = HELLO) -> GenerateResult:
    """The result that a whole answer holds."""
    return to_result(body, Toolbox(params.tools, NEWEST))


def request(params: CallOptions, model_id: str = "gemini-x", traits: ModelTraits = NEWEST) -> WireRequest:
    """The request for a call."""
    return to_request(model_id, params, traits)


def contents_of(*prompt: Message, traits: ModelTraits = NEWEST) -> list[JsonObject]:
    """The contents that a prompt becomes."""
    return objects_in(request(CallOptions(prompt=prompt), traits=traits).body, "contents")


def streamed(body: JsonObject) -> list[JsonObject]:
    """*body*, written as servers stream it: a chunk for each part, and what is said of the answer in the last."""
    found = objects_in(body, "candidates")[0]
    parts = objects_in(object_in(found, "content"), "parts")
    rest = {key: member for key, member in found.items() if key != "content"}
    ends: JsonObject = {**body, "candidates": [{**rest, "content": {"parts": [text("")], "role": "model"}}]}
    return [*(chunk(part) for part in parts), ends]


def play(*answers: JsonObject) -> Script:
    """Answer each request with the next of *answers*, streamed or whole as it asks; the last one for ever."""
    count = 0

    async def script(connection: Connection) -> None:
        nonlocal count
        now = answers[min(count, len(answers) - 1)]
        count += 1
        if ":streamGenerateContent?alt=sse" in connection.request.path:
            await stream(*(sse(each) for each in streamed(now)))(connection)
        else:
            await answer(dict(now))(connection)

    return script
