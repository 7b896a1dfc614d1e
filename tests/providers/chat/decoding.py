"""Chunks in, parts or the collected answer out, with every rule of the stream grammar checked on the way."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onion.providers._chat import ChunkReader
from onion.providers._model import AnswerDecoder
from onion.providers._sse import ServerSentEvent
from onion.streaming import Collector
from onion.testing.rules import StreamRules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult

NAME = "vendor"


def counting() -> Callable[[], str]:
    """Ids ``made-1``, ``made-2`` and so on."""
    numbers = itertools.count(1)
    return lambda: f"made-{next(numbers)}"


def chunk(delta: JsonObject | None = None, /, finish: str | None = None, **members: JsonValue) -> JsonObject:
    """A chunk with one choice; *members* stand beside the choices."""
    choice: JsonObject = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "cc-1", "model": "m-1", "created": 1_760_000_000, "choices": [choice], **members}


def said(text: str) -> JsonObject:
    """A chunk with text."""
    return chunk({"content": text})


def called(*fragments: JsonObject) -> JsonObject:
    """A chunk with fragments of tool calls."""
    return chunk({"tool_calls": list(fragments)})


def fragment(arguments: str | None = None, name: str | None = None, **members: JsonValue) -> JsonObject:
    """A fragment of a call; members that are None are left out."""
    function = {key: found for key, found in (("name", name), ("arguments", arguments)) if found is not None}
    return {"type": "function", "function": function, **members}


def checked(parts: Iterable[StreamPart]) -> list[StreamPart]:
    """The same parts, if they keep the grammar."""
    rules = StreamRules("the decoder", strict=True)
    found: list[StreamPart] = []
    for part in parts:
        rules.feed(part)
        found.append(part)
    rules.ended()
    return found


def parts_of(*chunks: JsonObject, done: bool = True, decoder: AnswerDecoder | None = None) -> list[StreamPart]:
    """All parts of a stream of *chunks*; *done* says whether the terminal marker came."""
    decoder = decoder or AnswerDecoder(ChunkReader(NAME, generate_id=counting()))
    parts = [part for each in chunks for part in decoder.feed(each)]
    if done:
        decoder.feed_events([ServerSentEvent(b"[DONE]")])
    return checked([*parts, *decoder.end()])


def collected(parts: Iterable[StreamPart]) -> GenerateResult:
    """The whole answer."""
    collector = Collector()
    for part in parts:
        collector.feed(part)
    return collector.result()


def decode(*chunks: JsonObject, done: bool = True) -> GenerateResult:
    """The collected answer of a stream of *chunks*."""
    return collected(parts_of(*chunks, done=done))
