"""Servers that close a connection which they seemed to keep: the next call goes over another one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage
from tests.providers.clients import Client, client
from tests.providers.formats import Format, every_format
from tests.providers.loopback import serve
from tests.providers.test_faults import said

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel
    from tests.providers.loopback import Connection, Script

__all__ = ["client"]
CALLS = 12


def hasty(form: Format) -> Script:
    """Answer as if the connection were kept, and close it."""

    async def script(connection: Connection) -> None:
        await form.play()(connection)
        connection.close()

    return script


async def answers(model: LanguageModel, *, pause: float) -> list[str]:
    """Several answers in a row, streamed and whole."""
    texts: list[str] = []
    for number in range(CALLS):
        texts.append(await said(model, "stream" if number % 2 else "generate"))
        await asyncio.sleep(pause)
    return texts


@every_format
@pytest.mark.parametrize("pause", [0, 0.01], ids=["at once", "later"])
async def test_the_next_call_goes_over_another_connection(form: Format, pause: float, client: Client) -> None:
    async with serve(hasty(form)) as server:
        texts = await answers(form.make(server.url, client), pause=pause)

    assert texts == ["Hello, world"] * CALLS


@every_format
@pytest.mark.parametrize("pause", [0, 0.01], ids=["at once", "later"])
async def test_it_does_with_a_client_of_its_own_too(form: Format, pause: float) -> None:
    async with serve(hasty(form)) as server:
        texts = await answers(form.make(server.url, None), pause=pause)

    assert texts == ["Hello, world"] * CALLS


@every_format
async def test_a_long_request_goes_over_another_connection_too(form: Format, client: Client) -> None:
    long = CallOptions(prompt=(UserMessage(content=(TextPart(text="long " * 40_000),)),))

    async with serve(hasty(form)) as server:
        for maker in (client, None):
            model = form.make(server.url, maker)
            texts = [(await model.do_generate(long)).text for _ in range(5)]
            assert texts == ["Hello, world"] * 5
