"""THE loop: one function, for whole answers and for streams, for functions and for agents.

A step is prepared, the model is called, its tool calls are settled and run, one immutable `StepResult` is kept, and
the run goes on or stops. What happens in each phase stands in a file of its own; here is their order, and nothing
else.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from onion.loop.calls import COMPLETE, model_phase
from onion.loop.ending import begin_run, end_badly, end_well
from onion.loop.execution import Job, execute
from onion.loop.outcomes import tool_options
from onion.loop.prepare import prepare_step
from onion.loop.record import begin_step, finish_step
from onion.loop.replay import replay_approvals
from onion.loop.stop import should_stop
from onion.spec.events import ChunkEvent
from onion.spec.full_stream import Start
from onion.spec.prompt import ToolMessage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from onion.loop.calls import Phase
    from onion.loop.state import Run, Step
    from onion.spec.full_stream import FullStreamPart


async def run_steps(run: Run) -> AsyncGenerator[FullStreamPart, None]:
    """Run steps until the model asks for nothing more or a condition stops it; give what the full stream shows.

    For whole answers the parts are the same but for the deltas. A failure ends the generator normally, once it was
    shown and noted on the run; cancellation, and what ends a process, passes.
    """
    try:
        yield Start()
        await begin_run(run)
        call_model, watchers = model_phase(run), run.told.on_chunk if run.is_streaming else ()
        if isinstance(last := run.messages[-1], ToolMessage):
            async with aclosing(replay_approvals(run, last)) as parts:
                async for part in parts:
                    yield part
        while not run.is_waiting:
            step = await prepare_step(run)
            await begin_step(run, step)
            phase: Phase | None = call_model
            while phase is not None:
                async with aclosing(phase(run, step)) as parts:
                    async for part in parts:
                        if watchers:
                            await run.told.tell(watchers, ChunkEvent(run=step.info, chunk=part))
                        yield part
                phase = run_tools if phase is call_model and step.calls else None
            yield await finish_step(run, step)
            if not await goes_on(run, step):
                break
        yield await end_well(run)
    except BaseException as error:
        for part in await end_badly(run, error):
            yield part
        if run.is_torn:
            raise


def run_tools(run: Run, step: Step) -> AsyncGenerator[FullStreamPart, None]:
    """Run the client calls that may run. A cut-off or filtered answer runs none: its calls may be half."""
    is_whole = step.answer.finish_reason.unified in COMPLETE
    jobs = [
        Job(
            client=client,
            tool=client.tool,
            options=client.options or tool_options(run, client.call, step.messages, step.info),
            info=step.info,
            times=step.tool_times,
        )
        for client in step.calls
        if is_whole and client.tool is not None and client.is_runnable
    ]
    return execute(run, jobs)


async def goes_on(run: Run, step: Step) -> bool:
    """Whether there is something to tell the model, and no condition against it."""
    if not all(client.is_answered for client in step.calls) or not (step.calls or run.pending):
        return False
    stops = await should_stop(run.stop_when, tuple(run.steps))
    run.control.check()
    return not stops
