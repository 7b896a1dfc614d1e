"""Running the client's tools: alone in the reader's task, or several at once in tasks that do not outlive the step."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import time
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from onion.errors import RunTimeoutError
from onion.loop.interrupt import NO_LIMITS
from onion.loop.options import ToolOptions
from onion.loop.outcomes import error_of, result_of
from onion.loop.starting import start
from onion.loop.state import ClientCall, current_run
from onion.loop.sub_agents import Pause, pause, resumed
from onion.loop.tools import Tool
from onion.loop.toolset import validate_input
from onion.spec.base import record
from onion.spec.call import RunInfo
from onion.spec.events import ToolExecutionEndEvent, ToolExecutionStartEvent
from onion.spec.prompt import Message
from onion.wrap import is_overridden

if TYPE_CHECKING:
    from onion.loop.starting import Emit
    from onion.loop.state import Run
    from onion.spec.base import JsonValue
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.tools import ToolOutcome, TypedToolCall
    from onion.wrap import Middleware


class _Unchanged(Enum):
    """Says that `execute` was called without an input of its own."""

    INPUT = "input"


@record
class Job:
    """One execution that is due.

    Attributes:
        info: The run and the step it belongs to.
        times: Where its duration is noted, in milliseconds by call id.
        resume: From where the sub-run of an agent's tool goes on.
    """

    client: ClientCall
    tool: Tool
    options: ToolOptions[object]
    info: RunInfo
    times: dict[str, float]
    resume: tuple[Message, ...] | None = None


def execute(run: Run, jobs: Sequence[Job]) -> AsyncGenerator[FullStreamPart, None]:
    """Run *jobs*, and give their preliminary and final results in the order in which they come.

    The outcome of each job is put on its client call. What a tool raises is an outcome too; only cancellation, and
    what ends a process, passes.
    """
    if len(jobs) == 1 and jobs[0].tool.style == "async":
        return _alone(run, jobs[0])
    return _together(run, jobs)


async def _alone(run: Run, job: Job) -> AsyncGenerator[FullStreamPart, None]:
    if run.told.on_tool_execution_start:
        await _tell_start(run, job)
    never: list[object] = []  # what awaits its output has no preliminary ones
    shown = await _outcome(run, job, never.append)
    run.control.check()
    for part in shown:
        yield part


async def _together(run: Run, jobs: Sequence[Job]) -> AsyncGenerator[FullStreamPart, None]:
    limit = run.options.get("tool_call_concurrency") or len(jobs)
    can_run_here = not run.layers and not run.told.on_tool_execution_end  # nothing but the tool itself could wait
    news = asyncio.Event()
    parts: deque[FullStreamPart] = deque()
    tasks: set[asyncio.Task[None]] = set()
    begun = done = 0
    crashes: list[BaseException] = []

    async def work(job: Job) -> None:
        nonlocal done

        def emit(output: object) -> None:
            parts.append(result_of(job.client.call, output, preliminary=True))
            news.set()

        try:
            parts.extend(await _outcome(run, job, emit))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - raised in the reader's task, not through the event loop
            crashes.append(error)
        finally:
            done += 1
            news.set()

    try:
        while True:
            while begun < min(len(jobs), done + limit) and not crashes:
                job = jobs[begun]
                begun += 1
                if run.told.on_tool_execution_start:
                    await _tell_start(run, job)
                if can_run_here and job.tool.never_waits:
                    contextvars.copy_context().run(finish_now, work(job))
                else:
                    tasks.add(asyncio.create_task(work(job)))
            if crashes:
                raise crashes[0]
            if parts:
                yield parts.popleft()
            elif done == len(jobs):
                return
            else:
                news.clear()
                await news.wait()
    finally:
        await _stop(tasks)


def finish_now(work: Coroutine[object, None, None]) -> None:
    """Run what never waits to its end, in this task but in the context that it is called in, as a task has its own.

    Raises:
        RuntimeError: When it waits after all.
    """
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError(f"{work!r} waits although nothing in it is awaited: report this")


async def _stop(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel *tasks* and wait until they are done with their cleanup; being cancelled meanwhile does not cut that."""
    cancelled: asyncio.CancelledError | None = None
    for task in tasks:
        task.cancel()
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


