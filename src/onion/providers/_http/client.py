"""The HTTP client under a provider: the caller's, or one of our own per event loop.

httpx is the default; its successor httpx2 has the same API, so a client of either is taken by its shape. Neither is
imported before the first call.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Container, Mapping
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

CONNECT_SECONDS = 15.0
WRITE_SECONDS = 60.0
READ_SECONDS = 600.0
"""Longest silence of a server: models think for minutes. What a caller wants to wait is the loop's `timeout`."""
MAX_IDLE_CONNECTIONS = 100


class HTTPResponse(Protocol):
    """What is read of a response of httpx or httpx2."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; several of one name are joined."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it arrives, content encodings undone."""
        ...


class HTTPClient(Protocol):
    """What a provider needs of a client: ``httpx.AsyncClient`` and ``httpx2.AsyncClient`` have it."""

    def stream(
        self, method: str, url: str, *, content: bytes, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[HTTPResponse]:
        """Send a request; the response's body is read inside the context."""
        ...


class LoopClients:
    """One client per running event loop: connections cannot move between loops.

    A client is closed when its loop ends in the way of `asyncio.run`, or by `aclose`.
    """

    def __init__(self) -> None:
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[HTTPClient, AsyncGenerator[HTTPClient]]]
        self._opened = WeakKeyDictionary()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._opened)

    async def get(self) -> HTTPClient:
        """The client of the running loop, opened on first use."""
        loop = asyncio.get_running_loop()
        opened = self._opened.get(loop)
        if opened is None:
            keeper = self._keep(loop)
            opened = (await anext(keeper), keeper)
            with self._lock:
                self._forget_closed_loops()
                self._opened[loop] = opened
        return opened[0]

    async def aclose(self) -> None:
        """Close the client of the running loop, if there is one."""
        opened = self._opened.get(asyncio.get_running_loop())
        if opened is not None:
            await opened[1].aclose()

    async def _keep(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[HTTPClient]:
        """Hold a client open. A loop that shuts down closes its async generators, and with this one the client."""
        import httpx

        client = httpx.AsyncClient(
            timeout=httpx.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS, write=WRITE_SECONDS, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=MAX_IDLE_CONNECTIONS),
        )
        try:
            yield client
        finally:
            with self._lock:
                self._opened.pop(loop, None)
            await client.aclose()

    def _forget_closed_loops(self) -> None:
        """A client refers to its loop, so the weak keys alone would keep loops that were closed without a shutdown."""
        for loop in [loop for loop in self._opened if loop.is_closed()]:
            del self._opened[loop]


def transport_errors(loaded: Container[str] = sys.modules) -> tuple[type[Exception], ...]:
    """What the clients among the *loaded* packages raise when no answer comes, or one that cannot be read."""
    found: list[type[Exception]] = [OSError]
    if "httpx" in loaded:
        import httpx

        found += [httpx.HTTPError, httpx.InvalidURL, httpx.StreamError]
    if "httpx2" in loaded:
        import httpx2

        found += [httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError]
    return tuple(found)
