"""One call: a step of `generate_text`, layers, tracing."""

from __future__ import annotations

from bench.groups.shared import CALIBRATION_JOB, ONION_CALLS, adding
from bench.jobs import Job
from bench.rows import CALIBRATION, Group, Row, figure

LAYERS = 20
"""So many of a kind tell what one costs."""

GROUP = Group(
    name="calls",
    rounds=15,
    jobs={
        CALIBRATION: CALIBRATION_JOB,
        "generate": Job(adapter=ONION_CALLS, workload="generate"),
        "silent": adding("loop", layers=LAYERS),
        "wrapped": adding("call", layers=LAYERS),
        "traced": adding("tracing"),
        "traced-sdk": adding("tracing", variant="sdk"),
    },
    rows=(
        Row(
            name="calls.step",
            title="one `generate_text` step on a mock model",
            limit=60,
            unit="µs",
            is_scaled=True,
            value=figure("generate"),
        ),
        Row(
            name="calls.silent-layer",
            title="a layer without model hooks in the loop's list, per call",
            limit=0.1,
            unit="µs",
            is_scaled=True,
            value=figure("silent.more_us", per=LAYERS),
        ),
        Row(
            name="calls.pass-through",
            title="a pass-through `wrap_generate`, per call",
            limit=1,
            unit="µs",
            is_scaled=True,
            value=figure("wrapped.more_us", per=LAYERS),
        ),
        Row(
            name="calls.tracing-without-sdk",
            title="Tracing without an SDK, per call",
            limit=3,
            unit="µs",
            is_scaled=True,
            value=figure("traced.more_us"),
        ),
        Row(
            name="calls.tracing-with-sdk",
            title="Tracing with an SDK, per call",
            limit=80,
            unit="µs",
            is_scaled=True,
            value=figure("traced-sdk.more_us"),
        ),
    ),
)
