"""Which client is used; one per event loop: opened on first use, closed with the loop, never shared between loops."""

from __future__ import annotations

import asyncio
import gc
import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest

from onion.errors import InvalidArgumentError, MissingExtraError
from onion.providers._http import HTTPLimits, HTTPTransport
from onion.providers._http.client import LoopClients, opener_of, sender_of, transport_errors
from onion.providers._http.over_aiohttp import OwnSession
from onion.providers._http.over_httpx import OwnClient
from tests.providers.clients import OWN, make_aiohttp
from tests.providers.http.requests import request_to
from tests.providers.loopback import Server, answer, serve

if TYPE_CHECKING:
    from onion.providers._http.client import HTTPClient
    from onion.providers._http.sending import Sender

every_own = pytest.mark.parametrize("name", OWN)


def clients_of(name: str) -> LoopClients:
    """Clients of the package *name*."""
    return LoopClients(partial(opener_of(name), HTTPLimits()))


async def get_twice(clients: LoopClients) -> tuple[Sender, Sender]:
    """What two calls in one loop get."""
    return await clients.get(), await clients.get()


async def is_usable(sender: Sender) -> bool:
    """Whether requests can be sent with it; a closed client refuses."""
    async with serve(answer({"ok": True})) as server:
        try:
            reply = await sender.post(server.url, b"{}", {})
        except RuntimeError:
            return False
        await reply.aclose()
        return True


@every_own
def test_each_loop_has_one_client_that_is_closed_when_the_loop_ends(name: str) -> None:
    clients = clients_of(name)

    first, again = asyncio.run(get_twice(clients))
    second, _ = asyncio.run(get_twice(clients))

    assert first is again
    assert first is not second
    assert not asyncio.run(is_usable(first))
    assert not asyncio.run(is_usable(second))


@every_own
def test_threads_with_loops_of_their_own_get_clients_of_their_own(name: str) -> None:
    clients = clients_of(name)
    found: list[Sender] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(get_twice(clients))[0])) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(map(id, found))) == 4


@every_own
async def test_closing_closes_the_client_of_this_loop_and_the_next_call_opens_another(name: str) -> None:
    clients = clients_of(name)

    await clients.aclose()
    first = await clients.get()
    await clients.aclose()
    second = await clients.get()

    assert not await is_usable(first)
    assert await is_usable(second)
    await clients.aclose()


@every_own
def test_a_loop_that_was_closed_without_a_shutdown_is_forgotten(name: str) -> None:
    clients = clients_of(name)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(clients.get())
    loop.close()

    asyncio.run(get_twice(clients))
    del loop
    gc.collect()

    assert len(clients) == 0


@every_own
def test_one_transport_serves_one_loop_after_the_other(name: HTTPClient) -> None:
    transport = HTTPTransport(name)

    async def ask(server: Server) -> bytes:
        opened = await transport.open(request_to(server))
        try:
            return await opened.read()
        finally:
            await opened.aclose()

    async def ask_twice() -> tuple[list[bytes], int]:
        async with serve(answer({"ok": True})) as server:
            return [await ask(server), await ask(server)], len(server.connections)

    assert [asyncio.run(ask_twice()) for _ in range(3)] == [([b'{"ok": true}'] * 2, 1)] * 3


def nothing_is_there(package: str) -> bool:
    """An environment without any package."""
    return not package


async def test_aiohttp_is_taken_where_it_is_installed_and_httpx_elsewhere() -> None:
    with_it = opener_of("auto")(HTTPLimits())
    without = opener_of("auto", is_there=nothing_is_there)(HTTPLimits())

    assert isinstance(with_it, OwnSession)
    assert isinstance(without, OwnClient)
    await with_it.aclose()
    await without.aclose()


async def test_a_socks_proxy_of_the_environment_is_left_to_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)

    opened = opener_of("auto")(HTTPLimits())

    with pytest.raises(InvalidArgumentError, match=r"httpx\[socks\]"):  # what httpx needs for that
        await opened.post("http://nowhere.invalid/", b"{}", {})


@pytest.mark.parametrize(("name", "extra"), [("aiohttp", "fast"), ("httpx2", "httpx2")])
def test_a_package_that_is_not_installed_is_named_with_its_extra(name: str, extra: str) -> None:
    with pytest.raises(MissingExtraError, match=rf"onion-ai\[{extra}\]"):
        opener_of(name, is_there=nothing_is_there)


def test_a_name_that_no_client_has_is_refused_at_once() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'auto', 'aiohttp', 'httpx', 'httpx2'.*'requests'") as caught:
        opener_of("requests")

    assert caught.value.parameter == "http_client"


@pytest.mark.parametrize("loaded", [(), ("aiohttp",)], ids=["aiohttp not loaded", "aiohttp loaded"])
def test_what_is_no_client_is_refused_at_once(loaded: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="must be a client of httpx, httpx2 or aiohttp"):
        sender_of(Server(), loaded=loaded)  # type: ignore[arg-type]  # the mistake


async def test_a_session_of_the_callers_stays_open() -> None:
    async with make_aiohttp() as session, serve(answer({"ok": True})) as server:
        transport = HTTPTransport(session)
        opened = await transport.open(request_to(server))
        await opened.aclose()
        await transport.aclose()

        assert not session.closed


def test_only_the_errors_of_loaded_clients_are_known() -> None:
    assert transport_errors(loaded=()) == (OSError,)
    assert len(transport_errors(loaded=("httpx",))) == 4
    assert len(transport_errors(loaded=("httpx2",))) == 4
    assert len(transport_errors(loaded=("aiohttp",))) == 2
    assert len(transport_errors()) >= 4
