"""Cases that are HTTP answers: a table of failures, and sequences that a Retry layer goes through."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from onion.errors import APICallError, OnionError
from onion.middleware import Retry
from onion.providers._json import count_in, object_in, text_in
from onion.wrap import wrap_language_model
from tests.cases.expectations import differences
from tests.cases.models import ASK, model_over
from tests.cases.observing import of_failure, of_parts, of_result, read
from tests.cases.playback import Playback

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.model import LanguageModel
    from tests.cases.case import Case

MODES = ("generate", "stream")
LONGEST_MESSAGE = 1000


class Sleeps:
    """A clock that does not wait: keeps how long it was asked to."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def run_table(case: Case) -> list[str]:
    """Every row of *case* is the one answer to a call, in both modes unless the case names one."""
    mode = text_in(case.data, "mode").removeprefix("do_")
    modes = (mode,) if mode in MODES else MODES
    return [
        f"{fault} ({provider}, {mode}, row {number})"
        for provider in case.providers
        for mode in modes
        for number, row in enumerate(case.calls)
        for fault in await _check_row(case, provider, row, number, mode=mode)
    ]


async def _check_row(case: Case, provider: str, row: JsonObject, number: int, *, mode: str) -> list[str]:
    expect = case.expect
    playback, sleeps = Playback([row]), Sleeps()
    retries = 2 if "requests_each" in expect or "slept_s" in expect else 0
    async with playback.client() as client:
        model = wrap_language_model(model_over(provider, client), Retry(retries, sleep=sleeps))
        _, error = await _call(model, mode)
    status = error.status_code if isinstance(error, APICallError) else None
    observed: dict[str, JsonValue] = {
        "raises_each": error is not None,
        "requests_each": len(playback.requests),
        "status": status,
        "status_preserved": status == count_in(row, "status"),
        "slept_s": sum(sleeps.seconds),
        "open_responses": playback.open_bodies,
        "message": str(error),
    }
    asked = {key: _at(value, number) for key, value in expect.items()}
    asked = {key: value for key, value in asked.items() if value is not None}
    faults = differences(asked, observed)
    return faults if len(str(error)) < LONGEST_MESSAGE else [*faults, "the message is endless"]


async def run_sequence(case: Case) -> list[str]:
    """The answers of *case*, one after the other, under a Retry layer."""
    table = object_in(case.expect, "for_max_retries")
    faults: list[str] = []
    for provider in case.providers:
        for mode in MODES:
            if "abort_after_s" in case.data:
                faults += await _check_abort(case, provider, mode)
            for count, expect in table.items():
                faults += await _check_retries(case, provider, mode, count=int(count), expect=expect)
            if not table and "abort_after_s" not in case.data:
                observed = await _observe(provider, case.calls, mode, retries=2)
                faults += [f"{fault} ({provider}, {mode})" for fault in differences(case.expect, observed)]
    return faults


async def _check_retries(case: Case, provider: str, mode: str, *, count: int, expect: JsonValue) -> list[str]:
    failing = await _observe(provider, case.calls, mode, retries=count)
    wanted = expect if isinstance(expect, dict) else {}
    faults = differences(wanted, failing)
    if not failing["raised"]:
        faults.append("endless failure was taken for an answer")
    return [f"{fault} ({provider}, {mode}, max_retries={count})" for fault in faults]


async def _check_abort(case: Case, provider: str, mode: str) -> list[str]:
    playback = Playback(case.calls)
    seconds, limit = case.data.get("abort_after_s"), case.expect.get("within_s")
    assert isinstance(seconds, int | float)
    assert isinstance(limit, int | float)
    async with playback.client() as client:
        model = wrap_language_model(model_over(provider, client), Retry(2))
        task = asyncio.ensure_future(_call(model, mode))
        await asyncio.wait((task,), timeout=seconds)
        started = time.monotonic()
        task.cancel()
        await asyncio.wait((task,))
    faults = [] if task.cancelled() else ["it was cancelled and did not end with CancelledError"]
    if time.monotonic() - started > limit:
        faults.append(f"it took longer than {limit} s to cancel")
    return [*faults, *differences({"requests": case.expect.get("requests")}, {"requests": len(playback.requests)})]


async def run_stream_sequence(case: Case) -> list[str]:
    """Streams one after the other, some of which break off, under a Retry layer."""
    faults: list[str] = []
    for provider in case.providers:
        observed = await _observe(provider, case.calls, "stream", retries=2)
        faults += [f"{fault} ({provider})" for fault in differences(case.expect, observed)]
    return faults


async def _observe(provider: str, answers: list[JsonObject], mode: str, *, retries: int) -> dict[str, JsonValue]:
    playback, sleeps = Playback(answers), Sleeps()
    async with playback.client() as client:
        model = wrap_language_model(model_over(provider, client), Retry(retries, sleep=sleeps))
        observed, _ = await _call(model, mode)
    return {**observed, "requests": len(playback.requests), "sleeps": len(sleeps.seconds)}


async def _call(model: LanguageModel, mode: str) -> tuple[dict[str, JsonValue], OnionError | None]:
    try:
        if mode == "generate":
            return of_result(await model.do_generate(ASK)), None
        return of_parts(await read(await model.do_stream(ASK))), None
    except OnionError as error:
        return of_failure(error), error


def _at(value: JsonValue, number: int) -> JsonValue:
    """The value for row *number*, where there is one for each."""
    return value[number] if isinstance(value, list) else value
