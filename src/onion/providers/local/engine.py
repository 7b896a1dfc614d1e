"""An engine that answers many calls: its threads on one side, the event loops of the callers on the other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.providers.local.native import NativeEngine
    from onion.spec.base import JsonObject

CLOSE_SECONDS = 10.0
"""The engine looks whether it shall stop after each batch of a prompt and each token of an answer."""


class Engine:
    """Runs as many calls at once as the native engine has slots; more of them wait here, and cost no slot.

    Args:
        native: Does the work.
        slots: How many calls it can do at once.
        close_seconds: How long closing a stream waits for its slot to be free.
    """

    def __init__(self, native: NativeEngine, slots: int, *, close_seconds: float = CLOSE_SECONDS) -> None:
        self.native = native
        self._close_seconds = close_seconds
        self._threads = ThreadPoolExecutor(max_workers=slots, thread_name_prefix="onion-local")
        self._is_closed = threading.Event()

    async def chunks(self, request: JsonObject) -> AsyncGenerator[JsonObject, None]:
        """The chunks of the answer to *request*. Closing the generator stops the call and frees its slot.

        The engine does not wait for the reader: a slow one holds no slot. What is kept for it is bounded by the
        context of one call.

        Raises:
            ValueError: For a request that the engine cannot read.
            RuntimeError: For one that it cannot do.
        """
        call = _Call(asyncio.get_running_loop(), self._is_closed)
        running = self._threads.submit(self.native.complete, request, call.take)
        running.add_done_callback(call.finish)
        try:
            while (chunk := await call.arrived.get()) is not None:
                yield chunk
            if not running.cancelled():
                running.result()
        finally:
            await call.stop(running, self._close_seconds)

    def close(self) -> None:
        """Stop the calls that run, give up those that wait, and end the native engine. Blocks until all is done."""
        self._is_closed.set()
        self._threads.shutdown(cancel_futures=True)
        self.native.stop()


class _Call:
    """One call: `take` and `finish` run in a thread of the engine, all else in the loop of the caller."""

    def __init__(self, loop: asyncio.AbstractEventLoop, is_engine_closed: threading.Event) -> None:
        self.arrived: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        """The chunks; None when there will be no more."""
        self._loop = loop
        self._is_engine_closed = is_engine_closed
        self._is_stopped = False

    def take(self, chunk: JsonObject) -> bool:
        """Pass *chunk* to the loop; True stops the generation."""
        if self._is_stopped or self._is_engine_closed.is_set():
            return True
        return not self._tell(chunk)

    def finish(self, running: Future[None]) -> None:
        """The call is over, or was given up before it began."""
        self._tell(None)

    async def stop(self, running: Future[None], patience: float) -> None:
        """Have the engine stop, and wait until it has let the slot go, but no longer than *patience* seconds."""
        self._is_stopped = True
        if running.done() or running.cancel():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while await self.arrived.get() is not None:
                    pass

    def _tell(self, chunk: JsonObject | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self.arrived.put_nowait, chunk)
        except RuntimeError:  # the loop is closed: nobody is left to read
            return False
        return True
