"""Cases of tools that still run when their run is given up."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from onion import is_step_count, stream_text, tool
from onion.errors import RunTimeoutError
from onion.providers._json import count_in, object_in, text_in
from onion.testing import ScriptedModel, answer, call
from tests.cases.behaviours import ANYTHING
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.runs import MODES, Mode, ran
from tests.cases.watching import watching

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from onion.loop import RunOptions
    from onion.spec.base import JsonValue

_TOOL = re.compile(r"sleep (?P<sleeps>[\d.]+); finally: await sleep\((?P<cleans>[\d.]+)\); cleaned\+=1")
BETWEEN_CANCELS_SECONDS = 0.005


async def run(case: Case) -> list[str]:
    """The faults of every way to give a run up while its tools run."""
    faults: list[str] = []
    ways: list[tuple[str, Callable[[_Busy], Awaitable[str]], bool]] = [
        ("stream closed", _Busy.closed, False),
        *((f"{mode} {how}", way, raises) for mode in MODES for how, way, raises in _ways_of(mode)),
    ]
    for name, way, is_cancelled in ways:
        busy = _Busy(case)
        async with watching() as watch:
            raised = await way(busy)
            seconds = time.monotonic() - busy.stopped_at
        observed: dict[str, JsonValue] = {"cleaned": busy.cleaned, "raises": raised, "tasks_left": len(watch.tasks)}
        asked = {key: case.expect.get(key) for key in observed if key != "raises" or is_cancelled}
        faults += [f"{fault} ({name})" for fault in differences(asked, observed) + watch.faults()]
        faults += [f"it took {seconds} s ({name})"] if seconds > busy.limit else []
    for mode in MODES:
        faults += [f"{fault} ({mode}, a thread)" for fault in await _Busy(case).threaded(mode)]
    return faults


def _ways_of(mode: Mode) -> list[tuple[str, Callable[[_Busy], Awaitable[str]], bool]]:
    return [
        ("cancelled", lambda busy: busy.cancelled(mode, times=1), True),
        ("cancelled twice", lambda busy: busy.cancelled(mode, times=2), True),
        ("timed out", lambda busy: busy.timed_out(mode), False),
    ]


class _Busy:
    """A run whose tools take long, and clean up when they are stopped."""

    def __init__(self, case: Case) -> None:
        calls = object_in(case.data, "calls")
        found = _TOOL.fullmatch(text_in(calls, "tool"))
        after, limit = calls.get("cancel_after_s"), case.expect.get("within_s")
        if found is None or not isinstance(after, int | float) or not isinstance(limit, int | float):
            raise WaitingError(f"tools that do {calls!r}")
        self.limit = limit
        self.cleaned = 0
        self.stopped_at = 0.0
        self._after = after
        sleeps, cleans = float(found["sleeps"]), float(found["cleans"])

        async def execute(given: JsonValue) -> None:
            del given
            try:
                await asyncio.sleep(sleeps)
            finally:
                await asyncio.sleep(cleans)
                self.cleaned += 1

        names = [f"tool{number}" for number in range(count_in(calls, "tools") or 0)]
        self.options: RunOptions = {
            "model": ScriptedModel([answer(*(call(name, id=name) for name in names))]),
            "prompt": "go",
            "tools": [tool(name=name, input_schema=ANYTHING, execute=execute) for name in names],
            "stop_when": is_step_count(2),
        }

    async def cancelled(self, mode: Mode, *, times: int) -> str:
        """The task that runs is cancelled."""
        task = asyncio.ensure_future(ran(self.options, mode))
        await asyncio.wait((task,), timeout=self._after)
        self.stopped_at = time.monotonic()
        for number in range(times):
            await asyncio.sleep(BETWEEN_CANCELS_SECONDS * number)
            task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "CancelledError"
        return "nothing"

    async def closed(self) -> str:
        """Somebody else closes the stream that a task reads."""
        result = stream_text(**self.options)

        async def consume() -> None:
            async for _ in result.full_stream:
                pass

        task = asyncio.ensure_future(consume())
        await asyncio.wait((task,), timeout=self._after)
        self.stopped_at = time.monotonic()
        await result.aclose()
        cleaned = self.cleaned
        with suppress(asyncio.CancelledError):
            await task
        self.cleaned = cleaned
        return "nothing"

    async def timed_out(self, mode: Mode) -> str:
        """The time for the whole run is over."""
        self.stopped_at = time.monotonic() + self._after
        told = await ran({**self.options, "timeout": self._after}, mode)
        return "nothing" if isinstance(told.error, RunTimeoutError) else repr(told.error)

    async def threaded(self, mode: Mode) -> list[str]:
        """A tool in a thread cannot be stopped: the run does not wait for it, and drops its result."""
        entered, may_end = threading.Event(), threading.Event()

        def execute(given: JsonValue) -> JsonValue:
            entered.set()
            may_end.wait()
            return given

        name = "tool0"
        self.options["tools"] = [tool(name=name, input_schema=ANYTHING, execute=execute)]
        self.options["model"] = ScriptedModel([answer(call(name))])
        task = asyncio.ensure_future(ran(self.options, mode))
        await asyncio.to_thread(entered.wait)
        task.cancel()
        await asyncio.wait((task,), timeout=self.limit)
        is_over = task.cancelled()
        may_end.set()
        return [] if is_over else ["the run waits for the thread"]
