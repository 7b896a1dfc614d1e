"""Where the time of one workload goes: `python -m bench.profiling MODULE WORKLOAD OPERATIONS [PARAMS]`.

Prints how many calls of functions an operation makes, the share of each package, and the functions that take most.
A profiler makes calls dearer than they are: compare shares, not times.
"""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import sys
from collections import defaultdict
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING

from bench.workload import Params

if TYPE_CHECKING:
    from bench.workload import Setups, Workload

SHOWN = 30


def package_of(file: str) -> str:
    """The package that a file belongs to, or what else it is."""
    if file.startswith("~") or not file:
        return "builtins"
    for root in ("site-packages/", "/src/"):
        if root in file:
            return file.rpartition(root)[2].partition("/")[0]
    return "standard library" if "/lib/python" in file else "bench"


async def profiled(workload: Workload, operations: int) -> cProfile.Profile:
    """Run once to warm up and once to look."""
    await workload.run(operations)
    profile = cProfile.Profile()
    profile.enable()
    await workload.run(operations)
    profile.disable()
    return profile


def main(words: list[str]) -> None:
    """Run as a program."""
    module, name, count, *params = words
    setups: Setups = import_module(module).SETUPS
    profile = asyncio.run(profiled(setups[name](Params.parse(*params or ["{}"])), int(count)))
    calls, times = 0, defaultdict[str, float](float)
    for entry in profile.getstats():
        file = "~" if isinstance(entry.code, str) else entry.code.co_filename
        calls += entry.callcount
        times[package_of(file)] += entry.inlinetime
    total = sum(times.values())
    shown = sorted(times.items(), key=itemgetter(1), reverse=True)
    shares = ", ".join(f"{package} {time / total:.0%}" for package, time in shown)
    print(f"{calls / int(count):.1f} calls per operation; {shares}")
    for order in ("tottime", "cumulative"):
        pstats.Stats(profile).sort_stats(order).print_stats(SHOWN)


if __name__ == "__main__":
    main(sys.argv[1:])
