"""Posting JSON over real sockets with every client: answers, failures of every kind, and connections given back."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING

import httpx
import pytest

from onion.errors import APICallError, StreamInterruptedError
from onion.providers._http import HTTPAnswer, HTTPLimits, HTTPTransport
from tests.providers.clients import Client, OwnClient, every_client
from tests.providers.http.requests import KEY, request_to
from tests.providers.loopback import SSE_HEADERS, Connection, Script, Server, answer, serve, stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


__all__ = ["every_client"]

SHORT = HTTPLimits(body_bytes=10, failure_seconds=0.01, close_seconds=1, drain_seconds=0.01)


@pytest.fixture
async def transport(every_client: Client | OwnClient) -> AsyncIterator[HTTPTransport]:
    """Every client in turn."""
    opened = HTTPTransport(every_client)
    yield opened
    await opened.aclose()


async def read_answer(transport: HTTPTransport, server: Server) -> bytes:
    """The body of the answer to a request."""
    opened = await transport.open(request_to(server))
    try:
        return await opened.read()
    finally:
        await opened.aclose()


async def failure_of(transport: HTTPTransport, script: Script) -> APICallError:
    """The error that a request ends in, whether the head or the body of the answer is at fault."""
    async with serve(script) as server:
        with pytest.raises(APICallError) as caught:
            await read_answer(transport, server)
    assert KEY not in f"{caught.value} {caught.value!r} {vars(caught.value)}"
    return caught.value


async def test_the_body_and_the_headers_arrive(transport: HTTPTransport) -> None:
    async with serve(answer({"ok": True}, headers=[("X-RateLimit-Remaining", "7"), ("set-cookie", "a=b")])) as server:
        opened = await transport.open(request_to(server))
        body = await opened.read()
        await opened.aclose()
        await opened.aclose()

    assert json.loads(body) == {"ok": True}
    assert opened.headers["x-ratelimit-remaining"] == "7"
    assert opened.headers["set-cookie"] == "***"
    assert server.received[0].path == "/v1/chat?version=1"
    assert server.received[0].json == {"a": 1}
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_compressed_body_is_unpacked(transport: HTTPTransport) -> None:
    packed = gzip.compress(b'{"ok":true}')

    async with serve(answer(packed, headers=[("content-encoding", "gzip")])) as server:
        opened = await transport.open(request_to(server))

        assert await opened.read() == b'{"ok":true}'
        await opened.aclose()


async def test_credentials_in_the_url_win_as_they_do_with_httpx(transport: HTTPTransport) -> None:
    async with serve(answer({"ok": True})) as server:
        url = server.url.replace("http://", "http://me:p%40ss@")
        opened = await transport.open(request_to(server, url=url))
        await opened.aclose()

    assert server.received[0].headers["authorization"] == "Basic bWU6cEBzcw=="


async def test_headers_of_one_name_are_joined_and_odd_bytes_are_latin_1(transport: HTTPTransport) -> None:
    async def odd(connection: Connection) -> None:
        odd_values = b"X-B: caf\xe9\r\nX-C: \xc5\x82\r\n"
        await connection.send(b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\ncontent-length: 0\r\n" + odd_values + b"\r\n")

    async with serve(odd) as server:
        opened = await transport.open(request_to(server))
        await opened.aclose()

    assert opened.headers["x-a"] == "1, 2"
    assert opened.headers["x-b"] == "caf\xe9"
    assert opened.headers["x-c"] in {"\u0142", "\xc5\x82"}  # httpx reads all headers alike


async def test_one_connection_serves_many_requests_if_each_answer_is_read(transport: HTTPTransport) -> None:
    async with serve(stream(b"data: 1\n\n", b"data: [DONE]\n\n")) as server:
        for _ in range(3):
            opened = await transport.open(request_to(server))
            assert await opened.next_bytes() is not None
            await opened.drain()
            await opened.drain()
            await opened.aclose()

    assert len(server.connections) == 1


@pytest.mark.parametrize(
    ("status", "is_retryable"),
    [
        *((status, False) for status in (307, 400, 401, 403, 404, 413, 422)),
        *((status, True) for status in (408, 409, 429, 500, 503, 529)),
    ],
)
async def test_a_status_of_failure_is_an_error_with_what_the_server_says(
    transport: HTTPTransport,
    status: int,
    is_retryable: bool,  # noqa: FBT001 - from the table
) -> None:
    body = {"error": {"message": f"no, not with {KEY}", "type": "t", "code": None}}

    error = await failure_of(transport, answer(body, status=status, headers=[("retry-after", "2")]))

    assert error.status_code == status
    assert error.is_retryable is is_retryable
    assert "no, not with ***" in str(error)
    assert error.data == {"error": {"message": "no, not with ***", "type": "t", "code": None}}
    assert error.response_headers is not None
    assert error.response_headers["retry-after"] == "2"
    assert error.request_body == {"a": 1}
    assert error.url.endswith("/v1/chat")


@pytest.mark.parametrize(
    ("script", "is_retryable"),
    [
        (answer({"error": {"message": "quota", "code": "insufficient_quota"}}, status=429), False),
        (answer({"error": {"message": "later"}}, status=400, headers=[("x-should-retry", "true")]), True),
        (answer({"error": {"message": "never"}}, status=503, headers=[("x-should-retry", "false")]), False),
    ],
    ids=["a code without hope", "the server asks for a retry", "the server asks for none"],
)
async def test_the_server_knows_better_than_the_status(
    transport: HTTPTransport,
    script: Script,
    is_retryable: bool,  # noqa: FBT001 - from the table
) -> None:
    assert (await failure_of(transport, script)).is_retryable is is_retryable


async def test_a_huge_page_instead_of_an_error_is_cut_in_the_message(transport: HTTPTransport) -> None:
    page = b"<html>" + b"x" * 2_000_000

    error = await failure_of(transport, answer(page, status=500, kind="text/html"))

    assert "<html>xxx" in str(error)
    assert len(str(error)) < 400
    assert error.response_body is not None
    assert len(error.response_body) == 64 * 1024


async def test_an_empty_body_is_said_to_be_one(transport: HTTPTransport) -> None:
    error = await failure_of(transport, answer(b"", status=401))

    assert "an empty body" in str(error)
    assert "check the API key" in str(error)


async def test_a_redirect_is_no_answer_and_says_where_it_leads(transport: HTTPTransport) -> None:
    error = await failure_of(
        transport, answer(b"", status=308, headers=[("location", "https://other.example/v1?key=s3cret")])
    )

    assert "https://other.example/v1: check base_url" in str(error)
    assert "s3cret" not in str(error)


async def test_nobody_listening_is_a_retryable_error_without_a_status(transport: HTTPTransport) -> None:
    async with serve(answer(b"")) as server:
        pass

    with pytest.raises(APICallError, match="no answer from http://127") as caught:
        await transport.open(request_to(server))

    assert caught.value.status_code is None
    assert caught.value.is_retryable


async def test_an_address_that_the_client_refuses_is_not_worth_a_retry(transport: HTTPTransport) -> None:
    with pytest.raises(APICallError) as caught:
        await transport.open(request_to(Server(), url="ftp://127.0.0.1/x"))

    assert not caught.value.is_retryable


async def reset_at_once(connection: Connection) -> None:
    """No answer at all."""
    connection.reset()


async def cut_body(connection: Connection) -> None:
    """Less than was announced."""
    await connection.head(200, [("content-type", "application/json"), ("content-length", "100")])
    await connection.send(b'{"choices": [')
    connection.close()


async def reset_in_failure(connection: Connection) -> None:
    """A failure whose body breaks off."""
    await connection.head(503, [("content-length", "100")])
    await connection.send(b"half a")
    connection.close()


async def test_a_reset_before_the_answer_is_retryable(transport: HTTPTransport) -> None:
    error = await failure_of(transport, reset_at_once)

    assert (error.status_code, error.is_retryable) == (None, True)


async def test_a_body_that_is_cut_is_retryable_and_says_where(transport: HTTPTransport) -> None:
    error = await failure_of(transport, cut_body)

    assert "broke off after 13 bytes" in str(error)
    assert (error.status_code, error.is_retryable) == (200, True)


async def test_a_failure_whose_body_breaks_off_keeps_its_status(transport: HTTPTransport) -> None:
    error = await failure_of(transport, reset_in_failure)

    assert (error.status_code, error.response_body) == (503, "half a")


class _Body(httpx.AsyncByteStream):
    """A body that a test controls: pieces, then a hang or an end; tells whether it was closed."""

    def __init__(self, *pieces: bytes, hangs: bool = False, close_hangs: bool = False) -> None:
        self.pieces = pieces
        self.hangs = hangs
        self.close_hangs = close_hangs
        self.is_closed = False
        self.closing = asyncio.Event()
        self.may_close = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.hangs:
            await asyncio.Event().wait()

    async def aclose(self) -> None:
        self.closing.set()
        if self.close_hangs:
            await self.may_close.wait()
        self.is_closed = True


async def opened_over(body: _Body, status: int = 200) -> HTTPAnswer:
    """An answer whose body is *body*."""
    client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(status, stream=body)))
    return await HTTPTransport(client, limits=SHORT).open(request_to(Server(url="http://x/v1")))


async def test_closing_early_releases_the_connection_even_when_cancelled_meanwhile() -> None:
    body = _Body(b"a", hangs=True, close_hangs=True)
    opened = await opened_over(body)
    assert await opened.next_bytes() == b"a"

    closing = asyncio.ensure_future(opened.aclose())
    await body.closing.wait()
    closing.cancel()
    asyncio.get_running_loop().call_later(0.01, body.may_close.set)
    with pytest.raises(asyncio.CancelledError):
        await closing

    assert body.is_closed


async def test_a_body_past_the_limit_is_refused() -> None:
    opened = await opened_over(_Body(b"0123456789", b"x"))

    with pytest.raises(APICallError, match="larger than 10 bytes"):
        await opened.read()

    await opened.aclose()


async def test_the_body_of_a_failure_is_waited_for_a_while_only() -> None:
    body = _Body(b"half", hangs=True)

    with pytest.raises(APICallError, match="HTTP 503: half"):
        await opened_over(body, 503)

    assert body.is_closed


async def test_what_follows_the_terminal_marker_is_waited_for_a_moment_only() -> None:
    body = _Body(b"a", hangs=True)
    opened = await opened_over(body)

    await opened.drain()
    await opened.aclose()

    assert body.is_closed


async def read_pieces(opened: HTTPAnswer) -> list[bytes]:
    """The rest of a stream."""
    pieces: list[bytes] = []
    while (piece := await opened.next_bytes()) is not None:
        pieces.append(piece)
    return pieces


async def test_a_stream_that_is_reset_says_so(transport: HTTPTransport) -> None:
    async def reset_mid_chunk(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(b"data: 1\n\n")
        await connection.send(b"ff\r\ndata: ")
        connection.close()

    async with serve(reset_mid_chunk) as server:
        opened = await transport.open(request_to(server))
        with pytest.raises(StreamInterruptedError, match=r"test\.chat: the stream broke off") as caught:
            await read_pieces(opened)
        await opened.aclose()

    assert caught.value.is_retryable


async def test_an_answer_may_be_closed_while_another_task_reads_it(transport: HTTPTransport) -> None:
    async def first_only(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(b"data: 1\n\n")
        await connection.gone.wait()

    async with serve(first_only) as server:
        opened = await transport.open(request_to(server))
        begun = await opened.next_bytes()
        reading = asyncio.create_task(opened.next_bytes())
        await asyncio.sleep(0)

        async with asyncio.timeout(5):
            await opened.aclose()

        assert begun == b"data: 1\n\n"
        with pytest.raises(StreamInterruptedError):
            await reading
