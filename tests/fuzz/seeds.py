"""What the fuzzer begins with: answers as each format writes them, recorded ones where they are there, and our own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onion.errors import JSONParseError
from onion.providers._json import parse_json
from onion.providers._sse import SSEDecoder
from onion.spec.base import JsonValue
from tests.providers.formats import FORMATS
from tests.recorded.exchanges import RECORDINGS, load_exchange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tests.providers.formats import Format

OWN: Mapping[str, Format] = {
    "anthropic": FORMATS["anthropic"],
    "gemini": FORMATS["google"],
    "openai-chat": FORMATS["chat"],
    "openai-responses": FORMATS["responses"],
}
"""The answers in `tests/providers`, under the names that the recordings use."""

LARGEST_BYTES = 200_000
"""Larger ones hold files, and are slow to no purpose."""
VALUES_PER_KEY = 40


@dataclass(frozen=True)
class Seed:
    """One answer.

    Attributes:
        chunks: The events of a stream; the one body of a whole answer.
        request: What was asked, if that was recorded.
    """

    chunks: tuple[JsonValue, ...]
    is_stream: bool


def seeds_of(name: str, recordings: Path = RECORDINGS) -> tuple[Seed, ...]:
    """The answers of one format, and failures in its words."""
    own = OWN[name]
    found = [
        Seed((own.text,), is_stream=False),
        Seed((own.call,), is_stream=False),
        Seed((own.error("no"),), is_stream=False),
        Seed(tuple(_events(b"".join(own.text_events))), is_stream=True),
        Seed((*_events(b"".join(own.call_events)), own.error("no")), is_stream=True),
    ]
    for path in sorted(recordings.joinpath(name).glob("*.json")):
        exchange = load_exchange(path)
        if len(exchange.raw) <= LARGEST_BYTES:
            chunks = (exchange.body,) if exchange.sse is None else tuple(_events(exchange.sse))
            found.append(Seed(chunks, is_stream=exchange.sse is not None))
    return tuple(found)


def pool_of(seeds: Iterable[Seed]) -> Mapping[str, Sequence[JsonValue]]:
    """What stands under each key somewhere: values that a server might well put elsewhere."""
    pool: dict[str, list[JsonValue]] = defaultdict(list)
    for seed in seeds:
        for chunk in seed.chunks:
            for key, value in _members(chunk):
                if len(pool[key]) < VALUES_PER_KEY and value not in pool[key]:
                    pool[key].append(value)
    return dict(pool)


def _events(body: bytes) -> Iterator[JsonValue]:
    decoder = SSEDecoder()
    for event in (*decoder.feed(body), *decoder.end()):
        try:
            yield parse_json(event.data)
        except JSONParseError:
            yield event.data.decode("utf-8", "replace")


def _members(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        yield from value.items()
        for member in value.values():
            yield from _members(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _members(item)
