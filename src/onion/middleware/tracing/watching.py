"""What one span and its metrics are told: by the parts of a call, by a tool, by the end of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import context as otel_context
from opentelemetry import metrics, trace
from opentelemetry.trace import Status, StatusCode

from onion.errors import InvalidStreamPartError
from onion.middleware._masking import mask_text
from onion.middleware.tracing import attributes as say
from onion.middleware.tracing import names
from onion.spec.parts import ErrorPart, FinishPart, RawPart, ResponseMetadata, StreamStart
from onion.spec.transform import Outcome, PartTransform, is_being_cancelled
from onion.streaming import Collector

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import Span

    from onion.spec.parts import StreamPart

SCOPE = "onion"
BEFORE_CONTENT = frozenset({StreamStart, ResponseMetadata, RawPart})
TOLD = frozenset({ResponseMetadata, FinishPart})
MAX_ERROR_LENGTH = 500
IS_COUNTED: str = otel_context.create_key("onion-usage-is-counted")
"""Set while a call is made inside of a chat span of ours: a Tracing further in adds no usage."""


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


def has_meters(provider: MeterProvider) -> bool:
    """Whether *provider* measures anything; without an SDK there is a stand-in whose class is private."""
    return not isinstance(provider, metrics.NoOpMeterProvider) and type(provider).__name__ != "_ProxyMeterProvider"


@contextmanager
def attached(context: Context) -> Generator[None]:
    """Make *context* the current one; never to be held across a yield of a generator."""
    token = otel_context.attach(context)
    try:
        yield
    finally:
        otel_context.detach(token)


def inside(span: Span, parent: Context, *, is_counted: bool) -> Context:
    """*parent* with *span* as the current one, and whether usage is already counted there."""
    return otel_context.set_value(IS_COUNTED, is_counted, trace.set_span_in_context(span, parent))


def outcome_of(error: BaseException) -> Outcome:
    """Whether *error* is a cancellation of the running task, or a failure."""
    return "cancelled" if isinstance(error, asyncio.CancelledError) and is_being_cancelled() else "error"


def end_span(span: Span, outcome: Outcome, error: BaseException | None) -> None:
    """End *span* with the outcome, and the error if it is one. Messages are masked and bounded."""
    span.set_attribute(names.OUTCOME, outcome)
    if outcome == "error":
        kind = "_OTHER" if error is None else type(error).__qualname__
        message = mask_text(str(error or "the provider reported a failure"), MAX_ERROR_LENGTH)
        span.set_attribute(names.ERROR_TYPE, kind)
        span.add_event("exception", {"exception.type": kind, "exception.message": message})
        span.set_status(Status(StatusCode.ERROR, message))
    span.end()


class ChatWatch(PartTransform):
    """Looks at the parts of one call, and ends its span with what it saw.

    Args:
        span: The call's span.
        instruments: Where to measure; None means nowhere.
        common: Attributes that the metrics share with the span.
        is_counted: Whether an outer span counts the usage already.
        captures_content: Whether the span shows the answer.
        clock: Seconds on a clock that only goes forward.
    """

    def __init__(
        self,
        span: Span,
        instruments: Instruments | None,
        common: say.Attributes,
        *,
        is_counted: bool,
        captures_content: bool,
        clock: Callable[[], float],
    ) -> None:
        self._span = span
        self._instruments = None if is_counted else instruments
        self._common = common
        self._is_counted = is_counted
        self._collector = Collector() if captures_content and span.is_recording() else None
        self._clock = clock
        self._started = clock()
        self._first: float | None = None
        self._finish: FinishPart | None = None

    def feed(self, part: StreamPart) -> StreamPart:
        """Look at *part* and note when the first content came."""
        kind = type(part)
        if self._first is None and kind not in BEFORE_CONTENT:
            self._first = self._clock() - self._started
        if kind in TOLD or self._collector is not None:
            self.note(part)
        return part

    def note(self, part: StreamPart) -> None:
        """Keep what the span tells of *part*."""
        if isinstance(part, ResponseMetadata):
            found = say.known({names.RESPONSE_ID: part.id, names.RESPONSE_MODEL: part.model_id})
            self._span.set_attributes(found)
            self._common |= say.known({names.RESPONSE_MODEL: part.model_id})
        elif isinstance(part, FinishPart):
            self._finish = part
        if self._collector is not None and not isinstance(part, ErrorPart):
            try:
                self._collector.feed(part)
            except InvalidStreamPartError:
                self._collector = None  # whoever reads the stream says so; content that makes no sense is not shown

    def fail(self, error: BaseException) -> None:
        """The call raised *error*."""
        self.close(outcome_of(error), error)

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        """End the span and measure."""
        if self._span.is_recording():
            self._tell_finish()
        if self._instruments is not None:
            self._measure(self._instruments, outcome, error)
        end_span(self._span, outcome, error)

    def _tell_finish(self) -> None:
        span, finish = self._span, self._finish
        if self._first is not None:
            span.set_attribute(names.RESPONSE_TIME_TO_FIRST_CHUNK, self._first)
        if finish is None:
            return
        span.set_attribute(names.RESPONSE_FINISH_REASONS, [finish.finish_reason.unified])
        if say.is_cache_hit(finish.provider_metadata):
            span.set_attribute(names.CACHE_HIT, value=True)
        elif not self._is_counted:
            span.set_attributes(say.usage_attributes(finish.usage))
        if self._collector is not None:
            content = self._collector.result().content
            span.set_attributes(say.answer_attributes(content, finish.finish_reason.unified))

    def _measure(self, instruments: Instruments, outcome: Outcome, error: BaseException | None) -> None:
        labels = dict(self._common)
        if outcome == "error":
            labels[names.ERROR_TYPE] = "_OTHER" if error is None else type(error).__qualname__
        instruments.duration.record(self._clock() - self._started, labels)
        if self._first is not None:
            instruments.first_chunk.record(self._first, self._common)
        finish = self._finish
        if finish is None or say.is_cache_hit(finish.provider_metadata):
            return
        used = (("input", finish.usage.input_tokens.total), ("output", finish.usage.output_tokens.total))
        for kind, tokens in used:
            if tokens is not None:
                instruments.tokens.record(tokens, {**self._common, names.TOKEN_TYPE: kind})
