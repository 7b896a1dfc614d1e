"""generate_text and stream_text: the loop, to its end or as it goes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar, overload

from onion.loop.output import to_output
from onion.loop.prepare import start_run
from onion.loop.results import GenerateTextResult
from onion.loop.run import run_steps
from onion.loop.stream_result import StreamTextResult

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Unpack

    from onion.loop.output import Output
    from onion.loop.prepare import Agent
    from onion.loop.settings import RunOptions
    from onion.loop.state import Run

OutputT = TypeVar("OutputT")


@overload
async def generate_text(*, output: None = None, **options: Unpack[RunOptions]) -> GenerateTextResult[str]: ...
@overload
async def generate_text(
    *, output: Output[OutputT] | type[OutputT], **options: Unpack[RunOptions]
) -> GenerateTextResult[OutputT]: ...
async def generate_text(
    *, output: Output[OutputT] | type[OutputT] | None = None, **options: Unpack[RunOptions]
) -> GenerateTextResult[str] | GenerateTextResult[OutputT]:
    """Call a model, run the tools that it asks for, and go on until it is done or a stop condition holds.

    Args:
        output: What the answer shall be: an `Output`, or a type that stands for ``Output.object(type)``.
        options: See `RunOptions`.

    Raises:
        TypeError: For a name that is no argument, or a missing model.
        InvalidArgumentError: For an argument that cannot be used; nothing was sent.
        InvalidPromptError: For a prompt that cannot be sent; nothing was sent.
        NoObjectGeneratedError: When the answer does not hold the output.
        OnionError: What ended the run; its `steps` and `usage` are those that were finished.
    """
    if output is None:
        return await generate(to_output(None), options)
    return await generate(to_output(output), options)


async def generate(
    output: Output[OutputT], options: RunOptions, *, agent: Agent | None = None
) -> GenerateTextResult[OutputT]:
    """`generate_text`, for an agent too."""
    reader = output.reader()
    run = start_run(options, output, reader, is_streaming=False, agent=agent)
    if run.control.enter():
        await asyncio.sleep(0)  # where a cancellation that is still on its way is raised, before anything is sent
    async for _ in run_steps(run):  # to its end: nothing in here can leave early, so there is nothing to close
        pass
    if run.failure is not None:
        raise run.failure
    result = GenerateTextResult(run, reader)
    if not output.is_lenient:
        result.check_output()
    return result


@overload
def stream_text(*, output: None = None, **options: Unpack[RunOptions]) -> StreamTextResult[str]: ...
@overload
def stream_text(
    *, output: Output[OutputT] | type[OutputT], **options: Unpack[RunOptions]
) -> StreamTextResult[OutputT]: ...
def stream_text(
    *, output: Output[OutputT] | type[OutputT] | None = None, **options: Unpack[RunOptions]
) -> StreamTextResult[str] | StreamTextResult[OutputT]:
    """As `generate_text`, as a stream: nothing is sent before the first read.

    Args:
        output: What the answer shall be: an `Output`, or a type that stands for ``Output.object(type)``.
        options: See `RunOptions`.

    Raises:
        TypeError: For a name that is no argument, or a missing model.
        InvalidArgumentError: For an argument that cannot be used.
        InvalidPromptError: For a prompt that cannot be sent.
    """
    return stream(to_output(None), options) if output is None else stream(to_output(output), options)


def stream(
    output: Output[OutputT],
    options: RunOptions,
    *,
    agent: Agent | None = None,
    prepare: Awaitable[RunOptions] | None = None,
) -> StreamTextResult[OutputT]:
    """`stream_text`, for an agent too; with *prepare*, the options are those that it gives at the first read."""
    reader = output.reader()
    run = start_run(options, output, reader, is_streaming=True, agent=agent)
    if prepare is not None:

        async def prepare_call() -> Run:
            return start_run(await prepare, output, reader, is_streaming=True, agent=agent, control=run.control)

        run.prepare_call = prepare_call
    return StreamTextResult(run, output, reader)
