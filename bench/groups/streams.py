"""Streams of text, per delta."""

from __future__ import annotations

from bench.groups.shared import CALIBRATION_JOB, ONION_STREAMS
from bench.jobs import Job
from bench.rows import CALIBRATION, Group, Row, difference, figure
from bench.workload import Params

DELTAS = 10_000


def streaming(*, layers: int = 0, variant: str = "", workload: str = "stream") -> Job:
    """A job of 10,000 deltas."""
    return Job(
        adapter=ONION_STREAMS,
        workload=workload,
        params=Params(deltas=DELTAS, layers=layers, variant=variant),
        budget=0.08,
    )


GROUP = Group(
    name="streams",
    rounds=11,
    jobs={
        CALIBRATION: CALIBRATION_JOB,
        "plain": streaming(),
        "layers-5": streaming(layers=5),
        "layers-20": streaming(layers=20),
        "traced": streaming(workload="tracing"),
        "traced-sdk": streaming(workload="tracing", variant="sdk"),
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
            value=difference("layers-5", "plain"),
        ),
        Row(
            name="streams.layers-20",
            title="20 part transforms, per delta",
            limit=4,
            unit="µs",
            is_scaled=True,
            value=difference("layers-20", "plain"),
        ),
        Row(
            name="streams.tracing-without-sdk",
            title="Tracing without an SDK, per delta",
            limit=0.3,
            unit="µs",
            is_scaled=True,
            value=difference("traced", "plain"),
        ),
        Row(
            name="streams.tracing-with-sdk",
            title="Tracing with an SDK, per delta",
            limit=0.3,
            unit="µs",
            is_scaled=True,
            value=difference("traced-sdk", "plain"),
        ),
    ),
)
