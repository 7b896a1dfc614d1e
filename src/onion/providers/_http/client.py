"""The HTTP client under a provider: the caller's, or one of our own per event loop."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Container, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args
from weakref import WeakKeyDictionary

from onion.errors import InvalidArgumentError, MissingExtraError
from onion.providers._http.over_aiohttp import GivenSession, OwnSession
from onion.providers._http.over_httpx import AsyncClient, GivenClient, open_httpx, open_httpx2
from onion.providers._http.routes import is_any_socks

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from onion.providers._http.limits import HTTPLimits
    from onion.providers._http.sending import Sender


class ClientSession(Protocol):
    """What a provider needs of a session: ``aiohttp.ClientSession`` has it."""

    def post(self, url: str, *, data: bytes, headers: Mapping[str, str], allow_redirects: bool) -> Awaitable[object]:
        """Send a request."""
        ...


ClientName: TypeAlias = Literal["auto", "aiohttp", "httpx", "httpx2"]
HTTPClient: TypeAlias = AsyncClient | ClientSession | ClientName
"""An HTTP client that stays the caller's to close, or the name of the package to make one with."""

_OPENERS: Mapping[str, Callable[[HTTPLimits], Sender]] = {
    "aiohttp": OwnSession,
    "httpx": open_httpx,
    "httpx2": open_httpx2,
}
_EXTRAS = {"aiohttp": "fast", "httpx2": "httpx2"}


def is_installed(package: str) -> bool:
    """Whether *package* can be imported; it is not."""
    return package in sys.modules or importlib.util.find_spec(package) is not None


def opener_of(name: str, *, is_there: Callable[[str], bool] = is_installed) -> Callable[[HTTPLimits], Sender]:
    """What opens a client of the package *name*; ``auto`` takes aiohttp if it is there, else httpx.

    Args:
        is_there: Tells of a package whether it is installed.

    Raises:
        InvalidArgumentError: When no client is called so.
        MissingExtraError: When the package is not installed.
    """
    if name == "auto":
        return functools.partial(_open_fastest, is_there)
    if name not in _OPENERS:
        names = ", ".join(map(repr, get_args(ClientName)))
        msg = f"http_client must be one of {names}, or a client of one of these packages, got {name!r}"
        raise InvalidArgumentError(msg, parameter="http_client", value=name)
    if not is_there(name):
        raise MissingExtraError(name, extra=_EXTRAS[name])
    return _OPENERS[name]


def sender_of(client: AsyncClient | ClientSession, *, loaded: Container[str] = sys.modules) -> Sender:
    """What sends with the caller's own *client*, whose package is among those that are *loaded*.

    Raises:
        InvalidArgumentError: When it is none.
    """
    if isinstance(client, AsyncClient):
        return GivenClient(client)
    if "aiohttp" in loaded:
        import aiohttp

        if isinstance(client, aiohttp.ClientSession):
            return GivenSession(client)
    msg = f"http_client must be a client of httpx, httpx2 or aiohttp, or a name of one of these, got {client!r}"
    raise InvalidArgumentError(msg, parameter="http_client", value=client)


class LoopClients:
    """One client per running event loop: connections cannot move between loops.

    A client is closed when its loop ends in the way of `asyncio.run`, or by `aclose`.
    """

    def __init__(self, open_client: Callable[[], Sender]) -> None:
        self._open = open_client
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Sender, AsyncGenerator[Sender]]]
        self._opened = WeakKeyDictionary()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._opened)

    async def get(self) -> Sender:
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

    async def _keep(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[Sender]:
        """Hold a client open. A loop that shuts down closes its async generators, and with this one the client."""
        client = self._open()
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
    if "aiohttp" in loaded:
        import aiohttp

        found.append(aiohttp.ClientError)
    return tuple(found)


def _open_fastest(is_there: Callable[[str], bool], limits: HTTPLimits) -> Sender:
    return OwnSession(limits) if is_there("aiohttp") and not is_any_socks() else open_httpx(limits)
