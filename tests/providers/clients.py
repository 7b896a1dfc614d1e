"""Both HTTP clients that a provider takes, over real sockets or over a function."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

import httpx
import httpx2
import pytest

Client: TypeAlias = httpx.AsyncClient | httpx2.AsyncClient
MakeClient: TypeAlias = Callable[[], Client]

_TRUST = ssl.create_default_context()
"""Made once, for it reads every root certificate: most of what it costs to open a client."""


def make_httpx() -> httpx.AsyncClient:
    """A client of the default package."""
    return httpx.AsyncClient(verify=_TRUST)


def make_httpx2() -> httpx2.AsyncClient:
    """A client of its successor."""
    return httpx2.AsyncClient(verify=_TRUST)


@pytest.fixture(params=[make_httpx, make_httpx2], ids=["httpx", "httpx2"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A client of each package in turn, closed afterwards."""
    make: MakeClient = request.param
    async with make() as opened:
        yield opened
