"""Reading streamed answers of a wire format, which the variant names, without a network: bytes in, parts out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx

from bench.adapters.onion_calls import QUESTION
from bench.server import answers
from bench.server.options import Options
from bench.workload import Params, Setups, Workload, streamed
from onion.providers import openai_compatible
from onion.providers.anthropic import Anthropic
from onion.providers.google import Google
from onion.providers.openai import OpenAI
from onion.spec.parts import TextDelta

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from onion import LanguageModel
    from onion.spec.base import JsonObject

URL = "http://127.0.0.1:1/v1"
EVENTS_PER_SEGMENT = 64
WORDS = answers.WORDS
USAGE = {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30}


class Segments(httpx.AsyncByteStream):
    """A body in segments of many events."""

    def __init__(self, events: list[bytes]) -> None:
        starts = range(0, len(events), EVENTS_PER_SEGMENT)
        self._segments = [b"".join(events[start : start + EVENTS_PER_SEGMENT]) for start in starts]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for segment in self._segments:
            yield segment


def sse(*events: JsonObject) -> list[bytes]:
    """The events as they are sent."""
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def words(count: int) -> Iterable[str]:
    """So many deltas."""
    return (WORDS[number % len(WORDS)] for number in range(count))


def chat(count: int) -> list[bytes]:
    """Chat completions."""
    return answers.events(Options(deltas=count), 0)


def responses(count: int) -> list[bytes]:
    """OpenAI's Responses."""
    message: JsonObject = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": []}
    answer: JsonObject = {"id": "r", "object": "response", "model": "m-1", "status": "completed"}
    place: JsonObject = {"item_id": "m", "output_index": 0, "content_index": 0, "logprobs": []}
    deltas: list[JsonObject] = [
        {"type": "response.output_text.delta", "sequence_number": number, **place, "delta": word}
        for number, word in enumerate(words(count))
    ]
    return sse(
        {"type": "response.created", "response": {**answer, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        *deltas,
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.completed", "response": {**answer, "output": [message], "usage": USAGE}},
    )


def anthropic(count: int) -> list[bytes]:
    """Anthropic's Messages."""
    message: JsonObject = {"id": "m", "type": "message", "role": "assistant", "model": "m-1", "content": []}
    deltas: list[JsonObject] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        for word in words(count)
    ]
    return sse(
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": USAGE}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    )


def google(count: int) -> list[bytes]:
    """Google's Gemini."""
    reasons = [None] * (count - 1) + ["STOP"]
    chunks: list[JsonObject] = [
        {
            "candidates": [
                {"content": {"parts": [{"text": word}], "role": "model"}, "finishReason": reason, "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30},
            "modelVersion": "m-1",
            "responseId": "r",
        }
        for word, reason in zip(words(count), reasons, strict=True)
    ]
    return [b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks]


BODIES = {"chat": chat, "responses": responses, "anthropic": anthropic, "google": google}


def model_of(name: str, client: httpx.AsyncClient) -> LanguageModel:
    """The model of a wire format."""
    match name:
        case "chat":
            return openai_compatible(base_url=URL, model="m-1", api_key="x", http_client=client)
        case "responses":
            return OpenAI(base_url=URL, api_key="x", http_client=client).responses("m-1")
        case "anthropic":
            return Anthropic(base_url=URL, api_key="x", http_client=client).language_model("m-1")
        case _:
            return Google(base_url=URL, api_key="x", http_client=client).language_model("m-1")


def stream(params: Params) -> Workload:
    """Read streams of text; an operation is a delta."""
    body = Segments(BODIES[params.variant](params.deltas))

    def respond(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=body)

    model = model_of(params.variant, httpx.AsyncClient(transport=httpx.MockTransport(respond)))

    async def deltas() -> AsyncIterator[str]:
        async with await model.do_stream(QUESTION) as result:
            async for part in result:
                if isinstance(part, TextDelta):
                    yield part.delta

    return streamed(deltas, params)


SETUPS: Setups = {"stream": stream}
