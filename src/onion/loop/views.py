"""Reading a streamed run: views that share one run, which advances in the task of whoever reads."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from onion.errors import AbortedError, StreamMisuseError
from onion.loop.run import run_steps
from onion.loop.state import current_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.loop.feeds import Buffer, Feed
    from onion.loop.state import Run

ItemT = TypeVar("ItemT")
logger: logging.Logger = logging.getLogger("onion")
EARLY_EXIT = "its last reader stopped early"


class Pump:
    """Advances a run, one part at a time, for all of its views; one reader pulls, the others wait for it.

    Attributes:
        feeds: What takes the parts.
        is_started: Somebody has read.
        is_finished: The run has ended, well or not.
        was_raised: Somebody was told of the run's failure by an exception.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.feeds: list[Feed] = []
        self.is_started: bool = False
        self.is_finished: bool = False
        self.was_raised = False
        self.open_views = 0
        self._parts = run_steps(run)
        self._is_busy = False
        self._waiting: list[asyncio.Future[None]] = []
        self._closing: asyncio.Future[None] | None = None

    async def advance(self) -> None:
        """Get the next part and hand it to the feeds, or wait until another reader has done so.

        Raises:
            CancelledError: When the reader was cancelled, which ends the run.
        """
        if self._is_busy:
            await self._wait()
            return
        control = self.run.control
        self._is_busy = True
        try:
            if control.enter() and await control.feels_cancellation():
                self._never_begin("the task that read it was cancelled")
                part = await self._parts.athrow(asyncio.CancelledError())
            elif control.reason is None or control.is_over or not self.is_started:
                self.is_started = True
                part = await anext(self._parts)
            else:
                part = await self._parts.athrow(control.reason)
        except StopAsyncIteration:
            self._finish()
        except BaseException:
            self._finish()
            raise
        else:
            for feed in self.feeds:
                feed.take(part)
        finally:
            try:
                if control.leave():
                    await control.take_back()
            finally:
                self._is_busy = False
                if self._waiting:
                    self._wake()

    async def drain(self) -> None:
        """Drive the run to its end."""
        while not self.is_finished:
            await self.advance()

    async def aclose(self, reason: str) -> None:
        """End the run now; does nothing if it has ended.

        Asked by a tool or callback of the run itself it does not wait for the end, which waits for them.
        """
        while self._is_busy:
            self.run.control.interrupt(AbortedError(reason))
            if self._is_waiting_for_us():
                return
            await self._wait()
        if self.is_finished:
            return
        self._is_busy = True
        self._never_begin(reason)
        try:
            await self._parts.aclose()
        finally:
            self._is_busy = False
            self._finish()

    def _never_begin(self, reason: str) -> None:
        """Note the end of a run that nobody has read from; one that has begun notes it itself."""
        if self.run.failure is None and not self.is_started:
            self.run.fail(AbortedError(reason))

    def close_soon(self) -> None:
        """The last view went away in the middle: end the run, unless somebody waits for it in another way."""
        loop = self.run.control.loop
        if self.is_finished or self._is_busy or loop is None or loop.is_closed():
            return
        loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        self._closing = asyncio.ensure_future(self.aclose(EARLY_EXIT))
        self._closing.add_done_callback(_log_failure)

    def _is_waiting_for_us(self) -> bool:
        """Whether this is code that the run itself waits for: a callback of it, or a tool of it or of its sub-runs."""
        if self.run.control.is_read_here:
            return True
        run = current_run.get()
        while run is not None and run.run_id != self.run.info.run_id:
            run = run.parent
        return run is not None

    async def _wait(self) -> None:
        if self._is_waiting_for_us():
            msg = "a tool or callback of a run waits for that run, which waits for it: read the run from outside"
            raise StreamMisuseError(msg)
        loop = self.run.control.loop
        if loop is not asyncio.get_running_loop():
            msg = "this run is being read in another event loop: wait for it there"
            raise StreamMisuseError(msg)
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    def _finish(self) -> None:
        self.is_finished = True
        for feed in self.feeds:
            feed.end(self.run.failure)
        self._wake()


def _log_failure(closing: asyncio.Future[None]) -> None:
    """Nobody waits for this closing, so its failure is told to the log."""
    if not closing.cancelled() and (error := closing.exception()) is not None:
        logger.warning("closing a run that lost its readers raised %s", type(error).__name__, exc_info=error)


class View(Generic[ItemT]):
    """One way of reading a run; iterate it once. Dropping the last view in the middle ends the run."""

    __slots__ = ("_buffer", "_is_done", "_is_open", "_is_read", "_on_drop", "_pump")

    def __init__(self, pump: Pump, buffer: Buffer[ItemT], on_drop: Callable[[], None]) -> None:
        self._is_open = True
        self._is_read = False
        self._is_done = False
        self._pump = pump
        self._buffer = buffer
        self._on_drop = on_drop
        pump.open_views += 1

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ItemT:
        """The next item.

        Raises:
            Exception: What ended the run, or the output, at this position.
        """
        self._is_read = True
        items = self._buffer.items
        while not items:
            if self._is_done or self._buffer.error is not None or self._pump.is_finished:
                await self._end()
            await self._pump.advance()
        return items.popleft()

    async def _end(self) -> None:
        error = None if self._is_done else self._buffer.error
        self._is_done = True
        if error is None:
            raise StopAsyncIteration
        await self._pump.drain()
        self._pump.was_raised = True
        raise self._pump.run.failure or error

    async def aclose(self) -> None:
        """Stop reading; if this was the last view, the run ends."""
        if self._leave():
            await self._pump.aclose(EARLY_EXIT)

    def __del__(self) -> None:
        if self._leave():
            self._pump.close_soon()

    def _leave(self) -> bool:
        """Go away; whether the run has lost its last reader by it."""
        if not self._is_open:
            return False
        self._is_open = False
        self._on_drop()
        self._pump.open_views -= 1
        was_reading, self._is_done = self._is_read and not self._is_done, True
        return was_reading and self._pump.open_views == 0


def late() -> StreamMisuseError:
    """The error for a view that is asked for when parts are gone already."""
    return StreamMisuseError("the stream was read already: make every view before the first read")
