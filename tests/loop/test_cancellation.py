"""Cancelling at every await point: nothing is left behind, whatever the run was doing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING

import pytest

from onion import Middleware, generate_text, is_step_count, stream_text, tool
from onion.errors import AbortedError
from onion.testing import After, ScriptedModel, Wait, answer, call, parts
from onion.testing.suspensions import CancelledAt

if TYPE_CHECKING:
    from onion.loop import RunOptions, StepPreparation
    from onion.spec import CallOptions, LanguageModel
    from onion.spec.events import AbortEvent, EndEvent, ErrorEvent, StartEvent
    from onion.wrap import Mode

MOST_SUSPENSIONS = 200


async def pause(turns: int = 2) -> None:
    """Let others run."""
    for _ in range(turns):
        await asyncio.sleep(0)


class Slow(Middleware):
    """Waits before it calls."""

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        await pause()
        return params


class World:
    """Everything a run can wait for, and what became of it."""

    def __init__(self) -> None:
        self.model = ScriptedModel(
            [
                After(pause, answer("thinking", call("slow", id="1"), call("grow", id="2"), call("quick", id="3"))),
                After(pause, parts("done ", Wait(pause), "now", Wait(pause))),
            ]
        )
        self.started = self.cleaned = 0
        self.endings: list[str] = []
        self.has_begun = False
        self.calls_when_cancelled = 0

        @tool
        async def slow() -> str:
            """Wait, and clean up slowly."""
            self.started += 1
            try:
                await pause(4)
            finally:
                await self.clean(3)
            return "slow"

        @tool
        async def grow() -> AsyncIterator[int]:
            """Yield some numbers."""
            self.started += 1
            try:
                for number in range(3):
                    await pause()
                    yield number
            finally:
                await self.clean(2)

        @tool
        def quick() -> str:
            """Run in a thread."""
            return "quick"

        self.tools = [slow, grow, quick]

    async def clean(self, turns: int) -> None:
        try:
            await pause(turns)
        finally:
            self.cleaned += 1

    async def begin(self, _event: StartEvent) -> None:
        self.has_begun = True
        await pause()

    async def end(self, event: EndEvent | ErrorEvent | AbortEvent) -> None:
        self.endings.append(type(event).__name__)
        await pause()

    def options(self) -> RunOptions:
        async def prepare(_told: StepPreparation) -> None:
            await pause()

        async def approve(_call: object, _options: object) -> None:
            await pause()

        async def stop(_steps: object) -> bool:
            await pause()
            return False

        return {
            "model": self.model,
            "prompt": "go",
            "tools": self.tools,
            "prepare_step": prepare,
            "tool_approval": approve,
            "stop_when": [stop, is_step_count(5)],
            "middleware": [Slow()],
            "max_retries": 0,
            "on_start": self.begin,
            "on_end": self.end,
            "on_error": self.end,
            "on_abort": self.end,
        }


async def generated(world: World) -> None:
    await generate_text(**world.options())


async def streamed(world: World) -> None:
    async with stream_text(**world.options()) as result:
        async for _ in result.full_stream:
            pass


@pytest.mark.parametrize("run", [generated, streamed])
async def test_a_run_that_is_cancelled_anywhere_leaves_nothing_behind(
    run: Callable[[World], Coroutine[object, object, None]],
) -> None:
    world = World()
    finished = False
    cancel_at = 0
    while not finished:
        cancel_at += 1
        assert cancel_at < MOST_SUSPENSIONS
        world = World()
        work = CancelledAt(run(world), cancel_at)

        task = asyncio.create_task(_drive(work))
        await asyncio.wait([task])

        finished = work.is_over
        where = f"cancelled at suspension {cancel_at}"
        assert task.cancelled() is not finished or world.endings == ["EndEvent"], where
        assert asyncio.all_tasks() == {asyncio.current_task()}, where
        assert world.started == world.cleaned, where
        assert world.model.open_calls == 0, where
        assert len(world.endings) == world.has_begun, where
    assert world.endings == ["EndEvent"]
    assert cancel_at > 20


async def _drive(work: CancelledAt) -> None:
    await work


def cancel_myself() -> None:
    """Ask the running task to stop; it feels that when it next waits."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def outcome(work: Coroutine[object, object, object]) -> object:
    """What became of *work* in a task of its own."""
    return (await asyncio.gather(asyncio.ensure_future(work), return_exceptions=True))[0]


async def test_a_cancellation_between_two_reads_aborts_the_run_and_shows_nothing_more() -> None:
    model = ScriptedModel([parts("once", Wait(asyncio.Event().wait))])
    seen: list[str] = []

    async def read() -> None:
        async with stream_text(
            model=model,
            prompt="hi",
            on_abort=lambda event: seen.append(event.kind),
            on_error=lambda event: seen.append(repr(event.error)),
        ) as result:
            async for part in result.full_stream:
                seen.append(part.type)
                if part.type == "text-delta":
                    cancel_myself()

    ended = await outcome(read())

    assert isinstance(ended, asyncio.CancelledError)
    assert seen == ["start", "start-step", "text-start", "text-delta", "cancel"]
    assert model.open_calls == 0


async def test_a_cancellation_before_the_first_read_calls_no_model() -> None:
    model = ScriptedModel([])
    result = stream_text(model=model, prompt="hi")

    async def read() -> None:
        cancel_myself()
        async for _ in result.full_stream:
            pass

    ended = await outcome(read())

    assert isinstance(ended, asyncio.CancelledError)
    assert model.calls == []
    with pytest.raises(AbortedError, match="was cancelled"):
        await result.text


async def test_a_cancellation_before_generate_text_calls_no_model() -> None:
    model = ScriptedModel([])

    async def generate() -> None:
        cancel_myself()
        await generate_text(model=model, prompt="hi")

    ended = await outcome(generate())

    assert isinstance(ended, asyncio.CancelledError)
    assert model.calls == []


@pytest.mark.parametrize("is_streaming", [True, False], ids=["stream", "generate"])
async def test_who_has_swallowed_a_cancellation_may_still_run(*, is_streaming: bool) -> None:
    model = ScriptedModel([parts("on", " and on")])

    async def run() -> str:
        cancel_myself()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        if is_streaming:
            return await stream_text(model=model, prompt="hi").text
        return (await generate_text(model=model, prompt="hi")).text

    assert await outcome(run()) == "on and on"
