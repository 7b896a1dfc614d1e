"""What stops a run from outside: `abort`, time limits, and the cancellation of the task that reads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import InvalidArgumentError, RunTimeoutError
from onion.spec.base import value
from onion.spec.parts import ResponseMetadata, StreamStart

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from onion.errors import OnionError
    from onion.spec.parts import StreamPart


@value
class TimeoutLimits:
    """Time limits of a run, in seconds; None is no limit.

    Attributes:
        total: The whole run, from its first read.
        step: One step, tools included.
        first_part: Until the first part of a model's stream that says something; the call itself counts, heartbeats
            and what only announces the answer are no such parts.
        between_parts: Between two parts of a model's stream. Time that the reader spends elsewhere does not count.
        tool: One execution of a tool. It becomes a tool error that the model sees; the other limits end the run.
        tools: The same by tool name, instead of `tool`.
    """

    total: float | None = None
    step: float | None = None
    first_part: float | None = None
    between_parts: float | None = None
    tool: float | None = None
    tools: Mapping[str, float] | None = None

    def for_tool(self, name: str) -> float | None:
        """The limit of one execution of that tool."""
        return self.tool if self.tools is None else self.tools.get(name, self.tool)


NO_LIMITS = TimeoutLimits()


def read_limits(timeout: float | TimeoutLimits | None) -> TimeoutLimits:
    """What `timeout=` means; a number is the limit of the whole run.

    Raises:
        InvalidArgumentError: For a limit that is not above zero.
    """
    if timeout is None:
        return NO_LIMITS
    limits = timeout if isinstance(timeout, TimeoutLimits) else TimeoutLimits(total=timeout)
    named = {name: getattr(limits, name) for name in ("total", "step", "first_part", "between_parts", "tool")}
    for name, seconds in (named | dict(limits.tools or {})).items():
        if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
            msg = f"timeout must be a number of seconds above 0, got {seconds!r} for {name}"
            raise InvalidArgumentError(msg, parameter="timeout", value=seconds)
    return limits


class Control:
    """Knows which task reads the run, and what was asked to stop it.

    A run that is waiting is interrupted by cancelling the task that reads it, as `asyncio.timeout` does; `cause` then
    tells that cancellation from one that came from outside. A run that nobody reads learns of it at the next read.

    Attributes:
        reason: What is to end the run: AbortedError or RunTimeoutError.
        is_over: The run has ended; nothing can stop it any more.
    """

    __slots__ = ("_baseline", "_loop", "_sent", "_task", "_timers", "is_over", "reason")

    def __init__(self) -> None:
        self.reason: OnionError | None = None
        self.is_over: bool = False
        self._task: asyncio.Task[object] | None = None
        self._baseline = 0
        self._sent = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def enter(self) -> bool:
        """The current task begins to wait for the run; whether it had been cancelled, perhaps not felt so far."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        task = self._task = asyncio.current_task(loop)
        self._baseline = 0 if task is None else task.cancelling()
        return self._baseline > 0

    def _cancellations(self) -> int:
        """How often the task was asked to stop and has not taken it back."""
        return 0 if self._task is None else self._task.cancelling()

    async def feels_cancellation(self) -> bool:
        """Whether a cancellation from before was still on its way to the task. It is taken, and counts as one."""
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self._baseline -= 1
            await asyncio.sleep(0)  # until a coroutine waits again, Python 3.11 traces no line after a thrown exception
            return True
        return False

    def leave(self) -> bool:
        """The task has what it waited for; whether there is a cancellation of ours that `take_back` must see to."""
        if not self._sent:
            self._task = None
        return self._sent

    async def take_back(self) -> None:
        """Take back a cancellation of ours that did not end the run any more.

        Raises:
            CancelledError: When it hid one from outside.
        """
        is_cancelled = await self.absorb()
        self._task = None
        if is_cancelled:
            raise asyncio.CancelledError

    async def absorb(self) -> bool:
        """Take back a cancellation of ours, whether it has reached the task, is on its way, or was swallowed.

        Returns:
            Whether the task was cancelled from outside as well.
        """
        task = self._task
        if task is None or not self._sent:
            return False
        self._sent = False
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        return task.uncancel() > self._baseline

    def interrupt(self, error: OnionError) -> None:
        """End the run with *error*; the first call counts. May be called from any thread."""
        loop = self._loop
        try:
            is_elsewhere = loop is not None and loop is not asyncio.get_running_loop()
        except RuntimeError:
            is_elsewhere = loop is not None
        if loop is not None and is_elsewhere:
            loop.call_soon_threadsafe(self._interrupt, error)
        else:
            self._interrupt(error)

    def _interrupt(self, error: OnionError) -> None:
        if self.reason is not None or self.is_over:
            return
        self.reason = error
        if self._task is not None:
            self._sent = self._task.cancel()

    def check(self) -> None:
        """Called after user code was awaited, which may have swallowed the cancellation.

        Raises:
            CancelledError: When the run is to stop.
        """
        if self.is_stopping:
            raise asyncio.CancelledError

    @property
    def is_stopping(self) -> bool:
        """Whether somebody asked for the end of the run."""
        if self.reason is not None and not self.is_over:
            return True
        return self._task is not None and self._task.cancelling() > self._baseline

    async def cause(self, error: BaseException) -> tuple[BaseException, bool]:
        """What ended the run, given what was raised in it, and whether the reading task was cancelled from outside.

        A CancelledError that nobody asked for was raised by a model or a tool itself: it is a failure like others.
        What is raised while a run is being stopped, by closing a connection for example, does not change why it ends.
        """
        is_cancelled = await self.absorb()
        if is_cancelled or self._cancellations() > self._baseline:
            return error, True
        if self.reason is None or isinstance(error, GeneratorExit):
            return error, False
        return self.reason, False

    def finish(self) -> None:
        """The run has ended: no timer, no interruption; only a further cancellation counts from here."""
        self.is_over = True
        self._baseline = self._cancellations()
        for timer in self._timers.values():
            timer.cancel()

    def arm(self, limit: str, seconds: float | None, *, spent: float = 0) -> None:
        """Start the time limit of that name anew, of which so many seconds are *spent*; None takes it away."""
        timer = self._timers.pop(limit, None)
        if timer is not None:
            timer.cancel()
        if seconds is not None:
            error = RunTimeoutError(f"the run took longer than its {limit} limit of {seconds:g} seconds", limit=limit)
            self._timers[limit] = asyncio.get_running_loop().call_later(seconds - spent, self._interrupt, error)

    @property
    def is_read_here(self) -> bool:
        """Whether the current task is the one that reads the run, so is inside of it."""
        return self._task is not None and self._task is asyncio.current_task()

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop of who reads; None before the first read."""
        return self._loop


async def watched(
    parts: AsyncIterator[StreamPart], control: Control, limits: TimeoutLimits
) -> AsyncGenerator[StreamPart, None]:
    """*parts*, with the limits for parts around each wait. The first limit is armed by whoever makes the call."""
    limit, seconds = "first_part", limits.first_part
    clock, spent = asyncio.get_running_loop().time, 0.0
    is_armed = True
    while True:
        if not is_armed:
            control.arm(limit, seconds, spent=spent)
        begun = clock()
        try:
            part = await anext(parts)
        except StopAsyncIteration:
            return
        finally:
            control.arm(limit, None)
            is_armed = False
        if limit == "first_part" and isinstance(part, StreamStart | ResponseMetadata):
            spent += clock() - begun
        else:
            limit, seconds, spent = "between_parts", limits.between_parts, 0.0
        yield part
