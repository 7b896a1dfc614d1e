"""Clients that a provider makes itself behave alike, whatever package they are made with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from onion.errors import APICallError, StreamInterruptedError
from onion.providers._http import HTTPLimits, HTTPTransport
from tests.providers.clients import OWN, OwnClient
from tests.providers.http.careless import LARGE, careless
from tests.providers.http.requests import request_to
from tests.providers.loopback import SSE_HEADERS, Connection, Server, answer, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from onion.providers._http import HTTPRequest

HASTY = HTTPLimits(read_seconds=0.1)
HASTY_TO_WRITE = HTTPLimits(write_seconds=0.1)


@pytest.fixture(params=OWN)
def name(request: pytest.FixtureRequest) -> OwnClient:
    """Each package in turn."""
    found: OwnClient = request.param
    return found


@pytest.fixture
async def hasty(name: OwnClient) -> AsyncIterator[HTTPTransport]:
    """A client that bears a tenth of a second of silence."""
    transport = HTTPTransport(name, limits=HASTY)
    yield transport
    await transport.aclose()


@pytest.fixture
async def patient(name: OwnClient) -> AsyncIterator[HTTPTransport]:
    """A client with the limits that a provider sets."""
    transport = HTTPTransport(name)
    yield transport
    await transport.aclose()


async def read(transport: HTTPTransport, request: HTTPRequest) -> bytes:
    """The body of the answer to a request."""
    opened = await transport.open(request)
    try:
        return await opened.read()
    finally:
        await opened.aclose()


async def silence(connection: Connection) -> None:
    """No answer, for as long as the client bears it."""
    await connection.gone.wait()


@pytest.mark.parametrize("content", [b"{}", LARGE], ids=["small", "large"])
async def test_a_server_that_does_not_answer_is_given_up(hasty: HTTPTransport, content: bytes) -> None:
    async with serve(silence) as server:
        with pytest.raises(APICallError, match=r"(?<!Write)Timeout") as caught:
            await hasty.open(request_to(server, content=content))

    assert caught.value.is_retryable


async def test_a_stream_that_falls_silent_is_given_up(hasty: HTTPTransport) -> None:
    async def begin(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(b"data: 1\n\n")
        await connection.gone.wait()

    async with serve(begin) as server:
        opened = await hasty.open(request_to(server))
        assert await opened.next_bytes() == b"data: 1\n\n"
        with pytest.raises(StreamInterruptedError, match="Timeout") as caught:
            await opened.next_bytes()
        await opened.aclose()
        await server.connections[0].gone.wait()

    assert caught.value.is_retryable


async def test_a_stream_may_last_longer_than_a_silence(hasty: HTTPTransport) -> None:
    async def drip(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        for _ in range(6):
            await connection.chunk(b":\n")
            await asyncio.sleep(0.04)
        await connection.chunk(b"")

    async with serve(drip) as server:
        assert await read(hasty, request_to(server)) == b":\n" * 6


async def test_a_server_that_does_not_read_is_given_up(name: OwnClient) -> None:
    transport = HTTPTransport(name, limits=HASTY_TO_WRITE)
    async with careless() as url:
        with pytest.raises(APICallError, match="WriteTimeout") as caught:
            await transport.open(request_to(Server(), url=url, content=LARGE))
    await transport.aclose()

    assert caught.value.is_retryable


async def test_a_large_request_arrives_whole(patient: HTTPTransport) -> None:
    async with serve(answer({"ok": True})) as server:
        await read(patient, request_to(server, content=LARGE))

    assert server.received[0].body == LARGE
    assert server.received[0].headers["content-length"] == str(len(LARGE))


async def test_long_headers_arrive(patient: HTTPTransport) -> None:
    async with serve(answer({"ok": True}, headers=[("x-policy", "p" * 30_000)])) as server:
        opened = await patient.open(request_to(server))
        await opened.aclose()

    assert opened.headers["x-policy"] == "p" * 30_000


@pytest.mark.slow
async def test_hundreds_of_streams_are_open_at_once(patient: HTTPTransport, name: OwnClient) -> None:
    count = 1000 if name == "aiohttp" else 300  # the pools of httpx take time that grows with the square
    together = asyncio.Barrier(count)

    async def begin(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await together.wait()  # nobody goes on before everybody has come
        await connection.chunk(b"data: 1\n\n")
        await connection.chunk(b"")

    async with serve(begin) as server:
        bodies = await asyncio.gather(*(read(patient, request_to(server)) for _ in range(count)))

    assert bodies == [b"data: 1\n\n"] * count
    assert len(server.connections) == count
