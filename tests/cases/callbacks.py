"""Cases in which the caller's own callback raises."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from onion.errors import APICallError
from onion.loop.lifecycle import HOOKS
from onion.providers._json import object_in
from onion.testing import ScriptedModel
from tests.cases.case import Case, WaitingError, rows
from tests.cases.expectations import differences
from tests.cases.runs import MODES, Mode, of_run, ran
from tests.cases.scripts import answer_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.loop import RunOptions
    from onion.spec.base import JsonObject
    from onion.testing import ScriptItem

NUMBERS = {"1st": 1, "2nd": 2, "3rd": 3}
LIMIT_SECONDS = 1.0


async def run(case: Case) -> list[str]:
    """The faults of *case*, with plain and async callbacks; then the same of every other callback, and of failures."""
    calls = object_in(case.data, "calls")
    script = [answer_of(step) for step in rows(calls.get("steps"))]
    named = {name: _number(str(written)) for name, written in object_in(calls, "callbacks").items()}
    faults: list[str] = []
    for mode in MODES:
        for is_async in (False, True):
            every = [named, *({hook: 1} for hook in HOOKS)]
            for raising in every:
                found = await _check(case.expect, list(script), raising, mode=mode, is_async=is_async)
                faults += [f"{fault} ({mode}, {'async' if is_async else 'plain'} {list(raising)})" for fault in found]
            faults += [f"{fault} ({mode})" for fault in await _check_failure(mode, is_async=is_async)]
    return faults


def _number(written: str) -> int:
    number = NUMBERS.get(written.removeprefix("raise on "))
    if number is None:
        raise WaitingError(f"a callback that does {written!r}")
    return number


async def _check(
    expect: JsonObject, script: list[ScriptItem], raising: dict[str, int], *, mode: Mode, is_async: bool
) -> list[str]:
    model = ScriptedModel(script)
    told = await asyncio.wait_for(ran(_options(model, raising, is_async=is_async), mode), LIMIT_SECONDS)
    return differences(expect, {**of_run(told), "ends": True, "connections_open": model.open_calls})


async def _check_failure(mode: Mode, *, is_async: bool) -> list[str]:
    """The provider fails, and so does whoever is told: it is the provider's error that is raised."""
    failure = APICallError("the provider's own", url="http://case/")
    options = _options(ScriptedModel([failure]), dict.fromkeys(HOOKS, 1), is_async=is_async)
    told = await asyncio.wait_for(ran(options, mode), LIMIT_SECONDS)
    return [] if told.error is failure else [f"instead of the provider's error: {told.error!r}"]


def _options(model: ScriptedModel, raising: dict[str, int], *, is_async: bool) -> RunOptions:
    """A run with all callbacks, of which some raise at the call of that number."""

    def made(hook: str) -> Callable[[object], object]:
        seen: list[object] = []

        def plain(event: object) -> None:
            seen.append(event)
            if len(seen) == raising.get(hook):
                raise RuntimeError(f"{hook} raised")

        async def later(event: object) -> None:
            plain(event)

        return later if is_async else plain

    return {
        "model": model,
        "prompt": "go",
        "max_retries": 0,
        "on_start": made("on_start"),
        "on_step_start": made("on_step_start"),
        "on_language_model_call_start": made("on_language_model_call_start"),
        "on_language_model_call_end": made("on_language_model_call_end"),
        "on_chunk": made("on_chunk"),
        "on_step_end": made("on_step_end"),
        "on_step_error": made("on_step_error"),
        "on_end": made("on_end"),
        "on_error": made("on_error"),
        "on_abort": made("on_abort"),
    }
