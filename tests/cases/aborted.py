"""Cases in which the user stops a run while a tool runs, whatever the tool makes of that."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING

from onion import is_step_count, stream_text, tool
from onion.errors import AbortedError
from onion.providers._json import object_in
from onion.spec.full_stream import Abort, Finish
from onion.spec.parts import ErrorPart
from onion.testing import ScriptedModel
from tests.cases.behaviours import ANYTHING, behaviour_of
from tests.cases.case import Case, WaitingError, rows
from tests.cases.expectations import differences
from tests.cases.runs import MODES, Mode, ran
from tests.cases.scripts import answer_of

if TYPE_CHECKING:
    from onion.loop import RunOptions
    from onion.spec.base import JsonObject
    from onion.spec.full_stream import FullStreamPart
    from tests.cases.behaviours import Behaviour

LIMIT_SECONDS = 1.0
_VARIANT = re.compile(r"variant (?P<name>\w+): (?P<does>(raise|return) .*)")


async def run(case: Case) -> list[str]:
    """The faults of every variant: the task of a run in either mode is cancelled, or a streamed run is aborted."""
    faults: list[str] = []
    ((name, written),) = object_in(object_in(case.data, "calls"), "tool_behaviour").items()
    for variant, behaviour in _variants(str(written)):
        for mode in MODES:
            found = await _Stopped(case, name, behaviour).cancelled(mode)
            faults += [f"{fault} (variant {variant}, {mode} cancelled)" for fault in found]
        found = await _Stopped(case, name, behaviour).aborted()
        faults += [f"{fault} (variant {variant}, stream aborted)" for fault in found]
    return faults


def _variants(written: str) -> list[tuple[str, Behaviour]]:
    """What the tool may do once it is told to stop."""
    waits, *variants = written.split("; ")
    found = [_VARIANT.fullmatch(variant) for variant in variants]
    if waits != "wait for abort" or not all(found):
        raise WaitingError(f"a tool that does {written!r}")
    return [(each["name"], behaviour_of(each["does"])) for each in found if each is not None]


class _Stopped:
    def __init__(self, case: Case, name: str, behaviour: Behaviour) -> None:
        self._expect = case.expect
        self._entered = asyncio.Event()
        calls = object_in(case.data, "calls")
        self._model = ScriptedModel([answer_of(step) for step in rows(calls.get("steps"))])

        async def execute(given: JsonObject) -> object:
            del given
            self._entered.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return behaviour.settle()

        self._options: RunOptions = {
            "model": self._model,
            "prompt": "go",
            "tools": [tool(name=name, input_schema=ANYTHING, execute=execute)],
            "stop_when": is_step_count(20),
            "max_retries": 0,
        }

    async def cancelled(self, mode: Mode) -> list[str]:
        """The task that runs is cancelled."""
        task = asyncio.ensure_future(ran(self._options, mode))
        await asyncio.wait_for(self._entered.wait(), LIMIT_SECONDS)
        task.cancel()
        await asyncio.wait((task,), timeout=LIMIT_SECONDS)
        return self._faults("abort/cancel" if task.cancelled() else "nothing of the sort")

    async def aborted(self) -> list[str]:
        """The run is told to stop by whoever holds its result."""
        result = stream_text(**self._options)
        parts: list[FullStreamPart] = []

        async def consume() -> None:
            parts.extend([part async for part in result.full_stream])

        task = asyncio.ensure_future(consume())
        await asyncio.wait_for(self._entered.wait(), LIMIT_SECONDS)
        result.abort("the user pressed stop")
        await asyncio.wait_for(task, LIMIT_SECONDS)
        raised = "nothing"
        try:
            await result.steps
        except AbortedError:
            raised = "abort/cancel"
        ends = [part.type for part in parts if isinstance(part, Abort | ErrorPart | Finish)]
        return self._faults(raised) + ([] if ends == ["abort"] else [f"the stream ended with {ends}"])

    def _faults(self, raised: str) -> list[str]:
        faults = differences(self._expect, {"raises": raised, "model_calls": len(self._model.calls)})
        return faults + (["a stream of the model was left open"] if self._model.open_calls else [])
