"""What a server has taken in of a request is not sent to it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from onion.errors import APICallError
from onion.providers._http import HTTPTransport
from tests.providers.clients import make_aiohttp
from tests.providers.http.careless import LARGE
from tests.providers.http.requests import request_to
from tests.providers.loopback import HOST, Server

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient


class HalfClosing(asyncio.Protocol):
    """A server that closes its side when it was told a part of the request, and reads on."""

    def __init__(self) -> None:
        self.count = 0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.count += len(data)
        if self.count >= 2**20 and self._transport.can_write_eof():
            self._transport.write_eof()

    def stop(self) -> None:
        """Break the connection off."""
        self._transport.abort()


@asynccontextmanager
async def half_closing(connections: list[HalfClosing]) -> AsyncGenerator[str]:
    """The URL of such a server, which adds its *connections*."""

    def connect() -> HalfClosing:
        connections.append(HalfClosing())
        return connections[-1]

    listener = await asyncio.get_running_loop().create_server(connect, HOST, 0)
    try:
        yield f"http://{HOST}:{listener.sockets[0].getsockname()[1]}/"
    finally:
        listener.close()
        for connection in connections:
            connection.stop()


@pytest.mark.parametrize("whose", ["own", "given"])
async def test_a_request_that_was_begun_is_not_sent_again(whose: str) -> None:
    connections: list[HalfClosing] = []

    async with make_aiohttp() as session, half_closing(connections) as url:
        client: HTTPClient = session if whose == "given" else "aiohttp"
        transport = HTTPTransport(client)
        with pytest.raises(APICallError) as caught:
            await transport.open(request_to(Server(), url=url, content=LARGE))
        await transport.aclose()

    assert [connection.count > 0 for connection in connections] == [True]
    assert caught.value.is_retryable
