"""SmoothStream: hands streamed text out in even pieces, words or lines, whatever pieces the provider sends.

Goes outermost, next to the reader: layers inside see the provider's own pieces. It only streams; a whole answer has no
pieces. The text of a piece waits until the piece is whole; every other part goes out at once, after what waits.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import InvalidArgumentError
from onion.spec.parts import ReasoningDelta, TextDelta
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.base import ProviderMetadata
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.spec.stream import StreamResult
    from onion.wrap import DoGenerate, DoStream, Mode

DELAY_SECONDS = 0.01
PATTERNS = {"word": re.compile(r"\S+\s+"), "line": re.compile(r"\n+")}

Chunking: TypeAlias = "str | re.Pattern[str] | Callable[[str], str | None]"
"""``word``, ``line``, a pattern that a piece ends with, or a function from the waiting text to its first piece."""


def detector(chunking: Chunking) -> Callable[[str], str | None]:
    """The function that finds the first whole piece of a text.

    Raises:
        InvalidArgumentError: For a word that names no pattern, or a pattern that matches nothing at all.
    """
    if callable(chunking):
        return _checked(chunking)
    pattern = PATTERNS.get(chunking) if isinstance(chunking, str) else chunking
    if pattern is None or pattern.match("") is not None:
        msg = (
            f"chunking must be 'word', 'line', a pattern that never matches an empty text, or a function: {chunking!r}"
        )
        raise InvalidArgumentError(msg, parameter="chunking", value=chunking)

    def first_piece(text: str) -> str | None:
        found = pattern.search(text)
        return None if found is None else text[: found.end()]

    return first_piece


def _checked(find: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """*find*, held to its promise: otherwise text would be lost, or waited for without end."""

    def first_piece(text: str) -> str | None:
        piece = find(text)
        if piece is not None and (not piece or not text.startswith(piece)):
            msg = f"the chunking function must give a beginning of the text, or None; it gave {piece[:80]!r}"
            raise InvalidArgumentError(msg, parameter="chunking", value=piece)
        return piece

    return first_piece


class _Waiting:
    """The text of one block that is not handed out yet."""

    __slots__ = ("block", "metadata", "text")

    def __init__(self) -> None:
        self.block: TextDelta | ReasoningDelta | None = None
        self.text = ""
        self.metadata: ProviderMetadata | None = None

    def is_other(self, delta: TextDelta | ReasoningDelta) -> bool:
        block = self.block
        return block is not None and (type(block), block.id) != (type(delta), delta.id)

    def add(self, delta: TextDelta | ReasoningDelta) -> None:
        self.block = delta
        self.text += delta.delta
        self.metadata = delta.provider_metadata or self.metadata

    def cut(self, block: TextDelta | ReasoningDelta, piece: str) -> StreamPart:
        """The beginning *piece* of the waiting text as a delta of its own."""
        metadata, self.metadata = self.metadata, None
        self.text = self.text[len(piece) :]
        kind = TextDelta if isinstance(block, TextDelta) else ReasoningDelta
        return kind(id=block.id, delta=piece, provider_metadata=metadata)

    def rest(self) -> StreamPart | None:
        """All that waits; None if there is nothing to say."""
        if self.block is None or (not self.text and self.metadata is None):
            return None
        return self.cut(self.block, self.text)


class SmoothStream(Middleware):
    """Hands streamed text and reasoning out piece by piece, with a wait after each.

    Args:
        delay: Seconds to wait after each piece; 0 is no wait.
        chunking: What a piece is: ``word`` (with the white space after it), ``line``, a regular expression that a
            piece ends with, or a function that gives the first whole piece of a text, or None.
        sleep: Awaits the given seconds.

    Raises:
        InvalidArgumentError: For a delay below 0, or a chunking that can find no piece. While streaming: for a
            chunking function that gives what is no beginning of the text.
    """

    modes: tuple[Mode, ...] = ("stream",)

    def __init__(
        self,
        *,
        delay: float = DELAY_SECONDS,
        chunking: Chunking = "word",
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if not math.isfinite(delay) or delay < 0:
            msg = f"delay must be a number of seconds of at least 0, got {delay!r}"
            raise InvalidArgumentError(msg, parameter="delay", value=delay)
        self.delay = delay
        self.chunking = chunking
        self._find = detector(chunking)
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"SmoothStream(delay={self.delay}, chunking={self.chunking!r})"

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """The same stream in even pieces."""
        return (await do_stream()).through(self._smoothed)

    async def _smoothed(self, parts: AsyncIterator[StreamPart]) -> AsyncIterator[StreamPart]:
        waiting = _Waiting()
        try:
            async for part in parts:
                if not isinstance(part, TextDelta | ReasoningDelta):
                    if (rest := waiting.rest()) is not None:
                        yield rest
                    yield part
                    continue
                if waiting.is_other(part) and (rest := waiting.rest()) is not None:
                    yield rest
                waiting.add(part)
                while (piece := self._find(waiting.text)) is not None:
                    yield waiting.cut(part, piece)
                    if self.delay:
                        await self._sleep(self.delay)
        except Exception:
            if (rest := waiting.rest()) is not None:
                yield rest
            raise
        if (rest := waiting.rest()) is not None:
            yield rest
