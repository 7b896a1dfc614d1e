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
    """The blocks of one step. Providers number them anew in each answer; here a taken id is replaced.

    Args:
        used: The ids that the run has shown so far; those of this step are added.

    Attributes:
        first_output: When the first delta came.
    """

    __slots__ = ("_open", "_used", "first_output")

    def __init__(self, used: set[Key]) -> None:
        self._open: dict[Key, str] = {}
        self._used = used
        self.first_output: float | None = None

    def pass_on(self, part: BlockPart) -> FullStreamPart | None:
        """What the full stream shows of *part*; None for a delta without text, which says nothing."""
        if isinstance(part, TextDelta):
            if not part.delta and part.provider_metadata is None:
                return None
            return TextDeltaOutput(
                id=self._shown((True, part.id)), text=part.delta, provider_metadata=part.provider_metadata
            )
        if isinstance(part, ReasoningDelta):
            return ReasoningDeltaOutput(
                id=self._shown((False, part.id)), text=part.delta, provider_metadata=part.provider_metadata
            )
        return self._boundary(part)

    def _shown(self, key: Key) -> str:
        if self.first_output is None:
            self.first_output = time.perf_counter()
        return self._open[key]

    def _boundary(self, part: TextStart | TextEnd | ReasoningStart | ReasoningEnd) -> FullStreamPart:
        key = isinstance(part, TextStart | TextEnd), part.id
        if isinstance(part, TextStart | ReasoningStart):
            shown = self._open[key] = self._free(key)
        else:
            shown = self._shown(key)
            del self._open[key]
        return part if shown == part.id else type(part)(id=shown, provider_metadata=part.provider_metadata)

    def _free(self, key: Key) -> str:
        is_text, shown = key
        number = 1
        while (is_text, shown) in self._used:
            number += 1
            shown = f"{key[1]}-{number}"
        self._used.add((is_text, shown))
        return shown

    def close(self) -> list[FullStreamPart]:
        """End the blocks that are open, because the step begins again."""
        ends: list[FullStreamPart] = [
            TextEnd(id=shown) if is_text else ReasoningEnd(id=shown) for (is_text, _), shown in self._open.items()
        ]
        self._open.clear()
        self.first_output = None
        return ends
