"""Blocks of text and reasoning on their way through a run, under ids that stay unique in the whole full stream."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

from onion.spec.full_stream import ReasoningDeltaOutput, TextDeltaOutput
from onion.spec.parts import ReasoningDelta, ReasoningEnd, ReasoningStart, TextDelta, TextEnd, TextStart

if TYPE_CHECKING:
    from onion.spec.full_stream import FullStreamPart

BLOCK_PARTS = (TextDelta, ReasoningDelta, TextStart, TextEnd, ReasoningStart, ReasoningEnd)
"""Deltas first: they are asked for most. A tuple, because a union costs four times as much to ask."""
BlockPart: TypeAlias = TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd
Key: TypeAlias = tuple[bool, str]
"""Whether a block is text, and its id."""


class Blocks:
    """The blocks of a run. Providers number them anew in each answer; here a taken id is replaced."""

    __slots__ = ("_first_output", "_open", "_used")

    def __init__(self) -> None:
        self._open: dict[Key, str] = {}
        self._used: set[Key] = set()
        self._first_output: float | None = None

    def pass_on(self, part: BlockPart) -> FullStreamPart | None:
        """What the full stream shows of *part*; None for a delta without text, which says nothing.

        The block of a delta or an end must be open; the collector makes sure of it.
        """
        if isinstance(part, TextDelta):
            if not part.delta and part.provider_metadata is None:
                return None
            if self._first_output is None:
                self._first_output = time.perf_counter()
            shown = self._open[True, part.id]
            return TextDeltaOutput(id=shown, text=part.delta, provider_metadata=part.provider_metadata)
        if isinstance(part, ReasoningDelta):
            if self._first_output is None:
                self._first_output = time.perf_counter()
            shown = self._open[False, part.id]
            return ReasoningDeltaOutput(id=shown, text=part.delta, provider_metadata=part.provider_metadata)
        return self._boundary(part)

    def _boundary(self, part: TextStart | TextEnd | ReasoningStart | ReasoningEnd) -> FullStreamPart:
        key = isinstance(part, TextStart | TextEnd), part.id
        if isinstance(part, TextStart | ReasoningStart):
            shown = self._open[key] = self._free(key)
        else:
            shown = self._open.pop(key)
        return part if shown == part.id else type(part)(id=shown, provider_metadata=part.provider_metadata)

    def _free(self, key: Key) -> str:
        is_text, shown = key
        number = 1
        while (is_text, shown) in self._used:
            number += 1
            shown = f"{key[1]}-{number}"
        self._used.add((is_text, shown))
        return shown

    def end_step(self) -> float | None:
        """A step is over; when its first delta came."""
        first_output, self._first_output = self._first_output, None
        self._open.clear()
        return first_output

    def close(self) -> list[FullStreamPart]:
        """End the blocks that are open, because the step begins again."""
        ends: list[FullStreamPart] = [
            TextEnd(id=shown) if is_text else ReasoningEnd(id=shown) for (is_text, _), shown in self._open.items()
        ]
        self.end_step()
        return ends