async def _outcome(run: Run, job: Job, emit: Emit) -> Sequence[FullStreamPart]:
    """Execute one call and note its outcome, or what it waits for; what the full stream shows of that.

    Raises:
        CancelledError: When the task was cancelled, even if the tool swallowed that.
    """
    call = job.client.call
    task = asyncio.current_task()
    baseline = task.cancelling() if task is not None else 0
    started = time.perf_counter()
    token, resume_token = current_run.set(job.info), resumed.set(job.resume)
    paused: Pause | None = None
    try:
        if run.layers or run.limits is not NO_LIMITS:
            output = await _limited(run, job, emit)
        else:
            output = await start(job.tool, job.client.parsed, job.options, emit)
        paused = output if isinstance(output, Pause) else None
        outcome: ToolOutcome = result_of(call, output) if paused is None else result_of(call, None, preliminary=True)
    except Exception as error:  # noqa: BLE001 - the model is told
        outcome = error_of(call, _own_error(error))
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling() > baseline:
            raise
        outcome = error_of(call, error)
    finally:
        current_run.reset(token)
        resumed.reset(resume_token)
    if task is not None and task.cancelling() > baseline:
        raise asyncio.CancelledError
    duration = (time.perf_counter() - started) * 1000
    job.times[call.tool_call_id] = duration
    shown = (outcome,) if paused is None else pause(run, job.client, paused)
    job.client.outcome = outcome if paused is None else None
    if listeners := run.told.on_tool_execution_end:
        await run.told.tell(
            listeners, ToolExecutionEndEvent(run=job.info, tool_call=call, output=outcome, duration_ms=duration)
        )
    return shown


async def _limited(run: Run, job: Job, emit: Emit) -> object:
    """The output, through the layers that wrap tools, within the time limit of the tool."""
    seconds = run.limits.for_tool(job.tool.name)
    layers = [layer for layer in run.layers if is_overridden(layer, "wrap_tool")]
    if seconds is None:
        return await _through(layers, job, job.client.call, job.client.parsed, emit)
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await _through(layers, job, job.client.call, job.client.parsed, emit)
    except TimeoutError as error:
        if not scope.expired():
            raise
        msg = f"the tool {job.tool.name!r} took longer than its limit of {seconds:g} seconds"
        raise RunTimeoutError(msg, limit="tool") from error


async def _through(layers: Sequence[Middleware], job: Job, call: TypedToolCall, parsed: object, emit: Emit) -> object:
    """The output of *call*, through *layers*, outermost first."""
    if not layers:
        return await start(job.tool, parsed, job.options, emit)

    async def inner(*, input: JsonValue | _Unchanged = _Unchanged.INPUT) -> object:
        if input is _Unchanged.INPUT:
            return await _through(layers[1:], job, call, parsed, emit)
        validated = validate_input(job.tool, input)
        return await _through(layers[1:], job, dataclasses.replace(call, input=input), validated, emit)

    return await layers[0].wrap_tool(execute=inner, tool_call=call, tool=job.tool, options=job.options)


def _own_error(error: Exception) -> Exception:
    """What the tool raised: Python wraps a StopIteration that leaves a coroutine, or a generator, in a RuntimeError."""
    cause = error.__cause__
    if type(error) is RuntimeError and isinstance(cause, StopIteration | StopAsyncIteration):
        return cause
    return error


async def _tell_start(run: Run, job: Job) -> None:
    event = ToolExecutionStartEvent(run=job.info, tool_call=job.client.call, messages=job.options.messages)
    await run.told.tell(run.told.on_tool_execution_start, event)
