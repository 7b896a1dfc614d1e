"""Proxies of the environment that cannot be used: what is wrong is said, and nothing is sent."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import pytest

from onion.errors import InvalidArgumentError
from onion.providers._http import HTTPTransport
from onion.providers._http.over_httpx import OwnClient, StreamedReply
from onion.providers._http.routes import is_any_socks
from tests.providers.clients import OWN, make_aiohttp
from tests.providers.http.requests import request_to
from tests.providers.http.test_reaching import no_proxies
from tests.providers.loopback import Server, answer, serve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tests.providers.clients import OwnClient as Package

__all__ = ["no_proxies"]
TARGET = "http://nowhere.invalid/v1"


@pytest.mark.parametrize("package", ["httpx", "httpx2"])
@pytest.mark.parametrize(
    ("scheme", "said"), [("socks5", r"httpx\[socks\]"), ("ftp", "http, https or socks5")], ids=["socks", "ftp"]
)
async def test_a_proxy_that_httpx_cannot_use_is_named_and_the_client_closes(
    package: Package, scheme: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"{scheme}://me:s3cret@127.0.0.1:9")
    transport = HTTPTransport(package)

    with pytest.raises(InvalidArgumentError, match=said) as caught:
        await transport.open(request_to(Server(), url=TARGET))
    monkeypatch.delenv("http_proxy")
    async with serve(answer({"ok": True})) as server:
        opened = await transport.open(request_to(server))
        await opened.aclose()
        await transport.aclose()

    assert f"{scheme}://127.0.0.1:9" in str(caught.value)
    assert "s3cret" not in str(caught.value)


async def test_what_is_wrong_without_a_proxy_comes_through() -> None:
    def connect(_proxy: str | None) -> tuple[Callable[..., Awaitable[StreamedReply]], Callable[[], Awaitable[None]]]:
        raise ImportError("h11 is broken")

    with pytest.raises(ImportError, match="h11 is broken"):
        await OwnClient(connect).post(TARGET, b"{}", {})


async def test_connections_that_cannot_be_closed_keep_no_others_open(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str | None] = []

    def connect(proxy: str | None) -> tuple[Callable[..., Awaitable[StreamedReply]], Callable[[], Awaitable[None]]]:
        async def close() -> None:
            closed.append(proxy)
            raise OSError("stuck")

        async def send(_url: str, _content: bytes, _headers: Mapping[str, str]) -> StreamedReply:
            raise ConnectionError("nobody is there")

        return send, close

    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    client = OwnClient(connect)
    for scheme in ("http", "https"):
        with pytest.raises(ConnectionError):
            await client.post(f"{scheme}://nowhere.invalid/", b"{}", {})

    with pytest.raises(OSError, match="stuck"):
        await client.aclose()

    assert closed == ["http://127.0.0.1:9", None]


async def test_aiohttp_says_nothing_to_a_socks_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(answer({"ok": True})) as proxy:
        address = proxy.url.removesuffix("/v1").replace("http://", "socks5://me:s3cret@")
        monkeypatch.setenv("all_proxy", address)
        transport = HTTPTransport("aiohttp")
        with pytest.raises(InvalidArgumentError, match=r"aiohttp .*'socks5://127\.0\.0\.1.*httpx") as caught:
            await transport.open(request_to(proxy, url=TARGET))
        await transport.aclose()

    assert "s3cret" not in str(caught.value)
    assert proxy.connections == []


def test_a_host_that_is_excepted_is_no_socks_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "socks.example")

    assert not is_any_socks()


@pytest.mark.parametrize("package", OWN)
@pytest.mark.parametrize("place", ["127.0.0.1:99999", "127.0.0.1:http", "[::1", ""])
async def test_a_proxy_that_cannot_be_read_is_refused_without_its_password(
    package: Package, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:s3cret@{place}")
    transport = HTTPTransport(package)

    with pytest.raises(InvalidArgumentError, match="proxy") as caught:
        await transport.open(request_to(Server(), url=TARGET))
    await transport.aclose()

    assert "s3cret" not in "".join(traceback.format_exception(caught.value)) + str(caught.value.value)


async def test_a_session_of_the_callers_asks_the_environment_for_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:99999")

    async with make_aiohttp() as session, serve(answer({"ok": True})) as server:
        opened = await HTTPTransport(session).open(request_to(server))
        await opened.aclose()

    assert len(server.received) == 1
