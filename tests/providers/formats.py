"""The wire formats side by side: one model of each, and the same answers as each writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from onion.providers import HTTPClient, openai_compatible
from onion.providers.anthropic import Anthropic
from onion.providers.google import Google
from onion.providers.openai import OpenAI
from onion.spec.base import JsonObject, JsonValue
from onion.spec.model import LanguageModel
from tests.providers.loopback import Connection, Script, answer, stream

KEY = "sk-TESTKEY-123"


@dataclass(frozen=True)
class Format:
    """One wire format.

    Attributes:
        make: Gives a model, from the URL of a server and a client.
        text: An answer that says "Hello, world", for 3 tokens of input and 2 of output.
        text_events: The same, streamed; the first event with content is number `content_at`.
        call: An answer that calls the tool ``look`` with ``{"n": "a"}``.
        call_events: The same, streamed.
        error: What its servers say of a failure, with a message.
    """

    make: Callable[[str, HTTPClient | None], LanguageModel]
    text: JsonObject
    text_events: Sequence[bytes]
    content_at: int
    call: JsonObject
    call_events: Sequence[bytes]
    error: Callable[[str], JsonValue]

    def play(self, *, steps: Sequence[str] = ("text",)) -> Script:
        """Answer with one of *steps* after the other, whole or streamed as it is asked for; the last one for ever."""
        asked = 0

        async def script(connection: Connection) -> None:
            nonlocal asked
            step = steps[min(asked, len(steps) - 1)]
            asked += 1
            whole, events = (self.text, self.text_events) if step == "text" else (self.call, self.call_events)
            await (stream(*events) if is_streamed(connection) else answer(dict(whole)))(connection)

        return script


def is_streamed(connection: Connection) -> bool:
    """Whether a stream is asked for."""
    wanted = json.loads(connection.request.body)
    return bool(wanted.get("stream")) or ":streamGenerateContent" in connection.request.path


def _sse(*events: JsonObject) -> tuple[bytes, ...]:
    return tuple(f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def _plain_error(message: str) -> JsonValue:
    return {"error": {"message": message, "type": "some_error", "param": None, "code": None}}


def _chat_model(url: str, client: HTTPClient | None) -> LanguageModel:
    return openai_compatible(base_url=url, model="m-1", api_key=KEY, http_client=client)


_CHAT_USAGE: JsonObject = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
_CHAT_CALL: JsonObject = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n":"a"}'}}


def _choice(message: JsonObject, reason: str | None, place: str = "delta", **more: JsonValue) -> JsonObject:
    return {"id": "cc", "model": "m-1", "choices": [{"index": 0, place: message, "finish_reason": reason}], **more}


_CHAT = Format(
    make=_chat_model,
    text=_choice({"role": "assistant", "content": "Hello, world"}, "stop", "message", usage=_CHAT_USAGE),
    text_events=(
        *_sse(
            _choice({"role": "assistant", "content": ""}, None),
            _choice({"content": "Hello, "}, None),
            _choice({"content": "world"}, None),
            _choice({}, "stop", usage=_CHAT_USAGE),
        ),
        b"data: [DONE]\n\n",
    ),
    content_at=1,
    call=_choice({"role": "assistant", "tool_calls": [_CHAT_CALL]}, "tool_calls", "message", usage=_CHAT_USAGE),
    call_events=(
        *_sse(
            _choice({"tool_calls": [{"index": 0, **_CHAT_CALL}]}, None), _choice({}, "tool_calls", usage=_CHAT_USAGE)
        ),
        b"data: [DONE]\n\n",
    ),
    error=_plain_error,
)


def _responses_model(url: str, client: HTTPClient | None) -> LanguageModel:
    return OpenAI(base_url=url, api_key=KEY, http_client=client).responses("m-1")


def _response(item: JsonObject) -> JsonObject:
    usage: JsonObject = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    return {"id": "r", "object": "response", "model": "m-1", "status": "completed", "output": [item], "usage": usage}


def _item_events(item: JsonObject, begun: JsonObject, *deltas: JsonObject) -> tuple[bytes, ...]:
    pieces: list[JsonObject] = [{"output_index": 0, **delta} for delta in deltas]
    return _sse(
        {"type": "response.created", "response": {"id": "r", "model": "m-1", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, **begun}},
        *pieces,
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": _response(item)},
    )


_SAID: JsonObject = {"type": "output_text", "text": "Hello, world", "annotations": []}
_MESSAGE: JsonObject = {"type": "message", "id": "m", "role": "assistant", "content": [_SAID]}
_FUNCTION: JsonObject = {"type": "function_call", "id": "f", "call_id": "c1", "name": "look", "arguments": '{"n":"a"}'}
_TEXT_DELTA = "response.output_text.delta"

_RESPONSES = Format(
    make=_responses_model,
    text=_response(_MESSAGE),
    text_events=_item_events(
        _MESSAGE,
        {"content": []},
        {"type": _TEXT_DELTA, "content_index": 0, "delta": "Hello, "},
        {"type": _TEXT_DELTA, "content_index": 0, "delta": "world"},
    ),
    content_at=2,
    call=_response(_FUNCTION),
    call_events=_item_events(
        _FUNCTION, {"arguments": ""}, {"type": "response.function_call_arguments.delta", "delta": '{"n":"a"}'}
    ),
    error=_plain_error,
)


def _anthropic_model(url: str, client: HTTPClient | None) -> LanguageModel:
    return Anthropic(base_url=url, api_key=KEY, http_client=client).language_model("m-1")


def _turn(block: JsonObject | None, reason: str | None) -> JsonObject:
    usage: JsonObject = {"input_tokens": 3, "output_tokens": 2}
    content: list[JsonValue] = [] if block is None else [block]
    return {"id": "m", "type": "message", "role": "assistant", "model": "m-1", "content": content} | {
        "stop_reason": reason,
        "usage": usage,
    }


def _block_events(begun: JsonObject, reason: str, *deltas: JsonObject) -> tuple[bytes, ...]:
    pieces: list[JsonObject] = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    return _sse(
        {"type": "message_start", "message": _turn(None, None)},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        *pieces,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    )


def _anthropic_error(message: str) -> JsonValue:
    return {"type": "error", "error": {"type": "some_error", "message": message}}


_USE: JsonObject = {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": "a"}}
_ANTHROPIC = Format(
    make=_anthropic_model,
    text=_turn({"type": "text", "text": "Hello, world"}, "end_turn"),
    text_events=_block_events(
        {"type": "text", "text": ""},
        "end_turn",
        {"type": "text_delta", "text": "Hello, "},
        {"type": "text_delta", "text": "world"},
    ),
    content_at=2,
    call=_turn(_USE, "tool_use"),
    call_events=_block_events(
        {**_USE, "input": {}}, "tool_use", {"type": "input_json_delta", "partial_json": '{"n":"a"}'}
    ),
    error=_anthropic_error,
)


def _google_model(url: str, client: HTTPClient | None) -> LanguageModel:
    return Google(base_url=url, api_key=KEY, http_client=client).language_model("m-1")


def _candidates(*parts: JsonObject, reason: str | None = "STOP") -> JsonObject:
    usage: JsonObject = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
    candidate: JsonObject = {"content": {"role": "model", "parts": list(parts)}, "finishReason": reason, "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m-1", "responseId": "r"}


def _google_error(message: str) -> JsonValue:
    return {"error": {"message": message, "status": "SOME_ERROR"}}


_FUNCTION_CALL: JsonObject = {"functionCall": {"name": "look", "args": {"n": "a"}}, "thoughtSignature": "SIG"}
_GOOGLE = Format(
    make=_google_model,
    text=_candidates({"text": "Hello, world"}),
    text_events=_sse(_candidates({"text": "Hello, "}, reason=None), _candidates({"text": "world"})),
    content_at=0,
    call=_candidates(_FUNCTION_CALL),
    call_events=_sse(_candidates(_FUNCTION_CALL)),
    error=_google_error,
)

FORMATS: Mapping[str, Format] = {
    "anthropic": _ANTHROPIC,
    "chat": _CHAT,
    "google": _GOOGLE,
    "responses": _RESPONSES,
}
"""By name."""

every_format = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])
