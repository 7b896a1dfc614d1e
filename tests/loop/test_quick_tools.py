"""Tools that wait for nothing run in the task that reads."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator

import pytest

from onion import generate_text, is_step_count, stream_text, tool
from onion.loop.execution import finish_now
from onion.spec.tools import TypedToolResult
from onion.testing import ScriptedModel, answer, call, text

mood: contextvars.ContextVar[str] = contextvars.ContextVar("mood", default="unset")


async def test_tools_that_wait_for_nothing_run_beside_those_that_do_and_need_no_task() -> None:
    tasks: list[asyncio.Task[object] | None] = []

    @tool
    async def quick(number: int) -> int:
        """Wait for nothing."""
        tasks.append(asyncio.current_task())
        return number

    @tool
    async def slow() -> str:
        """Wait a little."""
        tasks.append(asyncio.current_task())
        await asyncio.sleep(0)
        return "slow"

    calls = [call("quick", {"number": 1}, id="a"), call("slow", {}, id="b"), call("quick", {"number": 2}, id="c")]
    model = ScriptedModel([answer(*calls), text("done")])
    result = await generate_text(model=model, prompt="p", tools=[quick, slow], stop_when=is_step_count(3))

    assert [part.output for part in result.steps[0].content if isinstance(part, TypedToolResult)] == [1, "slow", 2]
    assert [task is asyncio.current_task() for task in tasks] == [True, True, False]


async def test_what_ends_a_process_keeps_the_tools_after_it_from_beginning() -> None:
    begun: list[int] = []

    @tool
    async def leave(number: int) -> None:
        """End the process."""
        begun.append(number)
        raise SystemExit(number)

    calls = [call("leave", {"number": 1}, id="a"), call("leave", {"number": 2}, id="b")]
    with pytest.raises(SystemExit, match="1"):
        await generate_text(model=ScriptedModel([answer(*calls)]), prompt="p", tools=[leave])

    assert begun == [1]


async def test_what_a_tool_sets_in_its_context_stays_there() -> None:
    seen: list[str] = []

    @tool
    async def look() -> None:
        """Look, and change it."""
        seen.append(mood.get())
        mood.set("changed")

    calls = [call("look", id="a"), call("look", id="b")]
    await generate_text(model=ScriptedModel([answer(*calls), text("done")]), prompt="p", tools=[look])

    assert [*seen, mood.get()] == ["unset", "unset", "unset"]


async def test_waiting_where_nothing_can_wait_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="waits although"):
        finish_now(asyncio.sleep(0))


async def test_what_an_iterator_of_a_plain_function_gives_is_shown_before_it_goes_on() -> None:
    was_seen = asyncio.Event()

    async def steps() -> AsyncIterator[str]:
        yield "one"
        await was_seen.wait()
        yield "two"

    @tool
    def count() -> AsyncIterator[str]:
        """Count."""
        return steps()

    shown: list[object] = []
    result = stream_text(model=ScriptedModel([answer(call("count")), text("done")]), prompt="p", tools=[count])
    async with asyncio.timeout(10):
        async for part in result.full_stream:
            if isinstance(part, TypedToolResult):
                shown.append(part.output)
                was_seen.set()

    assert shown == ["one", "two", "two"]
