"""Answers that no server sends, made of ones that servers do send by changes to their JSON and to their bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from onion.spec.base import JsonValue
    from tests.fuzz.seeds import Seed


def _nested(depth: int) -> JsonValue:
    value: JsonValue = 0
    for _ in range(depth):
        value = [value]
    return value


ODD: Sequence[JsonValue] = (
    *(None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**64, 10**30, 10**400, -(10**30), 0.5, -0.0, 1e308, 1e-320),
    *(float("nan"), float("inf"), float("-inf")),
    *("", " ", "0", "-1", "1e999", "null", "[DONE]", "{", "{}", "[]", '"', "data:", "\n\n", "a" * 3000, "\0"),
    *("\ud83d", "\ude00", "\ud83d\ude00", "\U0001f9c5", "\u2028", "\ufeff", "e\u0301", "data:,", "http://[", "AAAA"),
    *([], {}, [None], [[]], [{}], {"": ""}, {"type": None}, {"type": {}}, [{"type": "text"}], _nested(60)),
)
"""Values that a careless reader trips over."""

BYTES = (
    *(b"\r", b"\n", b"\r\n", b"\n\n", b"\0", b"\xff", b"\xc3", b"\xf0\x9f", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(b": ping\n", b"data:", b"data: [DONE]\n\n", b"event: error\n", b"error: ", b"id: 1\n", b"retry: 1\n"),
    *(b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\\u", b"\\ud83d", b"NaN", b"-", b"9" * 5000, b"[" * 3000),
)


class Mutator:
    """Draws changed answers.

    Args:
        random: Where every choice comes from: with the same seed the same answers come.
        pool: What stands under which key somewhere.
    """

    def __init__(self, random: Random, pool: Mapping[str, Sequence[JsonValue]]) -> None:
        self._random = random
        self._pool = pool
        self._keys = sorted(pool)

    def whole(self, seed: Seed) -> bytes:
        """A whole answer."""
        return self._torn(self._dumped(self.changed(seed.chunks[0])))

    def stream(self, seed: Seed, other: Seed) -> bytes:
        """A stream of events; some may be those of *other*."""
        chunks = self._reordered(list(seed.chunks), other.chunks)
        for _ in range(self._random.choice((0, 1, 1, 2, 3))):
            if chunks:
                place = self._random.randrange(len(chunks))
                chunks[place] = self.changed(chunks[place])
        return self._torn(b"".join(map(self._framed, chunks)) + self._random.choice((b"", b"data: [DONE]\n\n")))

    def changed(self, value: JsonValue) -> JsonValue:
        """*value* with a few changes, or none."""
        for _ in range(self._random.choice((0, 1, 1, 1, 2, 4))):
            value = self._changed(value)
        return value

    def cut(self, body: bytes) -> list[bytes]:
        """*body* as a network might deliver it."""
        places = sorted(self._random.randrange(len(body) + 1) for _ in range(self._random.choice((1, 2, 9))))
        return [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]

    def _reordered(self, chunks: list[JsonValue], others: Sequence[JsonValue]) -> list[JsonValue]:
        choice, random = self._random.random(), self._random
        if not chunks or choice < 0.4:
            return chunks
        first, last = sorted((random.randrange(len(chunks) + 1), random.randrange(len(chunks) + 1)))
        some = list(others[: random.randrange(1, 6)]) if random.random() < 0.5 else list(others[-3:])
        return random.choice(
            (
                chunks[:last],
                chunks[first:],
                chunks[:first] + chunks[last:],
                chunks[:last] + chunks[first:],
                chunks[:first] + some + chunks[first:],
                chunks[:first] + list(reversed(chunks[first:last])) + chunks[last:],
            )
        )

    def _changed(self, value: JsonValue) -> JsonValue:
        if isinstance(value, dict) and value and self._random.random() < 0.9:
            return self._changed_object(dict(value))
        if isinstance(value, list | tuple) and value and self._random.random() < 0.9:
            return self._changed_list(list(value))
        return self._instead_of(value)

    def _changed_object(self, found: dict[str, JsonValue]) -> JsonValue:
        key = self._random.choice(list(found))
        match self._random.randrange(10):
            case 0:
                del found[key]
            case 1:
                found[self._any_key()] = found.pop(key)
            case 2:
                other = self._any_key()
                found[other] = self._pooled(other)
            case 3:
                found[key] = self._pooled(key)
            case _:
                found[key] = self._changed(found[key])
        return found

    def _changed_list(self, found: list[JsonValue]) -> JsonValue:
        place = self._random.randrange(len(found))
        match self._random.randrange(8):
            case 0:
                del found[place]
            case 1:
                found.insert(place, found[self._random.randrange(len(found))])
            case 2:
                found.reverse()
            case 3:
                found.insert(place, self._pooled(self._any_key()))
            case _:
                found[place] = self._changed(found[place])
        return found

    def _instead_of(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str) and value and self._random.random() < 0.4:
            place = self._random.randrange(len(value))
            return self._random.choice((value[:place], value[place:], value + value, [value], {"text": value}))
        if self._random.random() < 0.2:
            return self._pooled(self._any_key())
        return self._random.choice(ODD)

    def _any_key(self) -> str:
        return self._random.choice(self._keys)

    def _pooled(self, key: str) -> JsonValue:
        return self._random.choice(self._pool.get(key) or ODD)

    def _framed(self, chunk: JsonValue) -> bytes:
        lines = self._dumped(chunk).split(b"\n")
        kind = chunk.get("type") if isinstance(chunk, dict) else None
        name = b"event: " + str(kind).encode("utf-8", "replace") + b"\n" if self._random.random() < 0.3 else b""
        end = b"\r\n" if self._random.random() < 0.1 else b"\n"
        return name + b"".join(b"data: " + line + end for line in lines) + end

    def _dumped(self, value: JsonValue) -> bytes:
        if isinstance(value, str) and self._random.random() < 0.9:
            return value.encode("utf-8", "surrogatepass")
        is_ascii = self._random.random() < 0.5
        indent = 1 if self._random.random() < 0.05 else None
        return json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode("utf-8", "surrogatepass")

    def _torn(self, body: bytes) -> bytes:
        if self._random.random() < 0.7:
            return body
        for _ in range(self._random.choice((1, 1, 2, 5))):
            first, last = sorted((self._random.randrange(len(body) + 1), self._random.randrange(len(body) + 1)))
            near = min(last, first + self._random.choice((0, 1, 1, 4, 40)))
            body = self._random.choice(
                (body[:first] + self._random.choice(BYTES) + body[near:], body[:first] + body[near:], body[:last])
            )
        return body
