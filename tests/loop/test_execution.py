"""Running tools: order, threads, preliminary results, layers around them, and every way in which they fail."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from onion import Middleware, ToolOptions, generate_text, is_step_count, stream_text, tool
from onion.errors import InvalidToolInputError
from onion.spec.tools import TypedToolError, TypedToolResult
from onion.testing import ScriptedModel, answer, call, text, tool_call

if TYPE_CHECKING:
    from onion import GenerateTextResult, Tool
    from onion.loop import RunOptions
    from onion.spec import ToolCall
    from onion.spec.call import RunInfo
    from onion.spec.tools import TypedToolCall
    from onion.wrap import Execute

mood: contextvars.ContextVar[str] = contextvars.ContextVar("mood", default="none")


def options(*calls: ToolCall, tools: list[Tool], **more: object) -> RunOptions:
    """A run whose model makes *calls* and is then done."""
    made: RunOptions = {
        "model": ScriptedModel([answer(*calls), text("done")]),
        "prompt": "p",
        "tools": tools,
        "stop_when": is_step_count(3),
    }
    return made | more  # type: ignore[return-value]  # names of arguments


def outcomes(result: GenerateTextResult[str]) -> list[object]:
    """What the first step's tools gave: outputs and errors, in order."""
    return [
        part.output if isinstance(part, TypedToolResult) else part.error
        for part in result.steps[0].content
        if isinstance(part, TypedToolResult | TypedToolError)
    ]


async def test_results_stand_in_call_order_while_the_stream_shows_them_as_they_come() -> None:
    first_is_done = asyncio.Event()

    @tool
    async def slow() -> str:
        """Wait for the other."""
        await first_is_done.wait()
        return "slow"

    @tool
    async def fast() -> str:
        """Be first."""
        first_is_done.set()
        return "fast"

    result = stream_text(**options(call("slow", id="1"), call("fast", id="2"), tools=[slow, fast]))
    live = [part.output async for part in result.full_stream if isinstance(part, TypedToolResult)]

    assert live == ["fast", "slow"]
    assert [found.output for found in (await result.steps)[0].tool_results] == ["slow", "fast"]


async def test_at_most_so_many_tools_run_at_once() -> None:
    running: list[int] = []
    most: list[int] = []

    @tool
    async def work(number: int) -> int:
        """Work."""
        running.append(number)
        most.append(len(running))
        await asyncio.sleep(0)
        running.remove(number)
        return number

    calls = [call("work", {"number": number}, id=str(number)) for number in range(6)]
    result = await generate_text(**options(*calls, tools=[work], tool_call_concurrency=2))

    assert max(most) == 2
    assert outcomes(result) == list(range(6))


async def test_a_plain_function_runs_in_a_thread_with_the_callers_context() -> None:
    @tool
    def where() -> tuple[str, bool]:
        """Say where."""
        return mood.get(), threading.current_thread() is threading.main_thread()

    mood.set("calm")
    result = await generate_text(**options(call("where"), tools=[where]))

    assert outcomes(result) == [("calm", False)]


async def test_a_plain_function_may_give_something_to_await() -> None:
    async def later() -> str:
        return "later"

    @tool
    def promise() -> object:
        """Promise."""
        return later()

    result = await generate_text(**options(call("promise"), tools=[promise]))

    assert outcomes(result) == ["later"]


async def test_a_generator_gives_preliminary_results_and_its_last_is_the_output() -> None:
    @tool
    async def count() -> AsyncIterator[int]:
        """Count."""
        for number in range(3):
            yield number

    result = stream_text(**options(call("count"), tools=[count]))
    live = [(part.output, part.preliminary) async for part in result.full_stream if isinstance(part, TypedToolResult)]

    assert live == [(0, True), (1, True), (2, True), (2, None)]


