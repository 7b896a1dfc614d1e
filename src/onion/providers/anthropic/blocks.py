"""The content blocks of an answer as stream parts: one object per open block, fed with its deltas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from onion.providers._json import text_in
from onion.providers._surrogates import Halves
from onion.providers.anthropic.names import NAME
from onion.spec.content import Custom
from onion.spec.parts import ReasoningDelta, ReasoningEnd, ReasoningStart, TextDelta, TextEnd, TextStart

if TYPE_CHECKING:
    from onion.providers.anthropic.sources import Sources
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart


class Block(Protocol):
    """A block that is open."""

    def feed(self, delta: JsonObject, parts: list[StreamPart]) -> None:
        """More of it; unknown deltas are skipped."""
        ...

    def end(self, parts: list[StreamPart], *, is_whole: bool = True) -> None:
        """No more of it; not *is_whole* where the answer failed before."""
        ...


class TextBlock:
    """Text, with the sources it cites."""

    def __init__(self, block_id: str, block: JsonObject, sources: Sources, parts: list[StreamPart]) -> None:
        self._id = block_id
        self._sources = sources
        self._halves = Halves()
        self._citations: list[JsonValue] = []
        parts.append(TextStart(id=block_id))
        cited = block.get("citations")
        for citation in cited if isinstance(cited, list) else ():
            self._cite(citation, parts)
        self._say(text_in(block, "text"), parts)

    def feed(self, delta: JsonObject, parts: list[StreamPart]) -> None:
        """More text, or a citation."""
        if "citation" in delta:
            self._cite(delta["citation"], parts)
        text = delta.get("text")
        if text and isinstance(text, str):
            said = self._halves.feed(text)
            if said:
                parts.append(TextDelta(id=self._id, delta=said))

    def end(self, parts: list[StreamPart], *, is_whole: bool = True) -> None:
        """The text is whole."""
        del is_whole
        rest = self._halves.end()
        if rest:
            parts.append(TextDelta(id=self._id, delta=rest))
        told: JsonObject | None = {"citations": self._citations} if self._citations else None
        parts.append(TextEnd(id=self._id, provider_metadata={NAME: told} if told else None))

    def _say(self, text: str, parts: list[StreamPart]) -> None:
        said = self._halves.feed(text) if text else ""
        if said:
            parts.append(TextDelta(id=self._id, delta=said))

    def _cite(self, citation: JsonValue, parts: list[StreamPart]) -> None:
        if isinstance(citation, dict):
            self._citations.append(citation)
            parts.append(self._sources.of_citation(citation))


class ThinkingBlock:
    """Reasoning, whose signature the next request must carry; redacted reasoning is data alone."""

    def __init__(self, block_id: str, block: JsonObject, parts: list[StreamPart]) -> None:
        self._id = block_id
        self._halves = Halves()
        self._signature = text_in(block, "signature")
        self._redacted = text_in(block, "data")
        parts.append(ReasoningStart(id=block_id, provider_metadata=self._metadata() if self._redacted else None))
        self._think(text_in(block, "thinking"), parts)

    def feed(self, delta: JsonObject, parts: list[StreamPart]) -> None:
        """More reasoning, or its signature."""
        self._signature += text_in(delta, "signature")
        self._think(text_in(delta, "thinking"), parts)

    def end(self, parts: list[StreamPart], *, is_whole: bool = True) -> None:
        """The reasoning is whole."""
        del is_whole
        rest = self._halves.end()
        if rest:
            parts.append(ReasoningDelta(id=self._id, delta=rest))
        parts.append(ReasoningEnd(id=self._id, provider_metadata=self._metadata() if self._signature else None))

    def _think(self, text: str, parts: list[StreamPart]) -> None:
        thought = self._halves.feed(text) if text else ""
        if thought:
            parts.append(ReasoningDelta(id=self._id, delta=thought))

    def _metadata(self) -> dict[str, JsonObject]:
        return {NAME: {"redactedData": self._redacted} if self._redacted else {"signature": self._signature}}


class OtherBlock:
    """A block that nobody here knows: it is kept as it is, and goes back so."""

    def __init__(self, block: JsonObject) -> None:
        self._block = dict(block)

    def feed(self, delta: JsonObject, parts: list[StreamPart]) -> None:
        """Texts grow, and other members are replaced."""
        del parts
        for key, found in delta.items():
            before = self._block.get(key)
            if key != "type":
                self._block[key] = before + found if isinstance(before, str) and isinstance(found, str) else found

    def end(self, parts: list[StreamPart], *, is_whole: bool = True) -> None:
        """Hand it out."""
        if is_whole:
            kind = f"{NAME}.{text_in(self._block, 'type') or 'unknown'}"
            parts.append(Custom(kind=kind, provider_metadata={NAME: {"block": self._block}}))
