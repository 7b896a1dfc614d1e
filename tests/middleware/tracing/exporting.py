"""An OpenTelemetry SDK that keeps what it is given."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from onion.middleware import Tracing


class Telemetry:
    """Providers in memory, and what they were told."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meters = MeterProvider([self._reader], shutdown_on_exit=False)

    def layer(self, *, capture_content: bool = False) -> Tracing:
        """A Tracing that writes here; each look at its clock is a second later."""
        ticks = itertools.count()
        return Tracing(self.tracers, self.meters, capture_content=capture_content, clock=lambda: float(next(ticks)))

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that were ended, in that order."""
        return list(self._exporter.get_finished_spans())

    def span(self, name: str) -> ReadableSpan:
        """The one span of that name."""
        (found,) = (span for span in self.spans if span.name == name)
        return found

    def points(self, name: str) -> list[HistogramDataPoint]:
        """What was measured under *name*."""
        found: list[HistogramDataPoint] = []
        read = self._reader.get_metrics_data()
        for resource in read.resource_metrics if read else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if metric.name == name:
                        found += [point for point in metric.data.data_points if isinstance(point, HistogramDataPoint)]
        return found


def said(span: ReadableSpan) -> Mapping[str, object]:
    """The attributes of *span*."""
    return dict(span.attributes or {})


def is_error(span: ReadableSpan) -> bool:
    """Whether the span's status says that it failed."""
    return span.status.status_code is StatusCode.ERROR


def is_child(span: ReadableSpan, parent: ReadableSpan) -> bool:
    """Whether *span* hangs directly under *parent*."""
    return span.parent is not None and parent.context is not None and span.parent.span_id == parent.context.span_id
