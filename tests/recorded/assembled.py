"""A recorded stream put together as the whole answer that the same server would have sent, without our decoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import object_in, objects_in, parse_json, text_in
from tests.recorded.checks import events_of
from tests.recorded.exchanges import members
from tests.recorded.rounds import said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec.base import JsonObject, JsonValue
    from tests.recorded.exchanges import Exchange

_OF_CHUNK = ("choices", "object", "obfuscation")
_ONCE = ("id", "model", "created")


def chunks_of(body: bytes) -> list[JsonObject]:
    """The JSON of a stream's events."""
    return [members(parse_json(event.data)) for event in events_of([body]) if event.data != b"[DONE]"]


def whole_of(exchange: Exchange) -> JsonObject:
    """The whole answer."""
    assert exchange.sse is not None
    return _WHOLE[exchange.provider](chunks_of(exchange.sse), said(exchange))


def _responses(chunks: Sequence[JsonObject], items: Sequence[JsonValue]) -> JsonObject:
    (last,) = [chunk for chunk in chunks if chunk.get("type") in ("response.completed", "response.incomplete")]
    beside = {key: found for key, found in last.items() if key not in ("type", "response", "sequence_number")}
    return {**object_in(last, "response"), "output": list(items), **beside}


def _anthropic(chunks: Sequence[JsonObject], blocks: Sequence[JsonValue]) -> JsonObject:
    whole: dict[str, JsonValue] = {}
    for chunk in chunks:
        usage = {**object_in(whole, "usage"), **object_in(chunk, "usage")}
        if chunk.get("type") == "message_start":
            whole |= object_in(chunk, "message")
        elif chunk.get("type") == "message_delta":
            beside = {key: found for key, found in chunk.items() if key not in ("type", "delta")}
            whole |= {**object_in(chunk, "delta"), **beside, "usage": usage}
    return {**whole, "content": list(blocks)}


def _gemini(chunks: Sequence[JsonObject], parts: Sequence[JsonValue]) -> JsonObject:
    whole: dict[str, JsonValue] = {}
    candidate: dict[str, JsonValue] = {}
    for chunk in chunks:
        usage = {**object_in(whole, "usageMetadata"), **object_in(chunk, "usageMetadata")}
        whole |= {**chunk, "usageMetadata": usage}
        for found in objects_in(chunk, "candidates"):
            candidate |= {key: member for key, member in found.items() if member != {}}
    return {**whole, "candidates": [{**candidate, "content": {"role": "model", "parts": list(parts)}}]}


def _chat(chunks: Sequence[JsonObject], pieces: Sequence[JsonValue]) -> JsonObject:
    whole: dict[str, JsonValue] = {}
    choice: dict[str, JsonValue] = {}
    message: dict[str, JsonValue] = {}
    calls: list[JsonValue] = []
    for chunk in chunks:
        _take(whole, {key: found for key, found in chunk.items() if key not in _OF_CHUNK})
        for found in objects_in(chunk, "choices"):
            _take(choice, {key: member for key, member in found.items() if key != "delta"})
    for piece in map(members, pieces):
        if "arguments" in piece:
            function = {"name": piece.get("name"), "arguments": piece["arguments"]}
            calls.append({**piece, "function": function})
        else:
            message |= {key: _joined(message.get(key), found) for key, found in piece.items()}
    return {**whole, "choices": [{**choice, "message": {**message, "tool_calls": calls}}]}


def _take(into: dict[str, JsonValue], told: JsonObject) -> None:
    """What says something; the first id, name and time count, and of all else the last."""
    for key, found in told.items():
        if found in (None, "") or (key in _ONCE and (not found or key in into)):
            continue
        known = into.get(key)
        into[key] = {**known, **found} if isinstance(known, dict) and isinstance(found, dict) else found


def _joined(before: JsonValue, more: JsonValue) -> JsonValue:
    if isinstance(before, str) and isinstance(more, str) and before not in ("assistant", "analysis"):
        return before + more
    if isinstance(before, list) and isinstance(more, str):
        return _merged([*before, {"type": "text", "text": more}])
    if isinstance(before, list) and isinstance(more, list):
        return _merged([*before, *more])
    return before if more is None else more


def _merged(details: list[JsonValue]) -> list[JsonValue]:
    """Pieces of one text in a list as one piece."""
    merged: list[JsonValue] = []
    for piece in details:
        last = merged[-1] if merged else None
        if isinstance(last, Mapping) and isinstance(piece, Mapping) and last.get("type") == piece.get("type"):
            joined = {key: text_in(last, key) + text_in(piece, key) for key in ("text", "summary") if key in piece}
            thinking = [*objects_in(last, "thinking"), *objects_in(piece, "thinking")]
            merged[-1] = {**last, **piece, **joined, **({"thinking": thinking} if thinking else {})}
        else:
            merged.append(piece)
    return merged


_WHOLE = {"anthropic": _anthropic, "gemini": _gemini, "openai-chat": _chat, "openai-responses": _responses}
