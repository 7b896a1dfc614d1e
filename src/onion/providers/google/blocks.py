"""Text and reasoning of an answer as stream parts: one block after the other, ended by a signature or another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._surrogates import Halves
from onion.providers.google.names import NAME
from onion.spec.parts import ReasoningDelta, ReasoningEnd, ReasoningStart, TextDelta, TextEnd, TextStart

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart


class Block:
    """A block of text, or of reasoning, that is open.

    Args:
        block_id: Its id.
        parts: Where the stream parts go.
        is_thought: It is reasoning.
    """

    def __init__(self, block_id: str, parts: list[StreamPart], *, is_thought: bool) -> None:
        self.is_thought: bool = is_thought
        self._id = block_id
        self._delta = ReasoningDelta if is_thought else TextDelta
        self._halves = Halves()
        parts.append(ReasoningStart(id=block_id) if is_thought else TextStart(id=block_id))

    def say(self, text: str, parts: list[StreamPart]) -> str:
        """More of it, which is not empty; gives what of it was handed out."""
        said = self._halves.feed(text)
        if said:
            parts.append(self._delta(id=self._id, delta=said))
        return said

    def end(self, told: JsonObject, parts: list[StreamPart]) -> None:
        """It is whole; *told* is what stood beside it."""
        rest = self._halves.end()
        if rest:
            parts.append(self._delta(id=self._id, delta=rest))
        kept: dict[str, JsonValue] = {"thought": True, **told} if self.is_thought else dict(told)
        metadata = {NAME: kept} if kept else None
        end = ReasoningEnd if self.is_thought else TextEnd
        parts.append(end(id=self._id, provider_metadata=metadata))
