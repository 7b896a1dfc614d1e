"""The process that runs one workload: sets it up, warms it up, then measures whenever it is told to.

`python -m bench.worker MODULE WORKLOAD BUDGET PARAMS`, the params as JSON. It answers in JSON lines: first how many
operations fit into BUDGET (CPU seconds), then, for each line that it reads, one measurement. Standard library only.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING

from bench.workload import Params

if TYPE_CHECKING:
    from bench.workload import Extra, Setups, Workload

MAX_GROWTH = 20
"""How much longer the next try may be than one that was too short to be believed."""
WARM_UPS = 3
"""Runs before any is looked at: what is made once, on first or second use, may take longer than the whole budget."""
MIN_SECONDS = 1e-4


async def timed(workload: Workload, operations: int) -> dict[str, object]:
    """Do the operations once, and say what they took. The collector is not kept from running in between."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    extra: Extra = await workload.run(operations) or {}
    used = time.process_time() - cpu
    return {"operations": operations, "cpu": used, "wall": time.perf_counter() - wall, "extra": dict(extra)}


async def fitting(workload: Workload, budget: float) -> int:
    """How many operations take about *budget* CPU seconds; what runs meanwhile is the warm-up.

    The quicker of two tries counts: the first may have loaded a module, or filled a cache.
    """
    operations = workload.unit
    while True:
        used = MIN_SECONDS + min([await cpu_seconds(workload, operations) for _ in range(2)])
        if used >= budget / 2:
            return max(1, round(operations * budget / used / workload.unit)) * workload.unit
        operations = max(2, round(operations * min(MAX_GROWTH, budget / used) / workload.unit)) * workload.unit


async def cpu_seconds(workload: Workload, operations: int) -> float:
    """What so many operations take."""
    before = time.process_time()
    await workload.run(operations)
    return time.process_time() - before


def answer(found: dict[str, object]) -> None:
    """Tell the other side."""
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def serve(setups: Setups, workload: str, budget: float, params: Params) -> None:
    """Measure once per line of the standard input, until that ends."""
    with asyncio.Runner() as runner:

        async def begin() -> tuple[Workload, int]:
            ready = setups[workload](params)
            return ready, ready.unit if ready.once else await fitting(ready, budget)

        ready, operations = runner.run(begin())
        answer({"ready": operations})
        for _ in sys.stdin:
            answer(runner.run(timed(ready, operations)))
        sys.stdout.flush()
        os._exit(0)  # what a peer wants to do at its exit is not our time


def main(words: list[str]) -> None:
    """Run as a program."""
    module, workload, budget, params = words
    setups: Setups = import_module(module).SETUPS
    serve(setups, workload, float(budget), Params.parse(params))


if __name__ == "__main__":
    main(sys.argv[1:])
