"""The model call of a step, whole or streamed, and what its parts become in the full stream."""

from __future__ import annotations

import time
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import InvalidStreamPartError, ToolChoiceViolationError
from onion.loop.arrivals import arrive
from onion.loop.blocks import BLOCK_PARTS
from onion.loop.interrupt import watched
from onion.loop.record import SAID, UNSENT
from onion.loop.settling import settle_call
from onion.spec.content import ToolCall
from onion.spec.events import LanguageModelCallEndEvent, LanguageModelCallStartEvent
from onion.spec.full_stream import StartStep, StepRestart
from onion.spec.parts import ErrorPart, FinishPart, RawPart, StreamStart
from onion.streaming import Collector, to_exception
from onion.wrap.checks import checked

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from onion.loop.blocks import BlockPart, Blocks
    from onion.loop.state import Run, Step
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.parts import StreamPart
    from onion.spec.stream import StreamResult
    from onion.spec.usage import UnifiedFinishReason, Usage


COMPLETE = ("stop", "tool-calls")
"""Reasons of an answer that is whole: its tool calls may run, and it may be held to `tool_choice`."""


Phase: TypeAlias = "Callable[[Run, Step], AsyncGenerator[FullStreamPart, None]]"
"""A part of a step, which gives what the full stream shows of it."""


def model_phase(run: Run) -> Phase:
    """How the steps of *run* call their models."""
    if not run.is_streaming:
        return generate_answer
    return stream_with_restarts if run.options.get("stream_retries") else stream_answer


async def generate_answer(run: Run, step: Step) -> AsyncGenerator[FullStreamPart, None]:
    """Call the model for a whole answer.

    Raises:
        Exception: What the model raised.
        ToolChoiceViolationError: When the answer is not what `tool_choice` asked for.
    """
    step.called = time.perf_counter()
    if run.told.on_language_model_call_start:
        await _tell_start(run, step)
    answer = checked(await step.model.do_generate(step.params), step.model, "generate")
    run.control.check()
    step.is_open = True
    step.answer = answer
    step.answered = time.perf_counter()
    if run.told.on_language_model_call_end:
        await _tell_end(run, step, answer.finish_reason.unified, answer.usage)
    yield StartStep(request=answer.request or UNSENT, warnings=answer.warnings)
    for part in answer.content:
        if isinstance(part, ToolCall):
            for passed in await settle_call(run, step, part):
                yield passed
        elif not isinstance(part, SAID):
            for passed in await arrive(run, step, part):
                yield passed
    _check_tool_choice(step, answer.finish_reason.unified)


async def stream_answer(run: Run, step: Step) -> AsyncGenerator[FullStreamPart, None]:
    """Call the model for a stream, and pass its parts on as they come.

    Raises:
        Exception: What `do_stream` raised; or what went wrong later, which the stream has shown as an error part.
        ToolChoiceViolationError: When the answer is not what `tool_choice` asked for.
    """
    limits, blocks, collector = run.limits, run.blocks, Collector()
    is_timed = limits.first_part is not None or limits.between_parts is not None
    step.called = time.perf_counter()
    if run.told.on_language_model_call_start:
        await _tell_start(run, step)
    stream = await _open(run, step)
    reader = stream.bare()
    async with stream, aclosing(watched(reader, run.control, limits) if is_timed else reader) as parts:
        run.control.check()
        try:
            async for part in parts:
                if not step.is_open:
                    yield _start_step(step, stream, part)
                if isinstance(part, BLOCK_PARTS):
                    passed = _block(step, collector, blocks, part)
                    if passed is not None:
                        yield passed
                else:
                    for other in await _other(run, step, collector, part):
                        yield other
            step.answer = collector.result(request=stream.request, response=stream.response)
        except Exception as error:
            if run.control.is_stopping:
                raise  # closing the connection raised it; the stream itself did not fail
            if not step.is_open:
                yield _start_step(step, stream, None)
            if step.failure is None:
                step.failure = error
                yield ErrorPart(error=error)
    step.first_output = blocks.end_step()
    if step.failure is not None:
        raise step.failure
    _check_tool_choice(step, step.answer.finish_reason.unified)


