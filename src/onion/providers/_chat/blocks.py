"""The blocks of text and reasoning in an answer: which one is open, and the parts that open and close it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from onion.providers._json import NOTHING
from onion.providers._surrogates import Halves
from onion.spec.parts import ReasoningDelta, ReasoningEnd, ReasoningStart, TextDelta, TextEnd, TextStart

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

Kind: TypeAlias = Literal["text", "refusal", "reasoning"]


class Blocks:
    """One block is open at a time, so that nobody shows the answer mixed with the thinking.

    Args:
        name: Key of the provider metadata.
    """

    def __init__(self, name: str) -> None:
        self.is_refusal = False
        self._name = name
        self._kind: Kind | None = None
        self._id = ""
        self._number = 0
        self._halves = Halves()
        self._field = ""
        self._details: list[JsonObject] = []

    def add_text(self, text: str, parts: list[StreamPart], kind: Kind = "text") -> None:
        """More of the answer, or of a refusal."""
        if self._kind != kind:
            self._open(kind, parts)
            told: JsonObject | None = {"refusal": True} if kind == "refusal" else None
            self.is_refusal = self.is_refusal or kind == "refusal"
            parts.append(TextStart(id=self._id, provider_metadata={self._name: told} if told else None))
        text = self._halves.feed(text)
        if text:
            parts.append(TextDelta(id=self._id, delta=text))

    def add_reasoning(self, text: str, parts: list[StreamPart], field: str) -> None:
        """More reasoning, which came in the member *field* of the message."""
        self._open_reasoning(parts, field)
        self._field = self._field or field  # a block that began with details learns it late
        text = self._halves.feed(text)
        if text:
            parts.append(ReasoningDelta(id=self._id, delta=text))

    def add_details(self, details: list[JsonObject], parts: list[StreamPart], *, is_whole: bool) -> None:
        """Signatures and encrypted reasoning, which the next request must carry.

        They belong to the reasoning that is open. Behind text they wait for the next block: what is being read is not
        cut for them.
        """
        if self._kind is None:
            self._open_reasoning(parts, "")
        if is_whole:
            self._details += details
        else:
            merge_details(self._details, details)

    def close(self, parts: list[StreamPart], told: JsonObject = NOTHING) -> None:
        """End the open block, if there is one."""
        if self._kind is None:
            return
        rest = self._halves.end()
        if self._kind == "reasoning":
            if rest:
                parts.append(ReasoningDelta(id=self._id, delta=rest))
            parts.append(ReasoningEnd(id=self._id, provider_metadata=self._metadata() if self._details else None))
            self._details = []
        else:
            if rest:
                parts.append(TextDelta(id=self._id, delta=rest))
            metadata: JsonObject = {"message": told} if told else {}
            metadata = {"refusal": True, **metadata} if metadata and self._kind == "refusal" else metadata
            parts.append(TextEnd(id=self._id, provider_metadata={self._name: metadata} if metadata else None))
        self._kind = None

    def end(self, parts: list[StreamPart], *, told: JsonObject = NOTHING) -> None:
        """End what is open, and hand out details that came too late for a block of their own.

        Args:
            parts: Where the stream parts go.
            told: What the message carries back as a whole; it travels with text that is open.
        """
        self.close(parts, told)
        if self._details:
            self._open_reasoning(parts, "")
            self.close(parts)

    def _open_reasoning(self, parts: list[StreamPart], field: str) -> None:
        if self._kind != "reasoning":
            self._open("reasoning", parts)
            self._field = field
            parts.append(ReasoningStart(id=self._id, provider_metadata=self._metadata() if field else None))

    def _open(self, kind: Kind, parts: list[StreamPart]) -> None:
        self.close(parts)
        self._kind = kind
        self._id = str(self._number)
        self._number += 1

    def _metadata(self) -> dict[str, JsonObject]:
        told: dict[str, JsonValue] = {}
        if self._field:
            told["reasoning_field"] = self._field
        if self._details:
            told["reasoning_details"] = list(self._details)
        return {self._name: told}


_GROWING = ("text", "summary")


def merge_details(known: list[JsonObject], more: list[JsonObject]) -> None:
    """Add the pieces of a streamed chunk to the details that they continue (OpenRouter, "Reasoning tokens")."""
    for piece in more:
        last = known[-1] if known else None
        if last is None or not _continues(last, piece):
            known.append(piece)
            continue
        merged = dict(last)
        for key, found in piece.items():
            before = merged.get(key)
            if key in _GROWING and isinstance(before, str) and isinstance(found, str):
                merged[key] = before + found
            elif found is not None:
                merged[key] = found
        known[-1] = merged


def _continues(last: JsonObject, piece: JsonObject) -> bool:
    """Encrypted data comes whole, and another id is another thought."""
    if any(last.get(key) != piece.get(key) for key in ("type", "index")) or "data" in piece:
        return False
    return piece.get("id") is None or last.get("id") in (None, piece["id"])
