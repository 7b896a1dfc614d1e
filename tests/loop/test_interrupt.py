"""Time limits: each ends what it limits, says its name, and leaves nothing running."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from onion import TimeoutLimits, generate_text, is_step_count, stream_text, tool
from onion.errors import AbortedError, InvalidArgumentError, RunTimeoutError
from onion.loop.interrupt import Control, read_limits
from onion.spec import ResponseMetadata, StreamResult, StreamStart
from onion.spec.tools import TypedToolError
from onion.testing import After, ScriptedModel, Wait, answer, call, parts, text, tool_call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from onion.spec import CallOptions, StreamPart
    from onion.spec.events import AbortEvent, ErrorEvent, StepStartEvent

SOON = 0.02
LATE = 30.0


class Forever:
    """A tool that waits for ever, and counts how often it was stopped."""

    def __init__(self) -> None:
        self.stopped = 0

        @tool
        async def wait() -> str:
            """Wait."""
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped += 1
            return "never"

        self.tool = wait


async def test_the_total_limit_ends_a_stalled_call() -> None:
    model = ScriptedModel([After(asyncio.Event(), text("never"))])
    failures: list[ErrorEvent] = []

    with pytest.raises(RunTimeoutError) as caught:
        await generate_text(model=model, prompt="p", timeout=SOON, on_error=failures.append)

    assert caught.value.limit == "total"
    assert isinstance(caught.value, TimeoutError)
    assert len(failures) == 1
    assert model.open_calls == 0
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_the_total_limit_ends_a_stream_with_an_error_part_and_its_finish() -> None:
    model = ScriptedModel([parts("so far", Wait(asyncio.Event()))])
    result = stream_text(model=model, prompt="p", timeout=TimeoutLimits(total=SOON))

    types = [part.type async for part in result.full_stream]

    assert types[-4:] == ["text-delta", "error", "finish-step", "finish"]
    with pytest.raises(RunTimeoutError, match="total"):
        await result.text


async def test_the_total_limit_passes_while_nobody_reads() -> None:
    result = stream_text(model=ScriptedModel([parts("a", "b")]), prompt="p", timeout=SOON)
    view = result.text_stream
    await anext(view)

    await asyncio.sleep(SOON * 3)

    with pytest.raises(RunTimeoutError, match="total"):
        await result.text


async def test_the_step_limit_ends_a_slow_tool_and_waits_for_its_cleanup() -> None:
    forever = Forever()
    model = ScriptedModel([tool_call("wait"), text("never")])

    with pytest.raises(RunTimeoutError) as caught:
        await generate_text(
            model=model,
            prompt="p",
            tools=[forever.tool],
            stop_when=is_step_count(3),
            timeout=TimeoutLimits(step=SOON, total=LATE),
        )

    assert caught.value.limit == "step"
    assert forever.stopped == 1
    assert len(model.calls) == 1


async def test_the_step_limit_starts_anew_with_each_step() -> None:
    steps: list[StepStartEvent] = []

    async def slow(event: StepStartEvent) -> None:
        steps.append(event)
        await asyncio.sleep(SOON)

    @tool
    def quick() -> str:
        """Be quick."""
        return "q"

    model = ScriptedModel([tool_call("quick"), tool_call("quick"), tool_call("quick"), text("done")])
    limits = TimeoutLimits(step=SOON * 3)

    result = await generate_text(
        model=model, prompt="p", tools=[quick], stop_when=is_step_count(9), timeout=limits, on_step_start=slow
    )

    assert result.text == "done"
    assert len(steps) == 4


async def test_the_first_part_has_its_own_limit() -> None:
    model = ScriptedModel([After(asyncio.Event(), parts("never"))])

    with pytest.raises(RunTimeoutError, match="first_part"):
        await stream_text(model=model, prompt="p", timeout=TimeoutLimits(first_part=SOON)).text

    assert model.open_calls == 0


async def test_what_only_announces_an_answer_is_not_its_first_part() -> None:
    class Announcing(ScriptedModel):
        async def do_stream(self, params: CallOptions) -> StreamResult:
            async def given() -> AsyncGenerator[StreamPart, None]:
                yield StreamStart()
                yield ResponseMetadata(id="r-1")
                await asyncio.Event().wait()

            return StreamResult(given())

    limits = TimeoutLimits(first_part=SOON, between_parts=LATE)

    with pytest.raises(RunTimeoutError, match=f"first_part limit of {SOON:g} seconds"):
        await stream_text(model=Announcing([]), prompt="p", timeout=limits).text


async def test_silence_between_two_parts_is_limited() -> None:
    model = ScriptedModel([parts("a", Wait(asyncio.Event()))])
    result = stream_text(model=model, prompt="p", timeout=TimeoutLimits(between_parts=SOON, first_part=LATE))
    texts = result.text_stream

    assert await anext(texts) == "a"
    with pytest.raises(RunTimeoutError, match="between_parts"):
        await anext(texts)
    assert model.open_streams == 0


async def test_a_slow_reader_is_no_silence() -> None:
    limits = TimeoutLimits(between_parts=SOON, first_part=SOON)
    result = stream_text(model=ScriptedModel([parts("a", "b", "c")]), prompt="p", timeout=limits)
    pieces: list[str] = []

    async for piece in result.text_stream:
        pieces.append(piece)
        await asyncio.sleep(SOON * 2)

    assert pieces == ["a", "b", "c"]


async def test_a_failed_call_takes_its_limit_with_it() -> None:
    model = ScriptedModel([ValueError("refused")])
    result = stream_text(model=model, prompt="p", timeout=TimeoutLimits(first_part=SOON), max_retries=0)

    with pytest.raises(ValueError, match="refused"):
        await result.text
    await asyncio.sleep(SOON * 2)


async def test_a_tool_that_takes_too_long_is_a_tool_error_that_the_model_sees() -> None:
    forever = Forever()
    model = ScriptedModel([tool_call("wait"), text("too slow")])

    result = await generate_text(
        model=model,
        prompt="p",
        tools=[forever.tool],
        stop_when=is_step_count(3),
        timeout=TimeoutLimits(tools={"wait": SOON}),
    )

    error = result.steps[0].content[-1]
    assert isinstance(error, TypedToolError)
    assert isinstance(error.error, RunTimeoutError)
    assert error.error.limit == "tool"
    assert (result.text, forever.stopped) == ("too slow", 1)


async def test_a_timeout_of_the_tools_own_is_its_own_error() -> None:
    @tool
    async def impatient() -> str:
        """Give up at once."""
        raise TimeoutError("mine")

    model = ScriptedModel([tool_call("impatient"), text("ok")])
    limits = TimeoutLimits(tool=LATE, tools={"other": SOON})

    result = await generate_text(model=model, prompt="p", tools=[impatient], stop_when=is_step_count(2), timeout=limits)

    error = result.steps[0].content[-1]
    assert isinstance(error, TypedToolError)
    assert str(error.error) == "mine"


async def test_abort_wins_over_a_limit_that_passes_later() -> None:
    model = ScriptedModel([parts("a", Wait(asyncio.Event()))])
    aborts: list[AbortEvent] = []
    result = stream_text(model=model, prompt="p", timeout=SOON, on_abort=aborts.append)
    view = result.text_stream
    await anext(view)

    result.abort("user")
    await asyncio.sleep(SOON * 2)

    with pytest.raises(AbortedError, match="user"):
        await result.text
    assert len(aborts) == 1


async def test_parallel_tools_are_cleaned_up_when_the_total_limit_passes() -> None:
    forever = Forever()
    model = ScriptedModel([answer(*(call("wait", id=str(number)) for number in range(3)))])

    with pytest.raises(RunTimeoutError):
        await generate_text(model=model, prompt="p", tools=[forever.tool], timeout=SOON)

    assert forever.stopped == 3
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_nothing_waits_for_a_limit_that_was_not_reached() -> None:
    result = stream_text(model=ScriptedModel([parts("a")]), prompt="p", timeout=TimeoutLimits(total=LATE, step=LATE))

    assert await asyncio.wait_for(result.text, 1) == "a"


async def test_a_cancellation_from_outside_is_not_hidden_by_an_interruption() -> None:
    model = ScriptedModel([parts("a", Wait(asyncio.Event()))])
    result = stream_text(model=model, prompt="p")

    async def read() -> str:
        return await result.text

    reader = asyncio.create_task(read())
    for _ in range(5):
        await asyncio.sleep(0)
    result.abort("user")
    reader.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reader


async def test_an_interruption_that_the_waiting_task_never_felt_is_taken_back() -> None:
    control = Control()
    control.enter()
    task = asyncio.current_task()
    assert task is not None

    control.interrupt(AbortedError("x"))
    assert control.leave()
    await control.take_back()

    assert task.cancelling() == 0
    assert not await control.absorb()


async def test_an_interruption_that_somebody_swallowed_is_taken_back() -> None:
    control = Control()
    control.enter()
    task = asyncio.current_task()
    assert task is not None

    control.interrupt(AbortedError("x"))
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert control.leave()
    await control.take_back()

    assert task.cancelling() == 0


async def test_leaving_raises_the_cancellation_that_came_at_the_same_time() -> None:
    async def wait() -> None:
        control = Control()
        control.enter()
        control.interrupt(AbortedError("x"))
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert control.leave()
        await control.take_back()

    task = asyncio.create_task(wait())

    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_limit_must_be_above_zero() -> None:
    with pytest.raises(InvalidArgumentError, match="slow"):
        read_limits(TimeoutLimits(tools={"slow": -1}))


def test_an_interruption_before_the_first_read_is_kept() -> None:
    control = Control()

    control.interrupt(AbortedError("x"))

    assert control.is_stopping
