"""One model object in several event loops: one after the other, and at once in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onion.providers import openai_compatible
from onion.streaming import collect
from tests.providers.clients import make_httpx
from tests.providers.loopback import Server, serve, stream
from tests.providers.openai_chat.bodies import HELLO, STREAM

if TYPE_CHECKING:
    from onion.providers._model import WireModel
    from onion.providers.openai_chat import ChatProvider


@contextmanager
def serving() -> Generator[Server]:
    """A server in a thread and event loop of its own, which outlives the loops of its clients."""
    ready, over = threading.Event(), threading.Event()
    servers: list[Server] = []

    async def run() -> None:
        async with serve(stream(*STREAM)) as server:
            servers.append(server)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait()
    try:
        yield servers[0]
    finally:
        over.set()
        thread.join()


async def use(model: WireModel) -> list[str]:
    """Two answers."""
    return [(await collect(await model.do_stream(HELLO))).text for _ in range(2)]


def test_one_model_serves_one_loop_after_the_other_over_one_connection_each() -> None:
    with serving() as server:
        model = openai_compatible(base_url=server.url, model="m")

        answers = [asyncio.run(use(model)) for _ in range(3)]

        assert answers == [["Hello, world"] * 2] * 3
        assert len(server.connections) == 3


def test_one_model_serves_loops_in_several_threads_at_once() -> None:
    answers: list[list[str]] = []

    with serving() as server:
        model = openai_compatible(base_url=server.url, model="m")
        threads = [threading.Thread(target=lambda: answers.append(asyncio.run(use(model)))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert answers == [["Hello, world"] * 2] * 4


def test_a_client_that_was_given_is_not_closed_with_the_provider() -> None:
    async def run(server: Server) -> bool:
        async with make_httpx() as client:
            provider = openai_compatible(base_url=server.url, http_client=client)
            await use(provider.chat("m"))
            await provider.aclose()
            return client.is_closed

    with serving() as server:
        assert not asyncio.run(run(server))


def test_a_provider_that_was_closed_opens_again_when_needed() -> None:
    async def run(provider: ChatProvider) -> list[str]:
        first = await use(provider.chat("m"))
        await provider.aclose()
        return first + await use(provider.chat("m"))

    with serving() as server:
        assert asyncio.run(run(openai_compatible(base_url=server.url))) == ["Hello, world"] * 4
