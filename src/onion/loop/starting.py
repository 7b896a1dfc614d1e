"""Calling the function of a tool: a coroutine, an iterator of outputs, or a plain function in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine
from types import CoroutineType
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from onion.loop.lifecycle import resolve
from onion.loop.sub_agents import Pause

if TYPE_CHECKING:
    from onion.loop.options import ToolOptions
    from onion.loop.tools import Tool

Emit: TypeAlias = Callable[[object], None]


async def start(tool: Tool, parsed: object, options: ToolOptions[object], emit: Emit) -> object:
    """The output of *tool*; *emit* is told its preliminary outputs.

    Raises:
        BaseException: What the tool raised.
    """
    started = await _in_thread(tool, parsed, options) if tool.style == "sync" else tool.start(parsed, options)
    if _is_coroutine(started):  # as nearly always; the abstract classes take longer to ask
        return await started
    return await _last(started, emit) if _is_iterable(started) else await resolve(started)


async def _last(outputs: AsyncIterable[object], emit: Emit) -> object:
    """The last of *outputs*; each is preliminary when it comes."""
    last: object = None
    try:
        async for output in outputs:
            last = output
            if not isinstance(output, Pause):
                emit(output)
    finally:
        if isinstance(outputs, AsyncGenerator):
            await outputs.aclose()
    return last


def _is_coroutine(started: object) -> TypeGuard[Coroutine[object, None, object]]:
    return isinstance(started, CoroutineType)


def _is_iterable(started: object) -> TypeGuard[AsyncIterable[object]]:
    return isinstance(started, AsyncIterable)


async def _in_thread(tool: Tool, parsed: object, options: ToolOptions[object]) -> object:
    """What a plain function returns, called in a thread of its own with this context.

    A pool would be a trap: tools that wait for runs which wait for tools would fill it and wait for ever, and one that
    never returns would keep the program from ending. Cancelling does not stop the thread: its result is dropped.
    """
    loop = asyncio.get_running_loop()
    # What it raises travels as a value, because a future refuses a StopIteration.
    returned: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def give(output: object, error: BaseException | None) -> None:
        if not returned.done():
            returned.set_result((output, error))

    def call() -> None:
        output, failure = None, None
        try:
            output = context.run(tool.start, parsed, options)
        except BaseException as error:  # noqa: BLE001 - raised in the loop
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(give, output, failure)

    threading.Thread(target=call, name=f"onion-tool-{tool.name}", daemon=True).start()
    output, error = await returned
    if error is not None:
        raise error
    return output