async def stream_with_restarts(run: Run, step: Step) -> AsyncGenerator[FullStreamPart, None]:
    """As `stream_answer`, but after a failure inside the stream the step begins again, up to `stream_retries` times."""
    for _ in range(run.options.get("stream_retries", 0)):
        async with aclosing(stream_answer(run, step)) as parts:
            async for part in parts:
                if isinstance(part, ErrorPart):
                    break
                yield part
        if step.failure is None:
            return
        for end in run.blocks.close():
            yield end
        error = step.failure
        step.start_again()
        yield StepRestart(attempt=step.info.attempt, error=error)
    async with aclosing(stream_answer(run, step)) as parts:
        async for part in parts:
            yield part


async def _open(run: Run, step: Step) -> StreamResult:
    run.control.arm("first_part", run.limits.first_part)
    try:
        return checked(await step.model.do_stream(step.params), step.model, "stream")
    except BaseException:
        run.control.arm("first_part", None)
        raise


def _start_step(step: Step, stream: StreamResult, part: StreamPart | None) -> StartStep:
    step.is_open = True
    warnings = part.warnings if isinstance(part, StreamStart) else ()
    return StartStep(request=stream.request or UNSENT, warnings=warnings)


def _block(step: Step, collector: Collector, blocks: Blocks, part: BlockPart) -> FullStreamPart | None:
    """What comes of a part that is a piece of text or reasoning."""
    try:
        collector.feed(part)
        return blocks.pass_on(part)
    except InvalidStreamPartError as error:
        step.failure = step.failure or error
        return ErrorPart(error=error)


async def _other(run: Run, step: Step, collector: Collector, part: StreamPart) -> Sequence[FullStreamPart]:
    """What comes of a part that is no piece of text or reasoning."""
    if isinstance(part, ErrorPart):
        error = to_exception(part.error)
        step.failure = step.failure or error
        return (ErrorPart(error=error),)
    collector.feed(part)
    if isinstance(part, FinishPart):
        step.finish = part
        step.answered = time.perf_counter()
        if run.told.on_language_model_call_end:
            await _tell_end(run, step, part.finish_reason.unified, part.usage)
        return ()
    if isinstance(part, RawPart):
        return (part,)
    return await arrive(run, step, part)


async def _tell_start(run: Run, step: Step) -> None:
    event = LanguageModelCallStartEvent(run=step.info, model=step.model_info, params=step.params)
    await run.told.tell(run.told.on_language_model_call_start, event)


async def _tell_end(run: Run, step: Step, reason: UnifiedFinishReason, usage: Usage) -> None:
    event = LanguageModelCallEndEvent(
        run=step.info,
        model=step.model_info,
        finish_reason=reason,
        usage=usage,
        response_time_ms=(step.answered - step.called) * 1000,
    )
    await run.told.tell(run.told.on_language_model_call_end, event)


def _check_tool_choice(step: Step, reason: UnifiedFinishReason) -> None:
    """Raise if the answer is whole and is not what `tool_choice` asked for."""
    choice = step.tool_choice
    if choice.type == "auto":
        return
    names = [part.tool_name for part in step.answer.content if isinstance(part, ToolCall)]
    if choice.type == "none":
        is_violated = any(isinstance(part, ToolCall) and not part.provider_executed for part in step.answer.content)
        problem = "called a tool although tool_choice is 'none'"
    elif choice.type == "required":
        is_violated = not names and reason in COMPLETE
        problem = "called no tool although tool_choice is 'required'"
    else:
        is_violated = choice.tool_name not in names and reason in COMPLETE
        problem = f"did not call the tool {choice.tool_name!r} although tool_choice names it"
    if is_violated:
        raise ToolChoiceViolationError(f"the model {problem}", tool_choice=choice, finish_reason=reason)
