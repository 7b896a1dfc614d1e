"""A request with a key in it, as a provider would make it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._http import HTTPRequest

if TYPE_CHECKING:
    from tests.providers.loopback import Server

KEY = "sk-TESTKEY-123"


def request_to(server: Server, *, url: str | None = None, content: bytes = b'{"a":1}') -> HTTPRequest:
    """A request to *server*, or to *url*."""
    return HTTPRequest(
        url=url or f"{server.url}/chat?version=1",
        content=content,
        headers={"content-type": "application/json", "authorization": f"Bearer {KEY}"},
        body={"a": 1},
        sender="test.chat",
    )
