"""The tool loop."""

from __future__ import annotations

from bench.groups.shared import CALIBRATION_JOB, FLOOR, ONION_CALLS
from bench.jobs import Job
from bench.rows import CALIBRATION, Group, Row, figure, ratio
from bench.workload import Params

PARALLEL = Params(steps=10, calls=16)

GROUP = Group(
    name="loop",
    rounds=11,
    jobs={
        CALIBRATION: CALIBRATION_JOB,
        "steps-10": Job(adapter=ONION_CALLS, workload="loop", params=Params(steps=10)),
        "steps-50": Job(adapter=ONION_CALLS, workload="loop", params=Params(steps=50)),
        "steps-200": Job(adapter=ONION_CALLS, workload="loop", params=Params(steps=200)),
        "parallel": Job(adapter=ONION_CALLS, workload="loop", params=PARALLEL, budget=0.08),
        "parallel-floor": Job(adapter=FLOOR, workload="loop", params=PARALLEL, budget=0.08),
    },
    rows=(
        *(
            Row(
                name=f"loop.step-{steps}",
                title=f"a step with one tool, of {steps}",
                limit=70,
                unit="µs",
                is_scaled=True,
                value=figure(f"steps-{steps}"),
            )
            for steps in (10, 50, 200)
        ),
        Row(
            name="loop.growth",
            title="a step of 200, to a step of 10",
            limit=1.2,
            unit="x",
            value=ratio("steps-200", "steps-10"),
        ),
        Row(
            name="loop.parallel",
            title="a step of 16 parallel tools, to bare Python",
            limit=2,
            unit="x",
            value=ratio("parallel", "parallel-floor"),
        ),
    ),
)
