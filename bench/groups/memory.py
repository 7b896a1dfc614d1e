"""Memory: of open streams, and after long runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.jobs import Job
from bench.rows import Group, Row, figure, ratio
from bench.workload import Params

if TYPE_CHECKING:
    from collections.abc import Iterator

STREAMS = "bench.adapters.open_streams"
ENDURANCE = "bench.adapters.endurance"

COUNTS = {count: Params(concurrency=count, options=f"n=8,per=3,all={count}", deltas=8) for count in (256, 1000)}
WAYS = {"raw": ("raw", ""), "httpx": ("onion", "httpx"), "fast": ("onion", "aiohttp")}


def open_jobs() -> Iterator[tuple[str, Job]]:
    """So many streams at once, in all ways."""
    for count, params in COUNTS.items():
        for way, (workload, variant) in WAYS.items():
            job = Job(adapter=STREAMS, workload=workload, params=params.replace(variant=variant), is_fresh=True)
            yield f"{way}-{count}", job


def open_rows() -> Iterator[Row]:
    """The memory of one, to raw httpx."""
    for count in COUNTS:
        for way, name in (("httpx", "httpx"), ("fast", "the fast transport")):
            yield Row(
                name=f"open.{count}-{way}",
                title=f"memory of each of {count:,} open streams over {name}, to raw httpx",
                limit=1.3,
                unit="x",
                value=ratio(f"{way}-{count}.kb", f"raw-{count}.kb"),
            )


OPEN = Group(name="open", rounds=1, jobs=dict(open_jobs()), rows=tuple(open_rows()), needs_server=True)


FLAT = Group(
    name="flat",
    rounds=1,
    jobs={
        "runs": Job(adapter=ENDURANCE, workload="runs", is_fresh=True),
        "parts": Job(adapter=ENDURANCE, workload="parts", is_fresh=True),
    },
    rows=(
        Row(
            name="flat.runs",
            title="growth of the process in 10,000 runs",
            limit=512,
            unit="KiB",
            value=figure("runs.kb"),
        ),
        Row(
            name="flat.runs-objects",
            title="objects more after 10,000 runs",
            limit=100,
            unit="",
            value=figure("runs.objects"),
        ),
        Row(
            name="flat.parts",
            title="growth of the process in 1,000,000 stream parts",
            limit=512,
            unit="KiB",
            value=figure("parts.kb"),
        ),
        Row(
            name="flat.parts-objects",
            title="objects more after 1,000,000 stream parts",
            limit=100,
            unit="",
            value=figure("parts.objects"),
        ),
    ),
)
