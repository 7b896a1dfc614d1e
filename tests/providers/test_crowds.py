"""Many calls at once: each gets its own answer, and whoever leaves early leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import json
import warnings
from typing import TYPE_CHECKING

import pytest

from onion.spec.call import CallOptions
from onion.spec.parts import TextDelta
from onion.spec.prompt import TextPart, UserMessage
from onion.streaming import collect
from tests.providers.clients import Client, client
from tests.providers.formats import Format, both_modes, every_format, is_streamed
from tests.providers.loopback import SSE_HEADERS, Connection, Script, Server, answer, serve, stream

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel
    from onion.spec.stream import StreamResult

__all__ = ["client"]

CROWD = 40


def ask(number: int) -> CallOptions:
    """A call with a number in it."""
    return CallOptions(prompt=(UserMessage(content=(TextPart(text=f"<{number}>"),)),))


def echo(form: Format) -> Script:
    """Say the number of each call in place of ``world``."""

    async def script(connection: Connection) -> None:
        number = connection.request.body.partition(b"<")[2].partition(b">")[0]
        if is_streamed(connection):
            await stream(*(event.replace(b"world", number) for event in form.text_events))(connection)
        else:
            await answer(json.dumps(form.text).encode().replace(b"world", number))(connection)

    return script


def endless(form: Format) -> Script:
    """Begin to speak, and never end."""

    async def script(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(b"".join(form.text_events[: form.content_at + 1]))
        await connection.gone.wait()

    return script


async def said(model: LanguageModel, number: int) -> str:
    """The text of one answer, whole or streamed."""
    if number % 2:
        return (await model.do_generate(ask(number))).text
    return (await collect(await model.do_stream(ask(number)))).text


async def everybody_is_gone(server: Server) -> None:
    """The client has given up every connection."""
    async with asyncio.timeout(5):
        for connection in server.connections:
            await connection.gone.wait()


@every_format
async def test_two_hundred_calls_at_once_each_get_their_own_answer(form: Format) -> None:
    async with serve(echo(form)) as server:
        model = form.make(server.url, None)

        texts = await asyncio.gather(*(said(model, number) for number in range(200)))

        assert texts == [f"Hello, {number}" for number in range(200)]
        assert len(server.received) == 200
        assert all(connection.is_idle for connection in server.connections)


@every_format
async def test_a_crowd_that_is_cancelled_in_the_middle_of_its_streams_holds_nothing(
    form: Format, client: Client
) -> None:
    begun = asyncio.Semaphore(0)

    async def listen(model: LanguageModel) -> None:
        async with await model.do_stream(ask(0)) as opened:
            async for part in opened:
                if isinstance(part, TextDelta):
                    begun.release()

    async with serve(endless(form)) as server:
        model = form.make(server.url, client)
        tasks = [asyncio.create_task(listen(model)) for _ in range(CROWD)]
        for _ in tasks:
            await begun.acquire()
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await everybody_is_gone(server)

    assert [type(error) for error in ended] == [asyncio.CancelledError] * CROWD
    assert begun.locked()


@every_format
@both_modes
async def test_who_waits_for_an_answer_can_be_cancelled_at_once(form: Format, mode: str, client: Client) -> None:
    async def silent(connection: Connection) -> None:
        await connection.gone.wait()

    async with serve(silent) as server:
        model = form.make(server.url, client)
        task = asyncio.ensure_future(said(model, 1 if mode == "generate" else 2))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await everybody_is_gone(server)


@every_format
async def test_a_stream_that_is_dropped_warns_if_nobody_read_it_and_leaves_no_socket_to_warn_of(
    form: Format, client: Client
) -> None:
    async with serve(endless(form)) as server:
        model = form.make(server.url, client)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            await _drop(await model.do_stream(ask(0)), parts=0)
            await _drop(await model.do_stream(ask(0)), parts=2)
            await everybody_is_gone(server)
            gc.collect()

    assert [(warning.category, "unread" in str(warning.message)) for warning in caught] == [(ResourceWarning, True)]


async def _drop(opened: StreamResult, *, parts: int) -> None:
    """Read that many parts, and forget the stream."""
    if parts:
        iterator = aiter(opened)
        for _ in range(parts):
            await anext(iterator)
