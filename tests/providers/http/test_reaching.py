"""How a server is reached, the same whatever a provider's own client is made with: certificates and proxies."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from onion.errors import APICallError
from onion.providers._http import HTTPTransport
from onion.providers._http.routes import is_any_socks, proxy_for
from tests.providers.clients import OWN
from tests.providers.http.requests import request_to
from tests.providers.loopback import Connection, Server, answer, serve

CERTIFICATE = Path(__file__).with_name("certificate.pem")
"""Of a server on loopback, with its key; signed by nobody, and for these tests only."""
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names no proxy, whatever it is that runs the tests."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(params=OWN)
async def transport(request: pytest.FixtureRequest) -> AsyncIterator[HTTPTransport]:
    """A client of each package in turn."""
    opened = HTTPTransport(request.param)
    yield opened
    await opened.aclose()


async def read(transport: HTTPTransport, server: Server, *, url: str | None = None) -> bytes:
    """The body of the answer to a request."""
    opened = await transport.open(request_to(server, url=url))
    try:
        return await opened.read()
    finally:
        await opened.aclose()


@asynccontextmanager
async def serve_tls() -> AsyncGenerator[Server]:
    """A server behind TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    async with serve(answer({"ok": True}), tls=context) as server:
        yield server


async def test_a_certificate_that_nobody_signed_is_refused(transport: HTTPTransport) -> None:
    async with serve_tls() as server:
        with pytest.raises(APICallError, match="CERTIFICATE_VERIFY_FAILED") as caught:
            await read(transport, server)

    assert caught.value.status_code is None
    assert server.received == []


async def test_the_environment_may_name_the_certificates_to_trust(
    transport: HTTPTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))

    async with serve_tls() as server:
        assert await read(transport, server) == b'{"ok": true}'


@pytest.mark.parametrize("name", ["http_proxy", "ALL_PROXY"])
async def test_a_proxy_of_the_environment_is_asked_with_its_credentials(
    transport: HTTPTransport, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(answer({"proxied": True})) as proxy:
        address = proxy.url.removesuffix("/v1").replace("http://", "http://me:pass@")
        monkeypatch.setenv(name, address)
        body = await read(transport, proxy, url="http://nowhere.invalid/v1/chat")

    assert body == b'{"proxied": true}'
    assert proxy.received[0].path == "http://nowhere.invalid/v1/chat"
    assert proxy.received[0].headers["proxy-authorization"] == "Basic bWU6cGFzcw=="


async def test_a_host_that_is_excepted_is_asked_directly(
    transport: HTTPTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    async with serve(answer({"ok": True})) as server:
        assert await read(transport, server) == b'{"ok": true}'


async def test_a_proxy_that_refuses_a_tunnel_is_an_error_that_may_pass(
    transport: HTTPTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(connection: Connection) -> None:
        await connection.head(403, [("content-length", "0")])

    async with serve(refuse) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.removesuffix("/v1"))
        with pytest.raises(APICallError, match="403") as caught:
            await read(transport, proxy, url="https://nowhere.invalid/v1/chat")

    assert (caught.value.status_code, caught.value.is_retryable) == (None, True)
    assert proxy.received[0].path == "nowhere.invalid:443"


@pytest.mark.parametrize(
    ("environment", "url", "expected"),
    [
        ({}, "http://a.example/x", None),
        ({"http_proxy": "http://p:1"}, "http://a.example/x", "http://p:1"),
        ({"http_proxy": "p:1"}, "http://a.example/x", "http://p:1"),
        ({"http_proxy": "http://p:1"}, "https://a.example/x", None),
        ({"all_proxy": "http://p:1"}, "https://a.example/x", "http://p:1"),
        ({"all_proxy": "http://p:1", "https_proxy": "http://q:1"}, "https://a.example/x", "http://q:1"),
        ({"all_proxy": "http://p:1", "no_proxy": "example"}, "https://me:x@a.example:8/x", None),
        ({"all_proxy": "http://p:1", "no_proxy": "*"}, "https://a.example/x", None),
    ],
    ids=["none", "by scheme", "without a scheme", "of another scheme", "for all", "by scheme first", "part", "no host"],
)
def test_the_proxy_of_a_url_is_found(
    environment: dict[str, str], url: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert proxy_for(url) == expected


def test_a_socks_proxy_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "http://p:1")
    before = is_any_socks()
    monkeypatch.setenv("https_proxy", "socks5h://p:1")

    assert (before, is_any_socks()) == (False, True)
