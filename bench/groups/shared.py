"""The jobs that several groups use."""

from __future__ import annotations

from typing import Final

from bench.jobs import Job
from bench.workload import Params

FLOOR: Final = "bench.adapters.floor"
ONION_CALLS: Final = "bench.adapters.onion_calls"
ONION_CACHE: Final = "bench.adapters.onion_cache"
ONION_PAIRS: Final = "bench.adapters.onion_pairs"
ONION_STREAMS: Final = "bench.adapters.onion_streams"

CALIBRATION_JOB: Final = Job(adapter=FLOOR, workload="loop", params=Params(steps=10))


def adding(workload: str, *, layers: int = 0, variant: str = "") -> Job:
    """The job that compares a workload with itself, without what is named here."""
    return Job(adapter=ONION_PAIRS, workload=workload, params=Params(layers=layers, variant=variant), budget=0.1)
