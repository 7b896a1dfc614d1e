"""Hits of Onion's cache: what they cost, and how long they keep the event loop from its other tasks."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.adapters.onion_calls import calling
from bench.adapters.steady import Steady
from bench.workload import Params, Setups, Workload
from onion import wrap_language_model
from onion.middleware import SHARED, Cache, DiskStore, MemoryStore

if TYPE_CHECKING:
    from bench.workload import Extra
    from onion import LanguageModel

LONG_ANSWER = 40_000
"""Characters of the answer whose hits must not hold up the event loop."""
HITS = 50
TICK_SECONDS = 0.0005
SCHEDULING = Path("/proc/thread-self/schedstat")


def cached(model: LanguageModel, params: Params) -> LanguageModel:
    """The model behind a cache: in memory, or on the disk where the variant says so."""
    store = DiskStore(tempfile.mkdtemp(prefix="onion-bench-")) if params.variant == "disk" else MemoryStore()
    return wrap_language_model(model, Cache(store, scope=SHARED))


def hit(params: Params) -> Workload:
    """Hits of one entry."""
    return calling(cached(Steady(), params))


def waited_for_processor() -> float:
    """Seconds that this thread was ready to run, but another process had the processor."""
    try:
        return int(SCHEDULING.read_text(encoding="ascii").split()[1]) / 1e9
    except FileNotFoundError:
        return 0.0


async def watch(lags: list[float]) -> None:
    """Note how much later than it wished this task ran, less the time for which the machine had no processor for it."""
    while True:
        begun, stolen = time.perf_counter(), waited_for_processor()
        await asyncio.sleep(TICK_SECONDS)
        lags.append(time.perf_counter() - begun - TICK_SECONDS - (waited_for_processor() - stolen))


def lag(params: Params) -> Workload:
    """The longest that hits of a long answer keep another task waiting, in milliseconds."""
    hits = calling(cached(Steady(text="x" * LONG_ANSWER), params))

    async def run(operations: int) -> Extra:
        lags: list[float] = []
        watcher = asyncio.ensure_future(watch(lags))
        for _ in range(operations):
            await hits.run(1)
            await asyncio.sleep(0)  # a hit in memory never waits; without this nobody else would get a turn
        watcher.cancel()
        return {"lag_ms": max(lags) * 1000}

    return Workload(run, unit=HITS)


SETUPS: Setups = {"hit": hit, "lag": lag}
