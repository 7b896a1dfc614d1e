"""Over the loopback: what Onion adds to a client, and what its fast transport saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.jobs import Job
from bench.rows import Group, Row, ratio
from bench.workload import Params

if TYPE_CHECKING:
    from collections.abc import Iterator

RAW = "bench.adapters.raw_http"
ONION = "bench.adapters.onion_network"

WORK = {
    "generate": Params(options="n=16"),
    "loop": Params(options="tools=10", steps=10),
    "stream": Params(options="n=2000,per=64", deltas=2000),
    "first": Params(options="n=8,per=2,gap=3", deltas=8),
}
"""What is done, by name. The workload is the name, but the time to the first part is taken of a stream."""

WAYS = {"raw": (RAW, ""), "httpx": (ONION, "httpx"), "fast": (ONION, "aiohttp")}
"""Who does it: adapter and variant."""

ROWS = (
    ("generate", "httpx", 1.15, "one `generate_text` over httpx, to raw httpx"),
    ("generate", "fast", 0.4, "one `generate_text` over the fast transport, to raw httpx"),
    ("loop", "httpx", 1.15, "a step of a tool loop of 10 over httpx, to raw httpx"),
    ("loop", "fast", 0.4, "a step of a tool loop of 10 over the fast transport, to raw httpx"),
    ("stream", "httpx", 1.6, "a delta of 2,000 over httpx, to raw httpx with JSON parsing"),
    ("stream", "fast", 1.6, "a delta of 2,000 over the fast transport, to raw httpx with JSON parsing"),
    ("first", "httpx", 1.1, "time to the first delta over httpx, to raw httpx"),
    ("first", "fast", 1.1, "time to the first delta over the fast transport, to raw httpx"),
)


def jobs() -> Iterator[tuple[str, Job]]:
    """All of WORK in all WAYS."""
    for work, params in WORK.items():
        for way, (adapter, variant) in WAYS.items():
            workload = "stream" if work == "first" else work
            yield f"{work}-{way}", Job(adapter=adapter, workload=workload, params=params.replace(variant=variant))


def rows() -> Iterator[Row]:
    """A row for each of ROWS."""
    for work, way, limit, title in ROWS:
        figure = ".first_us" if work == "first" else ""
        value = ratio(f"{work}-{way}{figure}", f"{work}-raw{figure}")
        yield Row(name=f"network.{work}-{way}", title=title, limit=limit, unit="x", value=value)


GROUP = Group(name="network", rounds=9, jobs=dict(jobs()), rows=tuple(rows()), needs_server=True)
