"""Where blocking calls run: one event loop in a background thread, and one task for each stream."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Request: TypeAlias = Callable[[], Awaitable[None]]


class Background:
    """The event loop of this process's blocking calls, in a daemon thread that starts with the first of them."""

    def __init__(self, *, process_id: Callable[[], int] = os.getpid) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process_id = process_id
        self._process = 0

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop; a forked process gets one of its own.

        Raises:
            RuntimeError: In the loop itself, which a blocking call would stop for ever.
        """
        with self._lock:
            process = self._process_id()
            if self._loop is None or self._process != process:
                self._loop = asyncio.new_event_loop()
                self._process = process
                threading.Thread(target=self._loop.run_forever, name="onion-sync", daemon=True).start()
            loop = self._loop
        try:
            is_inside = asyncio.get_running_loop() is loop
        except RuntimeError:
            is_inside = False
        if is_inside:
            msg = "onion.sync cannot be called from its own event loop: use the async functions there"
            raise RuntimeError(msg)
        return loop


_background = Background()


class Worker:
    """One task that does what it is asked, one thing after another: a stream is opened, read and closed in it."""

    def __init__(self, background: Background = _background) -> None:
        self._background = background
        self.loop: asyncio.AbstractEventLoop = background.loop()
        self.requests: asyncio.Queue[Request | None] = asyncio.Queue()
        self._is_busy = self._is_cancelled = False
        context = contextvars.copy_context()
        self.loop.call_soon_threadsafe(lambda: self._start(context))

    def _start(self, context: contextvars.Context) -> None:
        self._task = self.loop.create_task(_work(self.requests), context=context)

    def _submit(self, request: Callable[[], Coroutine[object, object, None]]) -> None:
        """Hand *request* to the task; once that has ended nothing is read any more, and any other task will do."""
        if self._task.done():
            self._task = self.loop.create_task(request())
        else:
            self.requests.put_nowait(request)

    def cancel(self) -> None:
        """Cancel what the task does, and whatever it is asked after that."""
        self.loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        self._is_cancelled = True
        if self._is_busy:
            self._task.cancel()

    def do(
        self,
        call: Callable[[], Awaitable[T]],
        *,
        interrupt: Callable[[], None],
        wait: Callable[[Sequence[concurrent.futures.Future[T]]], object] = concurrent.futures.wait,
    ) -> T:
        """What *call* gives, made in the task.

        Args:
            call: Makes what is awaited.
            interrupt: Called if the waiting is interrupted, by Ctrl-C for example; must make *call* end soon.
            wait: Waits for the future; tests pass one that is interrupted.

        Raises:
            RuntimeError: In the loop itself, and in a forked process, where the task does not run.
        """
        if self._background.loop() is not self.loop:
            msg = "this stream was made before the process was forked: make it in the process that reads it"
            raise RuntimeError(msg)
        done: concurrent.futures.Future[T] = concurrent.futures.Future()

        async def request() -> None:
            self._is_busy = True
            try:
                if self._is_cancelled:
                    raise asyncio.CancelledError  # noqa: TRY301 - it came before the request did
                done.set_result(await call())
            except BaseException as error:  # noqa: BLE001 - raised where the caller waits
                done.set_exception(error)
            finally:
                self._is_busy = False

        self.loop.call_soon_threadsafe(self._submit, request)
        try:
            wait([done])
        except BaseException:
            interrupt()
            concurrent.futures.wait([done])
            raise
        return done.result()

    def stop(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """End the task after *last*."""
        stop(self.loop, self.requests, last)


async def _work(requests: asyncio.Queue[Request | None]) -> None:
    is_wanted = True
    while is_wanted or not requests.empty():  # what was asked meanwhile is still answered
        request = await requests.get()
        if request is None:
            is_wanted = False
        else:
            await request()


def stop(
    loop: asyncio.AbstractEventLoop,
    requests: asyncio.Queue[Request | None],
    last: Callable[[], Awaitable[None]] | None,
) -> None:
    """Let the task of those *requests* do *last* and end."""
    if not loop.is_closed():
        if last is not None:
            loop.call_soon_threadsafe(requests.put_nowait, last)
        loop.call_soon_threadsafe(requests.put_nowait, None)


def blocking(call: Callable[[], Coroutine[object, object, T]]) -> T:
    """What *call* gives; being interrupted cancels it."""
    worker = Worker()
    try:
        return worker.do(call, interrupt=worker.cancel)
    finally:
        worker.stop()
