"""What httpx hands out, and what a client of one's own may do otherwise."""

from __future__ import annotations

import pytest

from onion.providers._http import HTTPAnswer, HTTPTransport
from onion.providers._http.over_httpx import StreamedReply
from tests.providers.clients import MAKERS, OWN, OwnClient
from tests.providers.http.requests import request_to
from tests.providers.loopback import Server, answer, serve


class Bytes:
    """A body without an end, and nothing to close; every second piece is empty."""

    def __init__(self) -> None:
        self.count = 0

    def __aiter__(self) -> Bytes:
        return self

    async def __anext__(self) -> bytes:
        self.count += 1
        return b"a" if self.count % 2 == 0 else b""


async def test_an_iterator_that_cannot_be_closed_is_left_alone_and_empty_pieces_are_no_end() -> None:
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    opened = HTTPAnswer(StreamedReply(200, {}, Bytes(), close), request_to(Server()))

    assert [await opened.next_bytes() for _ in range(2)] == [b"a", b"a"]
    await opened.aclose()
    assert closed == [True]


@pytest.mark.parametrize("package", ["httpx", "httpx2"])
async def test_a_client_of_our_own_sends_what_a_client_of_the_callers_sends(package: OwnClient) -> None:
    async with MAKERS[package]() as given, serve(answer({"ok": True})) as server:
        for transport in (HTTPTransport(given), HTTPTransport(package)):
            opened = await transport.open(request_to(server))
            await opened.aclose()
            await transport.aclose()

    theirs, ours = (received.headers for received in server.received)
    assert ours == theirs
    assert {"accept", "accept-encoding", "content-length", "host", "user-agent"} <= ours.keys()


@pytest.mark.parametrize("package", OWN)
async def test_a_client_of_our_own_keeps_no_cookies(package: OwnClient) -> None:
    transport = HTTPTransport(package)
    async with serve(answer({"ok": True}, headers=[("set-cookie", "who=alice; Path=/")])) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        for _ in range(2):
            opened = await transport.open(request_to(server, url=url))
            await opened.read()
            await opened.aclose()
        await transport.aclose()

    assert len(server.connections) == 1
    assert all("cookie" not in received.headers for received in server.received)
