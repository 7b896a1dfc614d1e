"""Answers of the Messages API, written as Anthropic's servers write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onion.providers._json import dump_json, objects_in
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.anthropic import ModelTraits
from onion.providers.anthropic.context import context_of
from onion.providers.anthropic.events import EventReader
from onion.providers.anthropic.request import to_request
from onion.providers.anthropic.result import to_result
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

KEY = "sk-ant-TESTKEY-123"
NEWEST = ModelTraits()
HELLO = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))
USAGE: JsonObject = {"input_tokens": 3, "output_tokens": 1}


def message(*blocks: JsonObject, **more: JsonValue) -> dict[str, JsonValue]:
    """A whole answer with those content blocks."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
        **more,
    }


def text(said: str, **more: JsonValue) -> dict[str, JsonValue]:
    """A block of text."""
    return {"type": "text", "text": said, **more}


def start(**more: JsonValue) -> JsonObject:
    """The event that begins an answer."""
    return {"type": "message_start", "message": message(**{"stop_reason": None, **more})}


def block(index: int, content: JsonObject, *deltas: JsonObject) -> list[JsonObject]:
    """The events of one block."""
    begin: JsonObject = {"type": "content_block_start", "index": index, "content_block": content}
    more: list[JsonObject] = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [begin, *more, {"type": "content_block_stop", "index": index}]


def said(index: int, *pieces: str) -> list[JsonObject]:
    """The events of one block of text."""
    return block(index, text(""), *({"type": "text_delta", "text": piece} for piece in pieces))


def called(index: int, name: str, *pieces: str, call_id: str = "toolu_1", **more: JsonValue) -> list[JsonObject]:
    """The events of a call of the caller's tool."""
    content: JsonObject = {"type": "tool_use", "id": call_id, "name": name, "input": {}, **more}
    return block(index, content, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def over(reason: str | None = "end_turn", *, usage: JsonObject | None = None, **more: JsonValue) -> list[JsonObject]:
    """The events that end an answer."""
    delta: JsonObject = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": usage or {"output_tokens": 9}, **more},
        {"type": "message_stop"},
    ]


def sse(*events: JsonObject) -> bytes:
    """Events as they go over the wire."""
    return b"".join(f"event: {event.get('type')}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def decoded(*events: JsonObject, params: CallOptions = HELLO, traits: ModelTraits = NEWEST) -> list[StreamPart]:
    """The parts of a stream, which keep the grammar."""
    decoder = AnswerDecoder(EventReader(context_of(params, traits)))
    events_of = SSEDecoder()
    parts = decoder.feed_events(events_of.feed(sse(*events)))
    parts += decoder.feed_events(events_of.end(), is_rest=True)
    parts += decoder.end()
    rules = StreamRules("the decoder", strict=True)
    for part in parts:
        rules.feed(part)
    rules.ended()
    return parts


def collected(*events: JsonObject, params: CallOptions = HELLO, traits: ModelTraits = NEWEST) -> GenerateResult:
    """What a stream collects to."""
    collector = Collector()
    for part in decoded(*events, params=params, traits=traits):
        collector.feed(part)
    return collector.result()


def read(body: JsonValue, params: CallOptions = HELLO, traits: ModelTraits = NEWEST) -> GenerateResult:
    """The result that a whole answer holds."""
    return to_result(body, context_of(params, traits))


def request(params: CallOptions, model_id: str = "claude-x", traits: ModelTraits = NEWEST) -> WireRequest:
    """The request for a call."""
    return to_request(model_id, params, traits)


def messages_of(*prompt: Message, traits: ModelTraits = NEWEST) -> list[JsonObject]:
    """The messages that a prompt becomes."""
    return objects_in(request(CallOptions(prompt=prompt), traits=traits).body, "messages")


def streamed(whole: JsonObject) -> list[JsonObject]:
    """The events of *whole*, written as servers stream it."""
    events: list[JsonObject] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for index, content in enumerate(objects_in(whole, "content")):
        events += block(index, *_in_pieces(content))
    delta: dict[str, JsonValue] = {"stop_reason": whole.get("stop_reason"), "stop_sequence": None}
    if whole.get("container"):
        delta["container"] = whole["container"]
    return [*events, {"type": "message_delta", "delta": delta, "usage": whole["usage"]}, {"type": "message_stop"}]


def _in_pieces(content: JsonObject) -> list[JsonObject]:
    """What a block begins with, and its deltas."""
    match content["type"]:
        case "text":
            cited: list[JsonObject] = [
                {"type": "citations_delta", "citation": citation} for citation in objects_in(content, "citations")
            ]
            return [text(""), *cited, {"type": "text_delta", "text": content["text"]}]
        case "thinking":
            thought: JsonObject = {"type": "thinking_delta", "thinking": content["thinking"]}
            signed: JsonObject = {"type": "signature_delta", "signature": content["signature"]}
            return [{**content, "thinking": "", "signature": ""}, thought, signed]
        case "tool_use" | "server_tool_use":
            written = dump_json(content["input"]).decode()
            pieces = ["", written[:3], written[3:]]
            deltas: list[JsonObject] = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            return [{**content, "input": {}}, *deltas]
        case _:
            return [content]


def play(*answers: JsonObject) -> Script:
    """Answer each request with the next of *answers*, streamed or whole as it asks; the last one for ever."""
    count = 0

    async def script(connection: Connection) -> None:
        nonlocal count
        now = answers[min(count, len(answers) - 1)]
        count += 1
        if json.loads(connection.request.body).get("stream"):
            await stream(*(sse(event) for event in streamed(now)))(connection)
        else:
            await answer(dict(now))(connection)

    return script
