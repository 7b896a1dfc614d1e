"""How the failure of a streamed run reaches its readers: once, and where it belongs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from onion import stream_text, tool
from onion.errors import OnionError
from onion.spec.parts import ErrorPart, FinishPart
from onion.testing import Raise, ScriptedModel, Wait, call, parts, text, tool_call, usage

if TYPE_CHECKING:
    from onion.spec.events import ErrorEvent


def endless() -> ScriptedModel:
    """A stream that never ends after its second piece."""
    return ScriptedModel([parts("one ", "two ", Wait(asyncio.Event()))])


async def test_a_with_block_closes_on_the_way_out() -> None:
    model = endless()

    async with stream_text(model=model, prompt="p") as result:
        view = result.text_stream
        await anext(view)

    assert model.open_streams == 0
    assert repr(result) == "StreamTextResult(ended)"


async def test_a_with_block_raises_the_failure_that_nobody_was_told_of() -> None:
    failures: list[ErrorEvent] = []
    types: list[str] = []

    with pytest.raises(OnionError, match="broken"):
        async with stream_text(model=ScriptedModel([OnionError("broken")]), prompt="p", on_error=failures.append) as r:
            types += [part.type async for part in r.full_stream]

    assert types == ["start", "error"]
    assert len(failures) == 1


async def test_a_with_block_raises_no_failure_twice() -> None:
    async with stream_text(model=ScriptedModel([OnionError("broken")]), prompt="p") as result:
        with pytest.raises(OnionError, match="broken"):
            await result.text


async def test_a_with_block_never_masks_the_error_of_its_body() -> None:
    async def body() -> None:
        async with stream_text(model=ScriptedModel([OnionError("broken")]), prompt="p") as result:
            async for _ in result.full_stream:
                pass
            raise ValueError("body")

    with pytest.raises(ValueError, match="body"):
        await body()


async def test_the_text_stream_raises_at_the_position_of_a_failure_and_the_run_ends_properly() -> None:
    failures: list[ErrorEvent] = []
    finish = FinishPart(finish_reason=text("").finish_reason, usage=usage())
    model = ScriptedModel([parts("before", ErrorPart(error=OnionError("hiccup")), "after", finish)])
    result = stream_text(model=model, prompt="p", on_error=failures.append)
    pieces: list[str] = []

    async def read() -> None:
        pieces.extend([piece async for piece in result.text_stream])

    with pytest.raises(OnionError, match="hiccup"):
        await read()

    assert len(failures) == 1
    assert model.open_streams == 0


async def test_a_failure_is_a_part_of_the_full_stream_and_raised_by_the_values() -> None:
    model = ScriptedModel([parts("so far", Raise(OnionError("cut")))])
    result = stream_text(model=model, prompt="p")

    types = [part.type async for part in result.full_stream]

    assert types[-3:] == ["error", "finish-step", "finish"]
    with pytest.raises(OnionError, match="cut"):
        await result.usage


async def test_what_ends_a_process_passes_through_the_reader() -> None:
    @tool
    async def leave() -> str:
        """Leave."""
        raise SystemExit(3)

    failures: list[ErrorEvent] = []
    model = ScriptedModel([tool_call("leave")])
    result = stream_text(model=model, prompt="p", tools=[leave], on_error=failures.append)
    seen: list[str] = []

    async def read() -> None:
        seen.extend([part.type async for part in result.full_stream])

    with pytest.raises(SystemExit):
        await read()

    assert len(failures) == 1
    with pytest.raises(SystemExit):
        await result.text
    assert call("leave").tool_name == "leave"
