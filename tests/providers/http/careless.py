"""A server that does not read what it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.providers.loopback import HOST

LARGE = b"x" * (16 * 2**20)
"""More than the buffers of a connection on loopback hold."""


class Careless(asyncio.Protocol):
    """A server that answers at once, if at all; it reads the request only if it has an *end* to say after that."""

    def __init__(self, answer: bytes, end: bytes) -> None:
        self._answer = answer
        self._end = end
        self._left = len(LARGE)
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.pause_reading()
        transport.write(self._answer)
        if self._end:
            asyncio.get_running_loop().call_later(0.05, transport.resume_reading)

    def data_received(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left <= 0:
            self._transport.write(self._end)
            self._left = len(LARGE)

    def stop(self) -> None:
        """Break the connection off."""
        self._transport.abort()


@asynccontextmanager
async def careless(answer: bytes = b"", *, end: bytes = b"") -> AsyncGenerator[str]:
    """The URL of such a server."""
    connections: list[Careless] = []

    def connect() -> Careless:
        connections.append(Careless(answer, end))
        return connections[-1]

    listener = await asyncio.get_running_loop().create_server(connect, HOST, 0)
    try:
        yield f"http://{HOST}:{listener.sockets[0].getsockname()[1]}/"
    finally:
        listener.close()
        for connection in connections:
            connection.stop()
