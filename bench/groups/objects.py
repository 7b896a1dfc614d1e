"""Partial values of a streamed object, one per delta of 16 characters."""

from __future__ import annotations

from bench.groups.shared import FLOOR, ONION_STREAMS
from bench.jobs import Job
from bench.rows import Group, Row, ratio
from bench.workload import Params

GROUP = Group(
    name="objects",
    rounds=9,
    jobs={
        "floor-20": Job(adapter=FLOOR, workload="object", params=Params(size=20_000)),
        "partial-20": Job(adapter=ONION_STREAMS, workload="object", params=Params(size=20_000), budget=0.08),
        "floor-200": Job(adapter=FLOOR, workload="object", params=Params(size=200_000)),
        "partial-200": Job(adapter=ONION_STREAMS, workload="object", params=Params(size=200_000), budget=0.15),
    },
    rows=(
        *(
            Row(
                name=f"objects.partial-{size}",
                title=f"all partial values of {size} KB, to reading and parsing it once",
                limit=20,
                unit="x",
                value=ratio(f"partial-{size}", f"floor-{size}"),
            )
            for size in (20, 200)
        ),
        Row(
            name="objects.growth",
            title="partial values of 200 KB, to those of 20 KB",
            limit=12,
            unit="x",
            value=ratio("partial-200", "partial-20"),
        ),
    ),
)
