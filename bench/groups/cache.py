"""Cache hits."""

from __future__ import annotations

from bench.groups.shared import CALIBRATION_JOB, ONION_CACHE
from bench.jobs import Job
from bench.rows import CALIBRATION, Group, Row, figure
from bench.workload import Params

DISK = Params(variant="disk")

GROUP = Group(
    name="cache",
    rounds=11,
    jobs={
        CALIBRATION: CALIBRATION_JOB,
        "memory": Job(adapter=ONION_CACHE, workload="hit"),
        "disk": Job(adapter=ONION_CACHE, workload="hit", params=DISK),
        "memory-lag": Job(adapter=ONION_CACHE, workload="lag"),
        "disk-lag": Job(adapter=ONION_CACHE, workload="lag", params=DISK),
    },
    rows=(
        Row(
            name="cache.memory",
            title="a cache hit in memory",
            limit=60,
            unit="µs",
            is_scaled=True,
            value=figure("memory"),
        ),
        Row(
            name="cache.disk",
            title="a cache hit on the disk",
            limit=250,
            unit="µs",
            is_scaled=True,
            value=figure("disk"),
        ),
        Row(
            name="cache.memory-lag",
            title="longest block of the event loop, hits of 40 KB in memory",
            limit=5,
            unit="ms",
            is_lowest=True,
            value=figure("memory-lag.lag_ms"),
        ),
        Row(
            name="cache.disk-lag",
            title="longest block of the event loop, hits of 40 KB on the disk",
            limit=5,
            unit="ms",
            is_lowest=True,
            value=figure("disk-lag.lag_ms"),
        ),
    ),
)
