"""A URL arrives as it was written: a gateway may have signed it."""

from __future__ import annotations

import pytest

from onion.providers._http import HTTPTransport
from tests.providers.clients import Client, OwnClient, every_client
from tests.providers.http.requests import request_to
from tests.providers.loopback import answer, serve

__all__ = ["every_client"]


@pytest.mark.parametrize(
    ("path", "arrived"),
    [
        ("/v1/a%3Db%7E/chat?sig=%7E%27&x=%2F%3D", "/v1/a%3Db%7E/chat?sig=%7E%27&x=%2F%3D"),
        ("/v1/a b?x=ä", "/v1/a%20b?x=%C3%A4"),
        ("", "/"),
        ("?x=%7E", "/?x=%7E"),
    ],
    ids=["encoded", "to be encoded", "no path", "a query only"],
)
async def test_a_url_arrives_as_it_was_written(every_client: Client | OwnClient, path: str, arrived: str) -> None:
    transport = HTTPTransport(every_client)

    async with serve(answer({"ok": True})) as server:
        opened = await transport.open(request_to(server, url=server.url.removesuffix("/v1") + path))
        await opened.aclose()
        await transport.aclose()

    assert server.received[0].path == arrived
