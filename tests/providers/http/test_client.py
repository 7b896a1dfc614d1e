"""One client per event loop: opened on first use, closed with the loop, never shared between loops."""

from __future__ import annotations

import asyncio
import gc
import threading

from onion.providers._http.client import HTTPClient, LoopClients, transport_errors


async def get_twice(clients: LoopClients) -> tuple[HTTPClient, HTTPClient]:
    """What two calls in one loop get."""
    return await clients.get(), await clients.get()


def is_closed(client: HTTPClient) -> bool:
    """Whether the client, which is httpx's, was closed."""
    import httpx

    assert isinstance(client, httpx.AsyncClient)
    return client.is_closed


def test_each_loop_has_one_client_that_is_closed_when_the_loop_ends() -> None:
    clients = LoopClients()

    first, again = asyncio.run(get_twice(clients))
    second, _ = asyncio.run(get_twice(clients))

    assert first is again
    assert first is not second
    assert is_closed(first)
    assert is_closed(second)


def test_threads_with_loops_of_their_own_get_clients_of_their_own() -> None:
    clients = LoopClients()
    found: list[HTTPClient] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(get_twice(clients))[0])) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(map(id, found))) == 4


async def test_closing_closes_the_client_of_this_loop_and_the_next_call_opens_another() -> None:
    clients = LoopClients()

    await clients.aclose()
    first = await clients.get()
    await clients.aclose()
    second = await clients.get()

    assert is_closed(first)
    assert not is_closed(second)


def test_a_loop_that_was_closed_without_a_shutdown_is_forgotten() -> None:
    clients = LoopClients()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(clients.get())
    loop.close()

    asyncio.run(get_twice(clients))
    del loop
    gc.collect()

    assert len(clients) == 0


def test_only_the_errors_of_loaded_clients_are_known() -> None:
    assert transport_errors(loaded=()) == (OSError,)
    assert len(transport_errors(loaded=("httpx",))) == 4
    assert len(transport_errors()) >= 4
