"""How a run begins and ends: exactly one of `on_end`, `on_error` and `on_abort` follows `on_start`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from onion.errors import AbortedError
from onion.loop.prepare import bind
from onion.loop.record import response_of
from onion.loop.state import NO_ANSWER
from onion.spec.events import AbortEvent, EndEvent, ErrorEvent, StartEvent, StepErrorEvent
from onion.spec.full_stream import Abort, Finish, FinishStep
from onion.spec.parts import ErrorPart
from onion.spec.step import LanguageModelUsage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from onion.loop.state import Run, Step
    from onion.spec.full_stream import FullStreamPart


async def begin_run(run: Run) -> None:
    """Start the clock and say that the run begins."""
    if run.prepare_call is not None:
        run.become(await run.prepare_call())
        run.control.check()
    run.control.arm("total", run.limits.total)
    run.has_started = True
    if listeners := run.told.on_start:
        event = StartEvent(
            run=run.info,
            model=bind(run, run.options["model"])[1],
            messages=run.messages,
            instructions="\n".join(message.content for message in run.instructions) or None,
        )
        await run.told.tell(listeners, event)


async def end_well(run: Run) -> Finish:
    """Say that the run is done; give the part that says so."""
    last = run.steps[-1]
    run.control.finish()
    if listeners := run.told.on_end:
        event = EndEvent(run=run.info, steps=tuple(run.steps), total_usage=run.usage, finish_reason=last.finish_reason)
        await run.told.tell(listeners, event)
    return Finish(finish_reason=last.finish_reason, raw_finish_reason=last.raw_finish_reason, total_usage=run.usage)


async def end_badly(run: Run, error: BaseException) -> Sequence[FullStreamPart]:
    """Note what ended the run and say so; give the parts that show it.

    A run that is over already is left alone: its reader went away after the last part.
    """
    cause, is_cancelled = await run.control.cause(error)
    reason = run.control.reason
    is_closing = not is_cancelled and cause is not reason and _is_closing(cause)
    run.is_torn = is_cancelled or is_closing or not isinstance(cause, Exception | asyncio.CancelledError)
    if run.control.is_over:
        return ()
    if is_cancelled:
        await _abort(run, AbortedError("the task that read it was cancelled"), "cancel")
        if not isinstance(error, asyncio.CancelledError):
            raise asyncio.CancelledError from error
        return ()
    if is_closing:
        run.control.enter()
        await _abort(run, AbortedError("its reader went away"), "abort")
        return ()
    if isinstance(cause, AbortedError) and cause is reason:
        await _abort(run, cause, "abort")
        return (Abort(reason=cause.reason),)
    parts = await _fail(run, cause)
    return () if run.is_torn else parts


def _is_closing(error: BaseException) -> bool:
    """Whether the reader went away, even if closing what was open has raised something else since."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, GeneratorExit):
        link = link.__context__
    return link is not None


async def _abort(run: Run, error: AbortedError, kind: Literal["abort", "cancel"]) -> None:
    run.fail(error)
    run.control.finish()
    if run.has_started and (listeners := run.told.on_abort):
        event = AbortEvent(run=run.info, reason=error.reason, steps=tuple(run.steps), kind=kind)
        await run.told.tell(listeners, event)


async def _fail(run: Run, error: BaseException) -> Sequence[FullStreamPart]:
    step = run.step
    is_shown = step is not None and step.failure is error
    error = run.fail(error)
    run.control.finish()
    if step is not None and step.has_begun and (listeners := run.told.on_step_error):
        event = StepErrorEvent(run=step.info, step_number=step.number, error=error)
        await run.told.tell(listeners, event)
    if listeners := run.told.on_error:
        await run.told.tell(listeners, ErrorEvent(run=run.info, error=error, steps=tuple(run.steps)))
    if step is None or not step.is_open:
        return (ErrorPart(error=error),)
    shown = () if is_shown else (ErrorPart(error=error),)
    return (*shown, *_finish_of(run, step))


def _finish_of(run: Run, step: Step) -> tuple[FinishStep, Finish]:
    """The end of a step that failed after its model had begun to answer: the model's own, as far as it came."""
    answered = step.finish if step.answer is NO_ANSWER and step.finish is not None else step.answer
    usage = LanguageModelUsage.of(answered.usage)
    reason = "error" if step.failure is None else answered.finish_reason.unified
    raw = answered.finish_reason.raw
    finish_step = FinishStep(
        finish_reason=reason,
        raw_finish_reason=raw,
        usage=usage,
        provider_metadata=answered.provider_metadata,
        response=response_of(step, step.answer.response),
    )
    total = run.usage + usage if run.steps else usage
    return finish_step, Finish(finish_reason=reason, raw_finish_reason=raw, total_usage=total)
