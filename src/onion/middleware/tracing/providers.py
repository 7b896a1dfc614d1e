"""Whom Tracing tells: the providers it was given, or the global ones as they are at each call."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from opentelemetry import metrics, trace
from opentelemetry.trace import Tracer

from onion.middleware.tracing import names
from onion.spec.base import value

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import TracerProvider

SCOPE = "onion"
LOOK_AGAIN_SECONDS = 0.1  # asking for global providers costs most of what a call costs while there are none
NO_TRACER: trace.Tracer = trace.NoOpTracer()


class Instruments:
    """The histograms of the conventions, made by one meter provider."""

    def __init__(self, provider: MeterProvider) -> None:
        meter = provider.get_meter(SCOPE)
        self.duration: Histogram = meter.create_histogram(
            names.OPERATION_DURATION,
            unit="s",
            description="How long a call of a model took.",
            explicit_bucket_boundaries_advisory=names.SECONDS_BUCKETS,
        )
        self.first_chunk: Histogram = meter.create_histogram(
            names.TIME_TO_FIRST_CHUNK,
            unit="s",
            description="How long the first content of a stream took to come.",
            explicit_bucket_boundaries_advisory=names.SECONDS_BUCKETS,
        )
        self.tokens: Histogram = meter.create_histogram(
            names.TOKEN_USAGE,
            unit="{token}",
            description="Tokens that a call of a model used.",
            explicit_bucket_boundaries_advisory=names.TOKEN_BUCKETS,
        )


@value
class Told:
    """Who is told of spans and of metrics: None where nobody would see them."""

    tracer: Tracer | None
    instruments: Instruments | None


NOBODY = Told(tracer=None, instruments=None)


class Providers:
    """The providers of one layer, and what they made for it.

    Args:
        tracers: Makes the spans; None means the global one.
        meters: Makes the metrics; None means the global one.
        clock: Seconds on a clock that only goes forward.
    """

    def __init__(
        self,
        tracers: TracerProvider | None,
        meters: MeterProvider | None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tracers = tracers
        self._meters = meters
        self._clock = clock
        self._seen: tuple[TracerProvider, MeterProvider, Told] | None = None
        self._nobody_until = -math.inf

    def look(self) -> Told:
        """Who is told now. Providers may be set up at any time; what they make is made once for each."""
        now = self._clock()
        if now < self._nobody_until:
            return NOBODY
        tracers = self._tracers or trace.get_tracer_provider()
        meters = self._meters or metrics.get_meter_provider()
        seen = self._seen
        if seen is None or seen[0] is not tracers or seen[1] is not meters:
            seen = self._seen = (tracers, meters, _told(tracers, meters))
        if seen[2] is NOBODY:
            self._nobody_until = now + LOOK_AGAIN_SECONDS
        return seen[2]


def _told(tracers: TracerProvider, meters: MeterProvider) -> Told:
    has_tracers = not isinstance(tracers, trace.ProxyTracerProvider | trace.NoOpTracerProvider)
    # Without an SDK there is a stand-in whose class is private.
    has_meters = not isinstance(meters, metrics.NoOpMeterProvider) and type(meters).__name__ != "_ProxyMeterProvider"
    if not has_tracers and not has_meters:
        return NOBODY
    return Told(
        tracer=tracers.get_tracer(SCOPE) if has_tracers else None,
        instruments=Instruments(meters) if has_meters else None,
    )
