"""A connection whose closing fails: why the run ends does not change, and nobody is left without an answer."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from onion import generate_text, stream_text, tool
from onion.errors import AbortedError, OnionError
from onion.spec import StreamResult
from onion.spec.parts import StreamStart, TextDelta, TextStart
from onion.testing import ScriptedModel, tool_call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from onion.spec import CallOptions, GenerateResult, SupportedURLs
    from onion.spec.events import AbortEvent, ErrorEvent
    from onion.spec.parts import StreamPart


class Stubborn:
    """A model whose streams never end, and cannot be closed in peace."""

    provider = "stubborn"
    model_id = "stubborn-1"

    def __init__(self) -> None:
        self.supported_urls: SupportedURLs = {}
        self.waiting = asyncio.Event()

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        raise AssertionError

    async def do_stream(self, params: CallOptions) -> StreamResult:
        async def parts() -> AsyncGenerator[StreamPart, None]:
            yield StreamStart()
            yield TextStart(id="a")
            yield TextDelta(id="a", delta="x")
            self.waiting.set()
            await asyncio.Event().wait()

        async def close() -> None:
            raise OnionError("the connection would not close")

        return StreamResult(parts(), close=close)


async def test_an_aborted_run_is_aborted_all_the_same() -> None:
    aborts: list[AbortEvent] = []
    failures: list[ErrorEvent] = []
    result = stream_text(model=Stubborn(), prompt="p", on_abort=aborts.append, on_error=failures.append)
    full = result.full_stream
    seen = [(await anext(full)).type for _ in range(4)]

    result.abort("enough")
    seen += [part.type async for part in full]

    assert seen == ["start", "start-step", "text-start", "text-delta", "abort"]
    assert (len(aborts), len(failures)) == (1, 0)
    with pytest.raises(AbortedError, match="enough"):
        await result.text


async def test_an_interrupted_run_is_aborted_all_the_same() -> None:
    model = Stubborn()
    result = stream_text(model=model, prompt="p")

    async def read() -> str:
        return await result.text

    reader = asyncio.create_task(read())
    await model.waiting.wait()
    result.abort("enough")

    with pytest.raises(AbortedError, match="enough"):
        await reader


async def test_a_cancelled_reader_is_cancelled_all_the_same() -> None:
    model = Stubborn()
    aborts: list[AbortEvent] = []
    result = stream_text(model=model, prompt="p", on_abort=aborts.append)

    async def read() -> str:
        return await result.text

    reader = asyncio.create_task(read())
    await model.waiting.wait()
    reader.cancel()
    await asyncio.wait([reader])

    assert reader.cancelled()
    assert [event.kind for event in aborts] == ["cancel"]


async def test_closing_raises_what_closing_raised() -> None:
    aborts: list[AbortEvent] = []
    result = stream_text(model=Stubborn(), prompt="p", on_abort=aborts.append)
    texts = result.text_stream
    await anext(texts)

    with pytest.raises(OnionError, match="would not close"):
        await result.aclose()

    assert len(aborts) == 1


async def test_what_is_closed_for_nobody_is_told_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    result = stream_text(model=Stubborn(), prompt="p")

    with caplog.at_level(logging.WARNING, logger="onion"):
        async for _ in result.text_stream:
            break
        for _ in range(10):
            await asyncio.sleep(0)

    assert "lost its readers" in caplog.text


async def test_a_tool_that_turns_its_cancellation_into_an_error_does_not_hide_it() -> None:
    waiting = asyncio.Event()

    @tool
    async def odd() -> str:
        """Raise something else."""
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise OnionError("interrupted") from error
        return "never"

    task = asyncio.create_task(generate_text(model=ScriptedModel([tool_call("odd")]), prompt="p", tools=[odd]))
    await waiting.wait()
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
