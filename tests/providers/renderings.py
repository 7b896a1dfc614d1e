"""One answer as every format streams it: blocks of text and reasoning, calls, and why it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from onion.spec.base import JsonObject, JsonValue

Kind: TypeAlias = Literal["text", "reasoning", "call"]
Events: TypeAlias = list[JsonObject]


@dataclass(frozen=True)
class Block:
    """A piece of an answer.

    Attributes:
        pieces: Its text, as it comes; of a call the arguments.
        id: Of the call.
        name: Of the tool.
    """

    kind: Kind
    pieces: Sequence[str]
    id: str = ""
    name: str = ""

    @property
    def whole(self) -> str:
        """All pieces."""
        return "".join(self.pieces)


@dataclass(frozen=True)
class Rendering:
    """How a format writes an answer.

    Attributes:
        start: What comes before everything.
        block: The events of one block, by its number: one that begins it, one for each piece, and one that ends it,
            where the format has them.
        end: The events that end the answer, by its reason in the format's words.
        reasons: Those words, by ours.
        error: A failure in the middle of the stream, with a message.
    """

    start: Events
    block: Callable[[int, Block], Events]
    end: Callable[[str], Events]
    reasons: Mapping[str, str]
    error: Callable[[str], JsonObject]

    def body(self, blocks: Sequence[Block], reason: str | None = "stop", *, is_interleaved: bool = False) -> Events:
        """The events of an answer; without a reason it stops short."""
        told = [self.block(number, block) for number, block in enumerate(blocks)]
        middle = interleaved(told) if is_interleaved else [event for events in told for event in events]
        return [*self.start, *middle, *(self.end(self.reasons[reason]) if reason else [])]


def interleaved(blocks: Sequence[Events]) -> Events:
    """The first event of every block, then the second of every block from the last to the first, and so on."""
    rows = [[block[place] for block in blocks if place < len(block)] for place in range(max(map(len, blocks)))]
    return [event for number, row in enumerate(rows) for event in (row[::-1] if number % 2 else row)]


def sse(events: Sequence[JsonObject]) -> str:
    """Events as they are sent, with what is not ASCII as it is."""
    return "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)


def _anthropic_block(number: int, block: Block) -> Events:
    begun: dict[Kind, JsonObject] = {
        "text": {"type": "text", "text": ""},
        "reasoning": {"type": "thinking", "thinking": "", "signature": ""},
        "call": {"type": "tool_use", "id": block.id, "name": block.name, "input": {}},
    }
    kinds = {"text": ("text_delta", "text"), "reasoning": ("thinking_delta", "thinking")}
    kind, key = kinds.get(block.kind, ("input_json_delta", "partial_json"))
    delta: JsonObject = {"type": "content_block_delta", "index": number}
    return [
        {"type": "content_block_start", "index": number, "content_block": begun[block.kind]},
        *_each(block, lambda piece: {**delta, "delta": {"type": kind, key: piece}}),
        {"type": "content_block_stop", "index": number},
    ]


def _each(block: Block, event: Callable[[str], JsonObject]) -> Events:
    return [event(piece) for piece in block.pieces]


def _anthropic_end(reason: str) -> Events:
    usage: JsonObject = {"output_tokens": 2}
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}, {"type": "message_stop"}]


_ANTHROPIC = Rendering(
    start=[{"type": "message_start", "message": {"id": "m", "model": "m-1", "usage": {"input_tokens": 3}}}],
    block=_anthropic_block,
    end=_anthropic_end,
    reasons={
        "stop": "end_turn",
        "tool-calls": "tool_use",
        "length": "max_tokens",
        "content-filter": "refusal",
        "other": "weird",
    },
    error=lambda message: {"type": "error", "error": {"type": "overloaded_error", "message": message}},
)


def _chat_block(number: int, block: Block) -> Events:
    if block.kind == "call":
        head: JsonObject = {"index": number, "id": block.id, "type": "function", "function": {"name": block.name}}
        deltas: Events = [head, *_each(block, lambda piece: {"index": number, "function": {"arguments": piece}})]
        return [_chunk({"tool_calls": [delta]}) for delta in deltas]
    return _each(block, lambda piece: _chunk({"content" if block.kind == "text" else "reasoning_content": piece}))


def _chunk(delta: JsonObject, reason: str | None = None) -> JsonObject:
    return {"id": "cc", "model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


_CHAT = Rendering(
    start=[_chunk({"role": "assistant", "content": ""})],
    block=_chat_block,
    end=lambda reason: [_chunk({}, reason)],
    reasons={
        "stop": "stop",
        "tool-calls": "tool_calls",
        "length": "length",
        "content-filter": "content_filter",
        "other": "weird",
    },
    error=lambda message: {"error": {"message": message, "code": "server_error"}},
)


def _gemini_block(number: int, block: Block) -> Events:
    del number
    if block.kind == "call":
        return [_candidate({"functionCall": {"id": block.id, "name": block.name, "args": json.loads(block.whole)}})]
    thought: JsonObject = {"thought": True} if block.kind == "reasoning" else {}
    return _each(block, lambda piece: _candidate({"text": piece, **thought}))


def _candidate(*parts: JsonObject, **more: JsonValue) -> JsonObject:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}]}


_GEMINI = Rendering(
    start=[],
    block=_gemini_block,
    end=lambda reason: [_candidate(finishReason=reason)],
    reasons={
        "stop": "STOP",
        "tool-calls": "STOP",
        "length": "MAX_TOKENS",
        "content-filter": "SAFETY",
        "other": "WEIRD",
    },
    error=lambda message: {"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}},
)


def _responses_block(number: int, block: Block) -> Events:
    place: JsonObject = {"output_index": number}
    said: JsonValue = [{"type": "output_text", "text": block.whole, "annotations": []}]
    call: JsonObject = {"type": "function_call", "id": f"i{number}", "call_id": block.id, "name": block.name}
    thought: JsonValue = [{"type": "reasoning_text", "text": block.whole}]
    items: dict[Kind, JsonObject] = {
        "text": {"type": "message", "id": f"i{number}", "role": "assistant", "content": said},
        "reasoning": {"type": "reasoning", "id": f"i{number}", "summary": [], "content": thought},
        "call": {**call, "arguments": block.whole},
    }
    kinds = {"text": "output_text", "reasoning": "reasoning_text", "call": "function_call_arguments"}
    empty: JsonObject = {"content": [], "arguments": ""}
    item = items[block.kind]
    begun: JsonObject = {key: empty.get(key, found) for key, found in item.items()}
    return [
        {"type": "response.output_item.added", **place, "item": begun},
        *_each(block, lambda piece: {"type": f"response.{kinds[block.kind]}.delta", **place, "delta": piece}),
        {"type": "response.output_item.done", **place, "item": item},
    ]


def _responses_end(reason: str) -> Events:
    if reason == "completed":
        return [{"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}]
    told: JsonObject = {"id": "r", "status": "incomplete", "incomplete_details": {"reason": reason}, "output": []}
    return [{"type": "response.incomplete", "response": told}]


_RESPONSES = Rendering(
    start=[{"type": "response.created", "response": {"id": "r", "model": "m-1", "status": "in_progress"}}],
    block=_responses_block,
    end=_responses_end,
    reasons={
        "stop": "completed",
        "tool-calls": "completed",
        "length": "max_output_tokens",
        "content-filter": "content_filter",
        "other": "weird",
    },
    error=lambda message: {"type": "error", "error": {"type": "server_error", "message": message}},
)

RENDERINGS: Mapping[str, Rendering] = {
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
}
"""By the names that the cases use."""