async def test_an_iterator_that_a_plain_function_gives_does_as_well() -> None:
    class Numbers:
        def __init__(self) -> None:
            self.left = 2

        def __aiter__(self) -> Numbers:
            return self

        async def __anext__(self) -> int:
            if not self.left:
                raise StopAsyncIteration
            self.left -= 1
            return self.left

    numbers = tool(name="numbers", input_schema={"type": "object"}, execute=lambda: Numbers())  # noqa: PLW0108 - each call counts anew
    result = stream_text(**options(call("numbers"), tools=[numbers]))
    live = [(part.output, part.preliminary) async for part in result.full_stream if isinstance(part, TypedToolResult)]

    assert live == [(1, True), (0, True), (0, None)]


async def test_what_a_tool_raises_is_told_to_the_model_and_the_others_go_on() -> None:
    @tool
    async def broken() -> str:
        """Break."""
        raise ValueError("bad x")

    @tool
    async def whole() -> str:
        """Work."""
        await asyncio.sleep(0)
        return "ok"

    given = options(call("broken", id="1"), call("whole", id="2"), tools=[broken, whole])
    result = await generate_text(**given)

    error, output = outcomes(result)
    assert (str(error), output) == ("bad x", "ok")
    assert "ValueError: bad x" in str(result.response_messages[1])
    assert result.text == "done"


@pytest.mark.parametrize("kind", [StopIteration, StopAsyncIteration])
@pytest.mark.parametrize("style", ["sync", "async", "generator"])
@pytest.mark.parametrize("count", [1, 2])
async def test_ending_an_iteration_is_an_ordinary_failure(kind: type[Exception], style: str, count: int) -> None:
    async def awaited(_value: object) -> str:
        raise kind("x")

    async def generated(_value: object) -> AsyncIterator[str]:
        yield "first"
        raise kind("x")

    def plain(_value: object) -> str:
        raise kind("x")

    execute = {"sync": plain, "async": awaited, "generator": generated}[style]
    ends = tool(name="ends", input_schema={"type": "object"}, execute=execute)
    calls = [call("ends", id=str(number)) for number in range(count)]

    result = await generate_text(**options(*calls, tools=[ends]))

    assert [type(error) for error in outcomes(result)] == [kind] * count
    assert result.text == "done"


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("is_sync", [True, False])
async def test_what_ends_a_process_ends_the_run(count: int, is_sync: bool) -> None:  # noqa: FBT001 - a parameter of the test
    def plain(_value: object) -> str:
        raise KeyboardInterrupt

    async def awaited(_value: object) -> str:
        raise KeyboardInterrupt

    leave = tool(name="leave", input_schema={"type": "object"}, execute=plain if is_sync else awaited)
    calls = [call("leave", id=str(number)) for number in range(count)]

    with pytest.raises(KeyboardInterrupt):
        await generate_text(**options(*calls, tools=[leave]))

    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("count", [1, 2])
async def test_a_cancellation_that_a_tool_raises_by_itself_is_a_failure(count: int) -> None:
    @tool
    async def odd() -> str:
        """Be odd."""
        raise asyncio.CancelledError("mine")

    calls = [call("odd", id=str(number)) for number in range(count)]
    result = await generate_text(**options(*calls, tools=[odd]))

    assert [str(error) for error in outcomes(result)] == ["mine"] * count


@pytest.mark.parametrize("count", [1, 2])
async def test_a_tool_that_swallows_the_cancellation_does_not_keep_the_run_going(count: int) -> None:
    waiting = asyncio.Event()

    @tool
    async def stubborn() -> str:
        """Ignore it."""
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "partial"
        return "never"

    given = options(*(call("stubborn", id=str(number)) for number in range(count)), tools=[stubborn])
    task = asyncio.create_task(generate_text(**given))
    await waiting.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    model = given["model"]
    assert isinstance(model, ScriptedModel)
    assert len(model.calls) == 1


