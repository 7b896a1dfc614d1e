"""An OpenTelemetry SDK as a program would set it up, with exporters that throw away what they get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan


class Dropping(SpanExporter):
    """Takes spans and forgets them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Forget them."""
        return SpanExportResult.SUCCESS


def providers() -> tuple[TracerProvider, MeterProvider]:
    """What makes spans, in batches, and what makes metrics."""
    spans = TracerProvider()
    spans.add_span_processor(BatchSpanProcessor(Dropping()))
    return spans, MeterProvider([InMemoryMetricReader()])
