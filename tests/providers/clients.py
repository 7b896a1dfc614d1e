"""The HTTP clients that a provider takes, and those that it makes itself, over real sockets or over a function."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Literal, TypeAlias

import aiohttp
import httpx
import httpx2
import pytest

Client: TypeAlias = httpx.AsyncClient | httpx2.AsyncClient | aiohttp.ClientSession
OwnClient: TypeAlias = Literal["aiohttp", "httpx", "httpx2"]
"""The package that a provider makes its own clients with."""

_TRUST = ssl.create_default_context()
"""Made once, for it reads every root certificate: most of what it costs to open a client."""


def make_httpx(*, patience: float | None = 5.0) -> httpx.AsyncClient:
    """A client of the default package; *patience* is how many seconds of silence it bears."""
    return httpx.AsyncClient(verify=_TRUST, timeout=patience)


def make_httpx2(*, patience: float | None = 5.0) -> httpx2.AsyncClient:
    """A client of its successor."""
    return httpx2.AsyncClient(verify=_TRUST, timeout=patience)


def make_aiohttp(*, patience: float | None = 5.0) -> aiohttp.ClientSession:
    """A session of aiohttp."""
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_read=patience))


MAKERS: dict[str, Callable[..., Client]] = {"httpx": make_httpx, "httpx2": make_httpx2, "aiohttp": make_aiohttp}
OWN: tuple[OwnClient, ...] = ("httpx", "httpx2", "aiohttp")


def is_closed(client: Client) -> bool:
    """Whether the client was closed."""
    return client.closed if isinstance(client, aiohttp.ClientSession) else client.is_closed


@pytest.fixture(params=MAKERS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A client of each package in turn, closed afterwards."""
    async with MAKERS[request.param]() as opened:
        yield opened


@pytest.fixture(params=MAKERS)
async def hasty_client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """As `client`, but it bears a tenth of a second of silence only."""
    async with MAKERS[request.param](patience=0.1) as opened:
        yield opened


@pytest.fixture(params=[*MAKERS, *(f"own {name}" for name in OWN)])
async def every_client(request: pytest.FixtureRequest) -> AsyncIterator[Client | OwnClient]:
    """The caller's clients in turn, then those that a provider makes itself."""
    name: str = request.param
    async with AsyncExitStack() as opened:
        if name in MAKERS:
            yield await opened.enter_async_context(MAKERS[name]())
        for own in OWN:
            if name == f"own {own}":
                yield own
