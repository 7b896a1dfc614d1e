"""What aiohttp does otherwise than httpx, if it is let."""

from __future__ import annotations

import asyncio
import gc
import zlib
from typing import TYPE_CHECKING

import aiohttp
import pytest

from onion.errors import APICallError, InvalidArgumentError, StreamInterruptedError
from onion.providers._http import HTTPLimits, HTTPTransport
from onion.providers._http.over_aiohttp import OwnSession
from tests.providers.clients import make_aiohttp
from tests.providers.http.careless import LARGE, careless
from tests.providers.http.requests import KEY, request_to
from tests.providers.loopback import SSE_HEADERS, Connection, Server, answer, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from onion.providers._http import HTTPClient


@pytest.fixture(params=["own", "given"])
async def transport(request: pytest.FixtureRequest) -> AsyncIterator[HTTPTransport]:
    """A session of our own, and one of the caller's."""
    async with make_aiohttp() as session:
        client: HTTPClient = session if request.param == "given" else "aiohttp"
        opened = HTTPTransport(client)
        yield opened
        await opened.aclose()


async def test_an_answer_may_come_before_the_request_was_read(transport: HTTPTransport) -> None:
    async with careless(b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig") as url:
        with pytest.raises(APICallError) as caught:
            await transport.open(request_to(Server(), url=url, content=LARGE))

    assert (caught.value.status_code, caught.value.response_body) == (413, "big")


async def test_no_key_is_in_what_aiohttp_keeps_of_a_request(transport: HTTPTransport) -> None:
    async with careless(b"NO HTTP AT ALL\r\n\r\n") as url:
        with pytest.raises(APICallError) as caught:
            await transport.open(request_to(Server(), url=url))

    cause = caught.value.__cause__
    assert type(cause).__name__ == "ClientResponseError"
    assert KEY not in f"{cause!r} {cause} {vars(cause)}"


async def test_an_early_answer_may_go_on_while_the_request_is_read(transport: HTTPTransport) -> None:
    async with careless(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n", end=b"done") as url:
        opened = await transport.open(request_to(Server(), url=url, content=LARGE))
        body = await opened.read()
        await opened.aclose()

    assert body == b"done"


async def test_what_came_before_the_connection_broke_off_is_not_lost_to_a_slow_reader(transport: HTTPTransport) -> None:
    async def forget_the_end(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(b"data: 1\n\n")
        await connection.chunk(b"data: [DONE]\n\n")
        connection.close()

    async with serve(forget_the_end) as server:
        opened = await transport.open(request_to(server))
        for _ in range(100):  # turns of the loop, so that the client sees the end before it reads
            await asyncio.sleep(0)

        assert await opened.next_bytes() == b"data: 1\n\ndata: [DONE]\n\n"
        with pytest.raises(StreamInterruptedError):
            await opened.next_bytes()
        await opened.aclose()


async def test_a_key_in_the_url_shows_up_in_no_error(transport: HTTPTransport) -> None:
    url = "ftp://user:s3cret@127.0.0.1/x?key=s3cret"

    with pytest.raises(APICallError, match=r"ftp://127\.0\.0\.1/x") as caught:
        await transport.open(request_to(Server(), url=url))

    assert "s3cret" not in str(caught.value)
    assert not caught.value.is_retryable


async def test_a_url_that_cannot_be_read_is_not_worth_a_retry(transport: HTTPTransport) -> None:
    with pytest.raises(APICallError) as caught:
        await transport.open(request_to(Server(), url="http://[::1/x"))

    assert not caught.value.is_retryable


async def test_a_compressed_body_may_be_large(transport: HTTPTransport) -> None:
    body = b"a" * (40 * 2**20)

    async with serve(answer(zlib.compress(body), headers=[("content-encoding", "deflate")])) as server:
        opened = await transport.open(request_to(server))
        found = await opened.read()
        await opened.aclose()

    assert found == body


async def test_what_is_not_compressed_as_it_says_is_an_error(transport: HTTPTransport) -> None:
    async with serve(answer(b"plain", headers=[("content-encoding", "gzip")])) as server:
        opened = await transport.open(request_to(server))
        with pytest.raises(APICallError, match="broke off") as caught:
            await opened.read()
        await opened.aclose()

    assert KEY not in str(caught.value)


def test_a_session_whose_loop_ended_without_closing_it_goes_without_a_word() -> None:
    loop = asyncio.new_event_loop()
    complaints: list[object] = []
    loop.set_exception_handler(lambda _, context: complaints.append(context))

    async def use() -> OwnSession:
        async with serve(answer({"ok": True})) as server:
            session = OwnSession(HTTPLimits())
            reply = await session.post(server.url, b"{}", {})
            while await reply.read_some():
                pass
            await reply.aclose()
            return session

    session = loop.run_until_complete(use())
    del session
    gc.collect()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()

    assert complaints == []


async def test_a_session_that_cannot_carry_the_key_is_refused_without_it() -> None:
    with pytest.warns(DeprecationWarning, match="auth"):
        session = aiohttp.ClientSession(auth=aiohttp.BasicAuth("me", "s3cret-pass"))
    async with session:
        with pytest.raises(InvalidArgumentError, match=r"(?i)session .* refuses .*authorization") as caught:
            await HTTPTransport(session).open(request_to(Server(), url="http://127.0.0.1:9/x"))

    assert caught.value.parameter == "http_client"
    assert KEY not in caught.value.message
    assert "s3cret" not in caught.value.message
