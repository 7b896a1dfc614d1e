"""What lies behind a stream in these tests: parts, and a record of how it was closed."""

import asyncio
import gc
from collections.abc import AsyncGenerator

from onion.spec import (
    FinishPart,
    FinishReason,
    Outcome,
    PartTransform,
    StreamPart,
    StreamResult,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    Usage,
)

PARTS: tuple[StreamPart, ...] = (
    StreamStart(),
    TextStart(id="1"),
    TextDelta(id="1", delta="a"),
    TextEnd(id="1"),
    FinishPart(finish_reason=FinishReason(unified="stop"), usage=Usage()),
)


class Connection:
    """What lies behind a stream: parts that come one by one, and a record of how it was closed."""

    def __init__(self, *, error: Exception | None = None, is_stuck: bool = False) -> None:
        self.error = error
        self.is_stuck = is_stuck
        self.generator_closed = 0
        self.closed = 0
        self.waiting = asyncio.Event()

    async def parts(self) -> AsyncGenerator[StreamPart, None]:
        try:
            for part in PARTS[:3]:
                await asyncio.sleep(0)
                yield part
            if self.is_stuck:
                self.waiting.set()
                await asyncio.Event().wait()
            if self.error is not None:
                raise self.error
            for part in PARTS[3:]:
                yield part
        finally:
            self.generator_closed += 1

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1

    def stream(self) -> StreamResult:
        return StreamResult(self.parts(), close=self.close)


class Watch(PartTransform):
    """Notes how often and how it was closed."""

    def __init__(self) -> None:
        self.endings: list[tuple[Outcome, BaseException | None]] = []

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        self.endings.append((outcome, error))


async def settle() -> None:
    """Let what garbage collection started come to its end."""
    gc.collect()
    for _ in range(20):
        await asyncio.sleep(0)
