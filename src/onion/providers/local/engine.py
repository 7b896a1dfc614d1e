"""An engine that answers many calls: its threads on one side, the event loops of the callers on the other."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from onion.providers.local.native import NativeEngine
    from onion.spec.base import JsonObject

CLOSE_SECONDS = 10.0
"""The engine looks whether it shall stop after each batch of a prompt and each token of an answer."""


class Engine:
    """Runs as many calls at once as the native engine has slots; more of them wait here, and cost no slot.

    A thread lives as long as there are calls for it: an idle one would keep the process from ending.

    Args:
        native: Does the work.
        slots: How many calls it can do at once.
        close_seconds: How long closing a call waits for its slot to be free.
    """

    def __init__(self, native: NativeEngine, slots: int, *, close_seconds: float = CLOSE_SECONDS) -> None:
        self.native = native
        self._slots = slots
        self._close_seconds = close_seconds
        self._is_closed = threading.Event()
        self._lock = threading.Lock()
        self._waiting: deque[EngineCall] = deque()
        self._threads: set[threading.Thread] = set()

    def answer(self, request: JsonObject) -> EngineCall:
        """Start answering *request*, or queue it. To be called in a running event loop, and closed.

        The engine does not wait for the reader: a slow one holds no slot. What is kept for it is bounded by the
        context of one call.
        """
        call = EngineCall(request, asyncio.get_running_loop(), self._is_closed, self._close_seconds)
        with self._lock:
            if self._is_closed.is_set():
                call.give_up()
            elif len(self._threads) < self._slots:
                thread = threading.Thread(target=self._work, args=(call,), name="onion-local")
                self._threads.add(thread)
                thread.start()
            else:
                self._waiting.append(call)
        return call

    def close(self) -> None:
        """Stop the calls that run, give up those that wait, and end the native engine. Blocks until all is done."""
        with self._lock:
            self._is_closed.set()
            waiting, threads = list(self._waiting), list(self._threads)
            self._waiting.clear()
        for call in waiting:
            call.give_up()
        for thread in threads:
            thread.join()
        self.native.stop()

    def _work(self, first: EngineCall) -> None:
        call: EngineCall | None = first
        while call is not None:
            call.run(self.native)
            with self._lock:
                call = self._waiting.popleft() if self._waiting else None
                if call is None:
                    self._threads.discard(threading.current_thread())


class EngineCall:
    """The chunks of one answer. Closing it stops the call and frees its slot.

    It is no generator: a loop that ends closes every generator that it knows, this one and its reader at once, and a
    generator that is being closed cannot be closed by its reader.

    Args:
        request: What is to be answered.
        loop: The reader's.
        is_engine_closed: Set when the engine ends.
        close_seconds: How long closing waits for the slot to be free.
    """

    def __init__(
        self,
        request: JsonObject,
        loop: asyncio.AbstractEventLoop,
        is_engine_closed: threading.Event,
        close_seconds: float,
    ) -> None:
        self._request = request
        self._loop = loop
        self._is_engine_closed = is_engine_closed
        self._close_seconds = close_seconds
        self._arrived: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        self._error: Exception | None = None
        self._is_running = False
        self._is_stopped = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> JsonObject:
        """The next chunk.

        Raises:
            ValueError: For a request that the engine cannot read.
            RuntimeError: For one that it cannot do.
        """
        chunk = await self._arrived.get()
        if chunk is not None:
            return chunk
        self._arrived.put_nowait(None)
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Have the engine stop, and wait until it has let the slot go; not longer than the engine says."""
        # `run` notes that it runs before it looks whether it shall: one of the two sees the other.
        self._is_stopped = True
        if not self._is_running:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._close_seconds):
                while await self._arrived.get() is not None:
                    pass

    def run(self, native: NativeEngine) -> None:
        """Do the call. Called in a thread of the engine."""
        self._is_running = True
        try:
            if not self._must_stop():
                native.complete(self._request, self._take)
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is read
            self._error = error
        finally:
            self._is_running = False
            self._tell(None)

    def give_up(self) -> None:
        """End the call before it began."""
        self._tell(None)

    def _take(self, chunk: JsonObject) -> bool:
        """Pass *chunk* to the loop; True stops the generation."""
        return self._must_stop() or not self._tell(chunk)

    def _must_stop(self) -> bool:
        """Whether nobody wants the answer any more: its reader, the engine or the whole process is done."""
        return self._is_stopped or self._is_engine_closed.is_set() or not threading.main_thread().is_alive()

    def _tell(self, chunk: JsonObject | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, chunk)
        except RuntimeError:  # the loop is closed: nobody is left to read
            return False
        return True
