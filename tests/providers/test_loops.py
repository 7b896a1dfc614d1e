"""One model object of each format in several event loops: one after the other, and at once in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage
from onion.streaming import collect
from tests.providers.formats import Format, every_format
from tests.providers.loopback import Script, Server, serve

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel

ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))


@contextmanager
def serving(script: Script) -> Generator[Server]:
    """A server in a thread and event loop of its own, which outlives the loops of its clients."""
    ready, over = threading.Event(), threading.Event()
    servers: list[Server] = []

    async def run() -> None:
        async with serve(script) as server:
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


async def use(model: LanguageModel) -> list[str]:
    """Two answers, whole and streamed."""
    return [(await model.do_generate(ASK)).text, (await collect(await model.do_stream(ASK))).text]


async def leave_early(model: LanguageModel) -> None:
    """Let go of a stream that is not read, as the loop ends."""
    opened = await model.do_stream(ASK)
    async for _ in opened:
        return


@every_format
def test_one_model_serves_one_loop_after_the_other_over_one_connection_each(form: Format) -> None:
    with serving(form.play()) as server:
        model = form.make(server.url, None)

        answers = [asyncio.run(use(model)) for _ in range(3)]

        assert answers == [["Hello, world"] * 2] * 3
        assert len(server.connections) == 3


@every_format
def test_one_model_serves_loops_in_several_threads_at_once(form: Format) -> None:
    with serving(form.play()) as server, ThreadPoolExecutor(4) as threads:
        model = form.make(server.url, None)

        running = [threads.submit(asyncio.run, use(model)) for _ in range(4)]

        assert [each.result() for each in running] == [["Hello, world"] * 2] * 4


@every_format
def test_a_loop_that_ended_in_the_middle_of_a_stream_does_not_hinder_the_next(form: Format) -> None:
    with serving(form.play()) as server:
        model = form.make(server.url, None)

        asyncio.run(leave_early(model))

        assert asyncio.run(use(model)) == ["Hello, world"] * 2
