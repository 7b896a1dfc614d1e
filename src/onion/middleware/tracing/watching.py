"""What one span and its metrics are told: by the parts of a call, by a tool, by the end of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from onion.errors import InvalidStreamPartError
from onion.middleware._masking import mask_text
from onion.middleware.tracing import attributes as say
from onion.middleware.tracing import names
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    RawPart,
    ReasoningDelta,
    ResponseMetadata,
    StreamStart,
    TextDelta,
    ToolInputDelta,
)
from onion.spec.transform import Outcome, PartTransform, is_being_cancelled
from onion.streaming import Collector

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from onion.middleware.tracing.providers import Instruments
    from onion.spec.content import Content
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult, ResponseInfo
    from onion.spec.usage import Usage

BEFORE_CONTENT = frozenset({StreamStart, ResponseMetadata, RawPart})
TOLD = frozenset({ResponseMetadata, FinishPart})
DELTAS: frozenset[type] = frozenset({TextDelta, ReasoningDelta, ToolInputDelta})  # their start came before them
MAX_ERROR_LENGTH = 500
IS_COUNTED: str = otel_context.create_key("onion-usage-is-counted")
"""Set while a call is made inside of a chat span of ours: a Tracing further in adds no usage."""


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


def end_span(span: Span, outcome: Outcome, error: BaseException | None, said: say.Attributes | None = None) -> None:
    """End *span* with what is *said*, the outcome, and the error if it is one. Messages are masked and bounded."""
    found: say.Attributes = {**said, names.OUTCOME: outcome} if said else {names.OUTCOME: outcome}
    if outcome == "error":
        kind = "_OTHER" if error is None else type(error).__qualname__
        message = mask_text(str(error or "the provider reported a failure"), MAX_ERROR_LENGTH)
        found[names.ERROR_TYPE] = kind
        span.add_event("exception", {"exception.type": kind, "exception.message": message})
        span.set_status(Status(StatusCode.ERROR, message))
    span.set_attributes(found)
    span.end()


class ChatWatch(PartTransform):
    """Looks at the parts of one call, or at the whole answer, and ends its span with what it saw.

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
        self.ignores: frozenset[type] = DELTAS if self._collector is None else frozenset()
        self._clock = clock
        self._started = clock()
        self._first: float | None = None
        self._said: ResponseMetadata | ResponseInfo | None = None
        self._finish: FinishPart | GenerateResult | None = None
        self._content: Sequence[Content] | None = None

    def feed(self, part: StreamPart) -> StreamPart:
        """Look at *part* and note when the first content came."""
        kind = type(part)
        if self._first is None and kind not in BEFORE_CONTENT:
            self._first = self._clock() - self._started
        if kind in TOLD or self._collector is not None:
            self._note(part)
        return part

    def _note(self, part: StreamPart) -> None:
        if isinstance(part, ResponseMetadata):
            self._said = part
        elif isinstance(part, FinishPart):
            self._finish = part
        if self._collector is not None and not isinstance(part, ErrorPart):
            try:
                self._collector.feed(part)
            except InvalidStreamPartError:
                self._collector = None  # whoever reads the stream says so; content that makes no sense is not shown

    def answered(self, result: GenerateResult) -> None:
        """The call gave a whole answer."""
        self._said = result.response
        self._finish = result
        if self._collector is not None:
            self._content, self._collector = result.content, None
        self.close("finished", None)

    def fail(self, error: BaseException) -> None:
        """The call raised *error*."""
        self.close(outcome_of(error), error)

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        """End the span and measure."""
        finish = self._finish
        is_hit = finish is not None and say.is_cache_hit(finish.provider_metadata)
        if self._instruments is not None:
            self._measure(self._instruments, outcome, error, None if is_hit or finish is None else finish.usage)
        said = self._found(finish, is_hit=is_hit) if self._span.is_recording() else None
        end_span(self._span, outcome, error, said)

    def _found(self, finish: FinishPart | GenerateResult | None, *, is_hit: bool) -> say.Attributes:
        found: say.Attributes = {}
        if self._said is not None:
            say.put(found, names.RESPONSE_ID, self._said.id)
            say.put(found, names.RESPONSE_MODEL, self._said.model_id)
        say.put(found, names.RESPONSE_TIME_TO_FIRST_CHUNK, self._first)
        if finish is None:
            return found
        reason = finish.finish_reason.unified
        found[names.RESPONSE_FINISH_REASONS] = [reason]
        if is_hit:
            found[names.CACHE_HIT] = True
        elif not self._is_counted:
            say.put_usage(found, finish.usage)
        content = self._content if self._collector is None else self._collector.result().content
        if content is not None:
            found.update(say.answer_attributes(content, reason))
        return found

    def _measure(
        self, instruments: Instruments, outcome: Outcome, error: BaseException | None, used: Usage | None
    ) -> None:
        labels = self._common
        if self._said is not None:
            say.put(labels, names.RESPONSE_MODEL, self._said.model_id)
        seconds = self._clock() - self._started
        if outcome == "error":
            kind = "_OTHER" if error is None else type(error).__qualname__
            instruments.duration.record(seconds, {**labels, names.ERROR_TYPE: kind})
        else:
            instruments.duration.record(seconds, labels)
        if self._first is not None:
            instruments.first_chunk.record(self._first, labels)
        if used is None:
            return
        for kind, tokens in (("input", used.input_tokens.total), ("output", used.output_tokens.total)):
            if tokens is not None:
                instruments.tokens.record(tokens, {**labels, names.TOKEN_TYPE: kind})
