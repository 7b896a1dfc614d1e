"""Who is told what: order, and what a listener's failure does and does not do."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from onion import Middleware, generate_text, is_step_count, stream_text, tool
from onion.errors import OnionError
from onion.spec.events import (
    ChunkEvent,
    EndEvent,
    LanguageModelCallEndEvent,
    LanguageModelCallStartEvent,
    LifecycleEvent,
    StartEvent,
    StepStartEvent,
    ToolExecutionEndEvent,
)
from onion.testing import ScriptedModel, parts, text, tool_call

if TYPE_CHECKING:
    from onion.loop.lifecycle import Callbacks


@tool
def ping() -> str:
    """Answer."""
    return "pong"


def two_steps() -> ScriptedModel:
    return ScriptedModel([tool_call("ping"), text("done")])


class Diary:
    """Writes down every event."""

    def __init__(self) -> None:
        self.entries: list[LifecycleEvent] = []

    def callbacks(self) -> Callbacks:
        return {
            "on_start": self.entries.append,
            "on_step_start": self.entries.append,
            "on_language_model_call_start": self.entries.append,
            "on_language_model_call_end": self.entries.append,
            "on_tool_execution_start": self.entries.append,
            "on_tool_execution_end": self.entries.append,
            "on_step_end": self.entries.append,
            "on_step_error": self.entries.append,
            "on_end": self.entries.append,
            "on_error": self.entries.append,
            "on_abort": self.entries.append,
        }

    @property
    def names(self) -> list[str]:
        return [type(entry).__name__.removesuffix("Event") for entry in self.entries]


STEP = ["StepStart", "LanguageModelCallStart", "LanguageModelCallEnd"]


async def test_every_event_is_told_once_and_in_order() -> None:
    diary = Diary()

    await generate_text(model=two_steps(), prompt="p", tools=[ping], stop_when=is_step_count(3), **diary.callbacks())

    tools = ["ToolExecutionStart", "ToolExecutionEnd"]
    assert diary.names == ["Start", *STEP, *tools, "StepEnd", *STEP, "StepEnd", "End"]
    assert all(entry.run.run_id == diary.entries[0].run.run_id for entry in diary.entries)


async def test_events_tell_what_happened() -> None:
    diary = Diary()

    await generate_text(
        model=two_steps(),
        prompt="p",
        instructions="Be brief.",
        tools=[ping],
        stop_when=is_step_count(3),
        context="mine",
        **diary.callbacks(),
    )

    found = {type(entry).__name__: entry for entry in diary.entries}
    start, step_start, end = found["StartEvent"], found["StepStartEvent"], found["EndEvent"]
    call_start, call_end = found["LanguageModelCallStartEvent"], found["LanguageModelCallEndEvent"]
    tool_end = found["ToolExecutionEndEvent"]
    assert isinstance(start, StartEvent)
    assert (start.instructions, start.run.context, start.model.provider) == ("Be brief.", "mine", "scripted")
    assert isinstance(step_start, StepStartEvent)
    assert (step_start.step_number, len(step_start.steps), len(step_start.messages)) == (1, 1, 3)
    assert isinstance(call_start, LanguageModelCallStartEvent)
    assert call_start.params.run is call_start.run
    assert isinstance(call_end, LanguageModelCallEndEvent)
    assert (call_end.finish_reason, call_end.response_time_ms >= 0) == ("stop", True)
    assert isinstance(tool_end, ToolExecutionEndEvent)
    assert (tool_end.output.tool_call_id, tool_end.duration_ms >= 0) == ("call-1", True)
    assert isinstance(end, EndEvent)
    assert (end.finish_reason, end.total_usage.total_tokens) == ("stop", 30)


async def test_a_failing_step_is_told_before_the_failing_run() -> None:
    diary = Diary()

    with pytest.raises(OnionError):
        await generate_text(model=ScriptedModel([OnionError("x")]), prompt="p", max_retries=0, **diary.callbacks())

    assert diary.names == ["Start", "StepStart", "LanguageModelCallStart", "StepError", "Error"]


async def test_a_run_that_fails_between_two_steps_has_no_failing_step() -> None:
    diary = Diary()

    def stop(_steps: object) -> bool:
        raise ValueError("no opinion")

    with pytest.raises(ValueError, match="no opinion"):
        await generate_text(model=two_steps(), prompt="p", tools=[ping], stop_when=stop, **diary.callbacks())

    assert diary.names[-2:] == ["StepEnd", "Error"]


async def test_chunks_are_told_of_streams_only() -> None:
    chunks: list[ChunkEvent] = []

    await generate_text(model=two_steps(), prompt="p", on_chunk=chunks.append)
    of_generate = len(chunks)
    await stream_text(model=ScriptedModel([parts("a", "b")]), prompt="p", on_chunk=chunks.append).text

    assert of_generate == 0
    assert [event.chunk.type for event in chunks] == [
        "start-step",
        "text-start",
        "text-delta",
        "text-delta",
        "text-end",
    ]


class Watching(Middleware):
    """Raises wherever it is told something."""

    def on_start(self, event: StartEvent) -> None:
        raise ValueError("layer")


async def test_listeners_that_raise_are_logged_once_and_kept_and_the_run_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def on_chunk(_event: object) -> None:
        await asyncio.sleep(0)
        raise KeyError("chunk")

    with caplog.at_level(logging.WARNING, logger="onion"):
        result = stream_text(
            model=ScriptedModel([parts("a", "b")]), prompt="p", on_chunk=on_chunk, middleware=Watching()
        )
        words = await result.text

    assert words == "ab"
    errors = await result.callback_errors
    assert [type(error).__name__ for error in errors] == ["ValueError", *["KeyError"] * 5]
    assert len([record for record in caplog.records if "on_chunk" in record.message]) == 1
    assert len([record for record in caplog.records if "on_start" in record.message]) == 1


async def test_a_raising_error_callback_does_not_hide_the_error() -> None:
    def on_error(_event: object) -> None:
        raise ValueError("callback")

    model = ScriptedModel([OnionError("the provider's")])

    with pytest.raises(OnionError, match="the provider's"):
        await generate_text(model=model, prompt="p", max_retries=0, on_error=on_error)


async def test_a_cancellation_that_a_callback_raises_by_itself_is_its_own_failure() -> None:
    def on_start(_event: object) -> None:
        raise asyncio.CancelledError

    result = await generate_text(model=ScriptedModel([text("a")]), prompt="p", on_start=on_start)

    assert result.text == "a"
    assert "nobody cancelled it" in str(result.callback_errors[0])


async def test_a_callback_that_swallows_the_cancellation_does_not_keep_the_run_going() -> None:
    model = ScriptedModel([text("never")])
    waiting = asyncio.Event()

    async def on_step_start(_event: object) -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    task = asyncio.create_task(generate_text(model=model, prompt="p", on_step_start=on_step_start))
    await waiting.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not model.calls


async def test_a_cancelled_callback_passes_the_cancellation_on() -> None:
    waiting = asyncio.Event()

    async def on_start(_event: object) -> None:
        waiting.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(generate_text(model=ScriptedModel([]), prompt="p", on_start=on_start))
    await waiting.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
