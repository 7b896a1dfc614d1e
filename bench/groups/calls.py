"""One call: a step of `generate_text`, layers, tracing."""

from __future__ import annotations

from bench.groups.shared import CALIBRATION_JOB, ONION_CALLS
from bench.jobs import Job
from bench.rows import CALIBRATION, Group, Row, difference, figure
from bench.workload import Params

LAYERS = 20

GROUP = Group(
    name="calls",
    rounds=15,
    jobs={
        CALIBRATION: CALIBRATION_JOB,
        "generate": Job(adapter=ONION_CALLS, workload="generate"),
        "call": Job(adapter=ONION_CALLS, workload="call"),
        "wrapped": Job(adapter=ONION_CALLS, workload="call", params=Params(layers=LAYERS)),
        "steps": Job(adapter=ONION_CALLS, workload="loop", params=Params(steps=50)),
        "silent": Job(adapter=ONION_CALLS, workload="loop", params=Params(steps=50, layers=LAYERS)),
        "traced": Job(adapter=ONION_CALLS, workload="tracing"),
        "traced-sdk": Job(adapter=ONION_CALLS, workload="tracing", params=Params(variant="sdk")),
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
            value=difference("silent", "steps", per=LAYERS),
        ),
        Row(
            name="calls.pass-through",
            title="a pass-through `wrap_generate`, per call",
            limit=1,
            unit="µs",
            is_scaled=True,
            value=difference("wrapped", "call", per=LAYERS),
        ),
        Row(
            name="calls.tracing-without-sdk",
            title="Tracing without an SDK, per call",
            limit=3,
            unit="µs",
            is_scaled=True,
            value=difference("traced", "generate"),
        ),
        Row(
            name="calls.tracing-with-sdk",
            title="Tracing with an SDK, per call",
            limit=80,
            unit="µs",
            is_scaled=True,
            value=difference("traced-sdk", "generate"),
        ),
    ),
)
