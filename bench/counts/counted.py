"""The program that callgrind runs: does each path for two lengths, and marks where each begins and ends.

A mark is a call of getpgid, which nothing else here does; callgrind writes down its count at each. Printed is, for each
mark, what was counted since the one before: a name and how many operations, or an empty line for what is nobody's.
The collector is off: when it runs depends on everything that ran before.
"""

import os


def mark() -> None:
    """Let callgrind write down what it counted since the last mark."""
    os.getpgid(0)


mark()
import asyncio  # noqa: E402 -- this is counted

mark()
import onion  # noqa: E402 -- this is counted

_NAMES = [
    getattr(onion, name) for name in ("generate_text", "is_step_count", "stream_text", "tool", "wrap_language_model")
]
mark()

import gc  # noqa: E402 -- nothing may come before what is counted
from importlib import import_module  # noqa: E402 -- as gc

from bench.counts.calibration import calibrate  # noqa: E402 -- as gc
from bench.counts.paths import CALIBRATION, IMPORT_ASYNCIO, IMPORT_ONION, LONGER, PATHS, Path  # noqa: E402 -- as gc

CALIBRATIONS = 2
WARM_UPS = 1


def count(name: str, operations: int) -> None:
    """Say what the next mark ends."""
    print(f"{operations} {name}")


def count_path(path: Path, runner: asyncio.Runner) -> None:
    """Do the short and the long run, each warmed up by itself before."""
    setup = import_module(path.adapter).SETUPS[path.workload]
    for params, operations in path.runs():
        workload = setup(params)
        runs = operations if not path.grows else workload.unit
        for _ in range(WARM_UPS):
            runner.run(workload.run(runs))
        gc.collect()
        mark()
        count("", 0)
        runner.run(workload.run(runs))
        mark()
        count(path.name, operations)


def main() -> None:
    """Count everything, in the order of PATHS."""
    count("", 0)
    count(IMPORT_ASYNCIO, 1)
    count(IMPORT_ONION, 1)
    gc.disable()
    for repeats in (1, CALIBRATIONS, CALIBRATIONS * LONGER):
        mark()
        count("", 0)
        calibrate(repeats)
        mark()
        count(CALIBRATION if repeats > 1 else "", repeats)
    with asyncio.Runner() as runner:
        for path in PATHS:
            count_path(path, runner)


if __name__ == "__main__":
    main()
