"""An HTTP server on the loopback interface, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

POLL_SECONDS = 0.005
QUICK = {
    "generate": ("application/json", b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}'),
    "stream": (
        "text/event-stream",
        (
            b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":null}]}\n\n'
            b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
        ),
    ),
}
"""By mode, the kind and the body of an answer."""
DELTA = b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":null}]}\n\n'
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n\r\n"
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def every(seconds: float) -> Iterable[bytes | float]:
    """A delta, a pause, a delta, a pause, without end."""
    return itertools.cycle((DELTA, seconds))


def heartbeats() -> Iterable[bytes | float]:
    """Comments without end."""
    return itertools.cycle((b": ping\n\n", 0.02))


def silence() -> Iterable[float]:
    """Pauses without end."""
    return itertools.repeat(1.0)


class Loopback:
    """Answers every request with what *script* gives: bytes are sent, and for a number of seconds nothing is.

    Attributes:
        url: Where it listens, once it is entered.
        requests: How many requests it read.
        open: How many connections are open.
    """

    def __init__(self, script: Callable[[], Iterable[bytes | float]], *, kind: str = "text/event-stream") -> None:
        self.url = ""
        self.requests = 0
        self.open = 0
        self._script = script
        self._kind = kind.encode()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._over: asyncio.Event | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._over is not None:
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    async def seconds_until_closed(self, limit: float) -> float:
        """How long it takes until no connection is open; at most *limit*, and a little."""
        started = time.monotonic()
        while self.open and time.monotonic() - started < limit:  # noqa: ASYNC110 - the server is in another thread
            await asyncio.sleep(POLL_SECONDS)
        return time.monotonic() - started

    async def _run(self) -> None:
        self._over = asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._over.wait()
        server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                await reader.readexactly(int(length[1]) if length else 0)
                self.requests += 1
                await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.close()  # the client went, or the server is over: both end the connection
        finally:
            self.open -= 1

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD % self._kind)
        for item in self._script():
            if isinstance(item, bytes):
                writer.write(b"%x\r\n%s\r\n" % (len(item), item))
                await writer.drain()
            else:
                await _pause(reader, item)
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _pause(reader: asyncio.StreamReader, seconds: float) -> None:
    """Wait, unless the client goes.

    Raises:
        ConnectionResetError: When it goes.
    """
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if reader.at_eof():
            raise ConnectionResetError
        await asyncio.sleep(POLL_SECONDS)
