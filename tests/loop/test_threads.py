"""Plain functions as tools: each in a thread of its own, so that none waits for another's."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading

import pytest

import onion.sync
from onion import Tool, generate_text, is_step_count, tool
from onion.errors import TypeValidationError
from onion.testing import ScriptedModel, answer, call, text, tool_call


def nested(depth: int) -> Tool:
    """A tool that runs the loop, with a tool that runs the loop, and so on."""

    @tool
    def go_down() -> str:
        """Go one deeper."""
        if depth == 0:
            return "bottom"
        model = ScriptedModel([tool_call("go_down", {}), text(f"back at {depth}")])
        return onion.sync.generate_text(
            model=model, prompt="down", tools=[nested(depth - 1)], stop_when=is_step_count(2)
        ).text

    return go_down


async def test_tools_that_run_the_loop_may_be_nested_deeper_than_any_pool() -> None:
    model = ScriptedModel([tool_call("go_down", {}), text("done")])

    result = await generate_text(model=model, prompt="down", tools=[nested(40)], stop_when=is_step_count(2))

    assert result.steps[0].tool_results[0].output == "back at 40"


async def test_as_many_plain_functions_run_at_once_as_are_called() -> None:
    barrier = threading.Barrier(60, timeout=10)

    @tool
    def meet() -> int:
        """Wait for all the others."""
        return barrier.wait()

    calls = [call("meet", {}, id=str(number)) for number in range(60)]
    model = ScriptedModel([answer(*calls), text("done")])

    result = await generate_text(model=model, prompt="meet", tools=[meet], stop_when=is_step_count(2))

    assert sorted(str(part.output) for part in result.steps[0].tool_results) == sorted(map(str, range(60)))


def test_a_function_that_never_returns_does_not_keep_the_program_from_ending() -> None:
    program = textwrap.dedent("""
        import asyncio, threading
        from onion import generate_text, is_step_count, tool, TimeoutLimits
        from onion.testing import ScriptedModel, text, tool_call

        @tool
        def hang() -> str:
            "Never return."
            threading.Event().wait()
            return "never"

        result = asyncio.run(generate_text(
            model=ScriptedModel([tool_call("hang", {}), text("went on")]), prompt="p", tools=[hang],
            stop_when=is_step_count(2), timeout=TimeoutLimits(tool=0.05)))
        print(result.text)
    """)

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=15, check=True)

    assert ended.stdout == "went on\n"


def test_a_function_that_returns_after_its_event_loop_is_closed_is_dropped_in_silence() -> None:
    release, returned = threading.Event(), threading.Event()

    @tool
    def late() -> str:
        """Return when nobody waits any more."""
        release.wait(10)
        threading.Timer(0.05, returned.set).start()
        return "late"

    async def run() -> None:
        model = ScriptedModel([tool_call("late", {})])
        task = asyncio.ensure_future(generate_text(model=model, prompt="p", tools=[late]))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(run())
    release.set()

    assert returned.wait(10)


async def test_an_output_that_is_no_json_fails_the_run_and_names_the_tool() -> None:
    @tool
    def look() -> object:
        """Give a number that is too long for JSON."""
        return 10**5000

    model = ScriptedModel([tool_call("look", {}), text("done")])

    with pytest.raises(TypeValidationError, match="the output of tool 'look' has no JSON form"):
        await generate_text(model=model, prompt="p", tools=[look], stop_when=is_step_count(2))


async def test_an_exception_that_cannot_say_what_it_is_is_named() -> None:
    class Mute(Exception):  # noqa: N818 - a tool's own
        def __str__(self) -> str:
            raise RuntimeError("no words")

    @tool
    def look() -> str:
        """Fail without words."""
        raise Mute

    model = ScriptedModel([tool_call("look", {}), text("done")])

    result = await generate_text(model=model, prompt="p", tools=[look], stop_when=is_step_count(2))

    assert result.text == "done"
    assert "Mute: (its message cannot be read: RuntimeError)" in str(result.response_messages[1])