async def test_cancelling_twice_does_not_skip_the_cleanup_of_tools() -> None:
    waiting, cleaned = asyncio.Event(), 0

    @tool
    async def careful() -> str:
        """Clean up at length."""
        nonlocal cleaned
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            cleaned += 1
        return "never"

    calls = [call("careful", id=str(number)) for number in range(3)]
    task = asyncio.create_task(generate_text(**options(*calls, tools=[careful])))
    await waiting.wait()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == 3
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_thread_is_not_waited_for_when_the_run_is_cancelled() -> None:
    entered, leave = threading.Event(), threading.Event()

    @tool
    def blocked() -> str:
        """Block."""
        entered.set()
        leave.wait(10)
        return "dropped"

    task = asyncio.create_task(generate_text(**options(call("blocked"), tools=[blocked])))
    await asyncio.to_thread(entered.wait, 10)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    leave.set()


class Doubling(Middleware):
    """Gives a tool twice the number, and marks its output."""

    def __init__(self, mark: str, *, changes: bool = False) -> None:
        self.mark = mark
        self.changes = changes
        self.inputs: list[object] = []

    async def wrap_tool(self, *, execute: Execute, tool_call: TypedToolCall, tool: object, options: object) -> object:
        self.inputs.append(tool_call.input)
        found = tool_call.input
        if self.changes and isinstance(found, dict):
            return f"{self.mark}({await execute(input={'number': int(str(found['number'])) * 2})})"
        return f"{self.mark}({await execute()})"


@tool
async def show(number: int) -> AsyncIterator[int]:
    """Show a number twice."""
    yield -number
    yield number


async def test_layers_wrap_the_tools_outermost_first_and_may_change_the_input() -> None:
    outer, inner = Doubling("a", changes=True), Doubling("b")

    result = stream_text(**options(call("show", {"number": 4}), tools=[show], middleware=[outer, inner]))
    live = [(part.output, part.preliminary) async for part in result.full_stream if isinstance(part, TypedToolResult)]

    assert live == [(-8, True), (8, True), ("a(b(8))", None)]
    assert (outer.inputs, inner.inputs) == ([{"number": 4}], [{"number": 8}])


class Wrong(Middleware):
    async def wrap_tool(self, *, execute: Execute, tool_call: TypedToolCall, tool: object, options: object) -> object:
        return await execute(input={"number": "many"})


async def test_a_changed_input_is_validated_again() -> None:
    result = await generate_text(**options(call("show", {"number": 4}), tools=[show], middleware=Wrong()))

    assert isinstance(outcomes(result)[0], InvalidToolInputError)


async def test_a_tool_is_told_its_context_and_its_run() -> None:
    told: list[ToolOptions[object]] = []
    inner_parents: list[RunInfo | None] = []

    @tool
    async def ask(question: str, options: ToolOptions[object]) -> str:
        """Ask another model."""
        told.append(options)

        def note(event: object) -> None:
            inner_parents.append(getattr(event, "run").parent)  # noqa: B009 - any event

        await generate_text(model=ScriptedModel([text("inner")]), prompt=question, on_start=note)
        return "asked"

    await generate_text(
        **options(call("ask", {"question": "?"}), tools=[ask], context="run's", tools_context={"ask": "tool's"})
    )
    await generate_text(**options(call("ask", {"question": "?"}), tools=[ask], context="run's"))

    assert [options.context for options in told] == ["tool's", "run's"]
    assert told[0].run is not None
    assert (told[0].tool_call_id, told[0].run.step_number, len(told[0].messages)) == ("call-1", 0, 1)
    assert inner_parents[0] is told[0].run


async def test_a_tool_without_execute_hands_the_call_back() -> None:
    ask_user = tool(name="ask_user", input_schema={"type": "object"})

    @tool
    def lookup() -> str:
        """Look up."""
        return "found"

    given = options(call("lookup", id="1"), call("ask_user", id="2"), tools=[lookup, ask_user])
    result = await generate_text(**given)

    assert outcomes(result) == ["found"]
    assert (len(result.steps), result.finish_reason) == (1, "tool-calls")


async def test_a_cut_off_answer_runs_nothing() -> None:
    model = ScriptedModel([answer(call("show", {"number": 1}), finish_reason="length"), tool_call("never")])

    result = await generate_text(model=model, prompt="p", tools=[show], stop_when=is_step_count(5))

    assert outcomes(result) == []
    assert len(result.steps) == 1
