"""Streams of text, per delta."""

from __future__ import annotations

from bench.groups.shared import CALIBRATION_JOB, ONION_STREAMS, adding
from bench.jobs import Job
from bench.rows import CALIBRATION, Group, Row, figure
from bench.workload import Params

DELTAS = 10_000


GROUP = Group(
    name="streams",
    rounds=11,
    jobs={
        CALIBRATION: CALIBRATION_JOB,
        "plain": Job(adapter=ONION_STREAMS, workload="stream", params=Params(deltas=DELTAS), budget=0.04),
        "layers-5": adding("stream", layers=5),
        "layers-20": adding("stream", layers=20),
        "traced": adding("traced-stream"),
        "traced-sdk": adding("traced-stream", variant="sdk"),
    },
    rows=(
        Row(
            name="streams.delta",
            title="a delta from the model to the consumer of `text_stream`",
            limit=3,
            unit="µs",
            is_scaled=True,
            value=figure("plain"),
        ),
        Row(
            name="streams.layers-5",
            title="5 part transforms, per delta",
            limit=1,
            unit="µs",
            is_scaled=True,
            value=figure("layers-5.more_us"),
        ),
        Row(
            name="streams.layers-20",
            title="20 part transforms, per delta",
            limit=4,
            unit="µs",
            is_scaled=True,
            value=figure("layers-20.more_us"),
        ),
        Row(
            name="streams.tracing-without-sdk",
            title="Tracing without an SDK, per delta",
            limit=0.3,
            unit="µs",
            is_scaled=True,
            value=figure("traced.more_us"),
        ),
        Row(
            name="streams.tracing-with-sdk",
            title="Tracing with an SDK, per delta",
            limit=0.3,
            unit="µs",
            is_scaled=True,
            value=figure("traced-sdk.more_us"),
        ),
    ),
)
