"""Cases of servers that say nothing, or never end."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from typing import TYPE_CHECKING

import httpx

from onion import TimeoutLimits, stream_text
from onion.errors import RunTimeoutError
from onion.providers import openai_compatible
from onion.providers._json import object_in, text_in
from onion.spec.full_stream import TextDeltaOutput
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.loopback import QUICK, Loopback, every, heartbeats, silence
from tests.cases.runs import MODES, Mode, ran
from tests.cases.watching import watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onion.loop import RunOptions
    from onion.spec.base import JsonObject, JsonValue

ENDS = {"silence": silence, "heartbeats": heartbeats}
_EACH = re.compile(r"delta each (?P<seconds>[\d.]+) s")


async def run(case: Case) -> list[str]:
    """The faults of every row; those with a limit for the whole run in both modes."""
    faults: list[str] = []
    for row in case.calls:
        expect = object_in(case.expect, text_in(row, "id"))
        for mode in MODES if "total_timeout_s" in row else MODES[1:]:
            kind, body = QUICK[mode]
            with Loopback(_script(row.get("server"), body), kind=kind) as server:
                found = await _check(row, expect, server, mode)
            faults += [f"{fault} (row {text_in(row, 'id')}, {mode})" for fault in found]
    return faults


def _limits(row: JsonObject) -> TimeoutLimits:
    return TimeoutLimits(
        first_part=_seconds(row, "first_timeout_s"),
        between_parts=_seconds(row, "idle_timeout_s"),
        total=_seconds(row, "total_timeout_s"),
    )


def _seconds(row: JsonObject, name: str) -> float | None:
    found = row.get(name)
    return found if isinstance(found, int | float) else None


def _script(written: JsonValue, quick: bytes) -> Callable[[], Iterable[bytes | float]]:
    """What the server does."""
    if written == "quick":
        return lambda: (quick,)
    if isinstance(written, str) and (found := _EACH.fullmatch(written)):
        return lambda: every(float(found["seconds"]))
    if isinstance(written, list) and written[0] == "headers" and written[-1] in ENDS:
        pieces, end = [str(piece).encode() for piece in written[1:-1]], ENDS[str(written[-1])]
        return lambda: itertools.chain(pieces, end())
    raise WaitingError(f"a server that does {written!r}")


async def _check(row: JsonObject, expect: JsonObject, server: Loopback, mode: Mode) -> list[str]:
    texts: list[str] = []
    async with watching() as watch, httpx.AsyncClient() as client:
        model = openai_compatible(base_url=server.url, model="m-1", name="vendor", api_key="k", http_client=client)
        before = _timers()
        started = time.monotonic()
        options: RunOptions = {"model": model, "prompt": "go", "timeout": _limits(row), "max_retries": 0}
        raised = await (
            _generated(options) if mode == "generate" else _streamed(options, texts, _seconds(row, "read_every_s") or 0)
        )
        seconds = time.monotonic() - started
        left = _timers() - before
        closed_after = await server.seconds_until_closed(1) if raised else 0
    limit = expect.get("within_s")
    observed: dict[str, JsonValue] = {
        "raises": raised,
        "text": "".join(texts),
        "timers_left": left,
        "within_s": limit if isinstance(limit, int | float) and seconds <= limit else seconds,
    }
    faults = differences({"raises": "", **expect}, observed) + watch.faults()
    return faults + (["the connection is still open"] if closed_after >= 1 else [])


async def _generated(options: RunOptions) -> str:
    return _name_of((await ran(options, "generate")).error)


async def _streamed(options: RunOptions, texts: list[str], pause: float) -> str:
    result = stream_text(**options)
    async for part in result.full_stream:
        texts += [part.text] if isinstance(part, TextDeltaOutput) else []
        await asyncio.sleep(pause)  # a reader that takes its time
    try:
        await result.steps
    except RunTimeoutError as error:
        return _name_of(error)
    return ""


def _name_of(error: Exception | None) -> str:
    if error is None:
        return ""
    return "timeout" if isinstance(error, RunTimeoutError) else repr(error)


def _timers() -> int:
    """How many timers the event loop holds that nobody cancelled. It has no public way to ask."""
    handles: list[asyncio.TimerHandle] = getattr(asyncio.get_running_loop(), "_scheduled", [])
    return sum(not handle.cancelled() for handle in handles)
