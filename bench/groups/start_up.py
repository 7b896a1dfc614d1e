"""What a program waits for and holds before it does anything."""

from __future__ import annotations

from bench.jobs import Job
from bench.rows import Group, Row, difference, figure, ratio
from bench.workload import Params

START_UP = "bench.adapters.start_up"

GROUP = Group(
    name="import",
    rounds=11,
    jobs={
        "asyncio": Job(adapter=START_UP, workload="import", params=Params(variant="asyncio")),
        "onion": Job(adapter=START_UP, workload="import", params=Params(variant="onion")),
    },
    rows=(
        Row(
            name="import.time",
            title="`import onion` and the names of a first program, to `import asyncio`",
            limit=2.4,
            unit="x",
            value=ratio("onion.cpu_us", "asyncio.cpu_us"),
        ),
        Row(
            name="import.memory",
            title="peak memory of the interpreter after it",
            limit=36,
            unit="MB",
            value=figure("onion.peak_mb"),
        ),
        Row(
            name="import.added-memory",
            title="of that, more than with `import asyncio`",
            limit=15.5,
            unit="MB",
            value=difference("onion.peak_mb", "asyncio.peak_mb"),
        ),
        Row(
            name="import.unwanted",
            title="loaded modules of HTTP clients, telemetry and stores",
            limit=0,
            unit="",
            value=figure("onion.unwanted"),
        ),
        Row(
            name="import.network",
            title="sockets touched",
            limit=0,
            unit="",
            value=figure("onion.sockets"),
        ),
    ),
)
