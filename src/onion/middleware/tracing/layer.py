"""Tracing: OpenTelemetry spans and metrics for runs, model calls and tools.

Goes outermost: a span covers the whole call, its retries included. On a model it makes the ``chat`` spans; in the
loop's ``middleware=`` also ``invoke_agent`` for the run and ``execute_tool`` for each tool. A stream's parts are only
looked at; its span ends when the stream ends, however it ends. The span of a call or tool is the current one only
while it is being opened or executed, never between two parts of a stream.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind

from onion.errors import InvalidArgumentError
from onion.middleware.tracing import attributes as say
from onion.middleware.tracing import names
from onion.middleware.tracing.providers import NO_TRACER, NOBODY, Providers
from onion.middleware.tracing.watching import IS_COUNTED, ChatWatch, attached, end_span, inside, outcome_of
from onion.spec.base import value
from onion.wrap import Middleware

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from onion.middleware.tracing.providers import Told
    from onion.spec.call import CallOptions, RunInfo
    from onion.spec.events import AbortEvent, EndEvent, ErrorEvent, StartEvent
    from onion.spec.model import LanguageModel
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.spec.tools import TypedToolCall
    from onion.spec.transform import Outcome
    from onion.wrap import DoGenerate, DoStream, Execute


@runtime_checkable
class InRun(Protocol):
    """What tells which run it belongs to, such as the options of a tool."""

    run: RunInfo | None


@value
class _RunSpan:
    span: Span
    context: Context


def _check_provider(name: str, provider: object, method: str) -> None:
    if provider is None or (callable(getattr(provider, method, None)) and not isinstance(provider, type)):
        return
    got = f"the class {provider.__name__}" if isinstance(provider, type) else type(provider).__name__
    msg = f"{name} must be an OpenTelemetry provider, an object with the method {method}, got {got}"
    raise InvalidArgumentError(msg, parameter=name, value=got)


class Tracing(Middleware):
    """Makes spans and metrics as the GenAI semantic conventions of OpenTelemetry name them.

    Each span ends once and says in ``onion.outcome`` how: ``finished``, ``error`` (with status and exception),
    ``closed`` early by its reader, or ``cancelled``. Only chat spans carry ``gen_ai.usage.*``, and of several Tracing
    layers around one call only the outermost; an answer from a cache counts nothing. Without an OpenTelemetry SDK the
    layer does nothing.

    Args:
        tracer_provider: Makes the spans; without it the global one, which may be set up later.
        meter_provider: Makes the metrics; without it the global one.
        capture_content: Whether spans show prompts, answers, and inputs and outputs of tools, masked and bounded. Also
            on if ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` says so.
        clock: Seconds on a clock that only goes forward, for the metrics.

    Raises:
        InvalidArgumentError: For what is no provider.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        *,
        capture_content: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        _check_provider("tracer_provider", tracer_provider, "get_tracer")
        _check_provider("meter_provider", meter_provider, "get_meter")
        asked = os.environ.get(names.CAPTURE_CONTENT_VARIABLE, "").lower()
        self.capture_content: bool = capture_content or asked in ("true", "1", "span_only", "span_and_event")
        self._providers = Providers(tracer_provider, meter_provider)
        self._clock = clock

    def __repr__(self) -> str:
        return "Tracing(capture_content=True)" if self.capture_content else "Tracing()"

    def is_idle(self) -> bool:
        """Nobody would see what is made: no SDK is set up."""
        return self._providers.look() is NOBODY

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole, inside of a span."""
        told = self._providers.look()
        if told is NOBODY:
            return await do_generate()
        watch, context = self._open_chat(told, params, model, is_stream=False)
        try:
            with attached(context):
                result = await do_generate()
        except BaseException as error:
            watch.fail(error)
            raise
        watch.answered(result)
        return result

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Open the stream inside of a span, which ends with it."""
        told = self._providers.look()
        if told is NOBODY:
            return await do_stream()
        watch, context = self._open_chat(told, params, model, is_stream=True)
        try:
            with attached(context):
                stream = await do_stream()
        except BaseException as error:
            watch.fail(error)
            raise
        return stream.pipe(lambda: watch)

    async def wrap_tool(self, *, execute: Execute, tool_call: TypedToolCall, tool: object, options: object) -> object:
        """Run the tool inside of a span, a child of the run's."""
        tracer = self._providers.look().tracer
        if tracer is None:
            return await execute()
        parent = self._context_of(options.run if isinstance(options, InRun) else None)
        span = tracer.start_span(
            f"{names.EXECUTE_TOOL} {tool_call.tool_name}",
            context=parent,
            attributes={
                names.OPERATION_NAME: names.EXECUTE_TOOL,
                names.TOOL_NAME: tool_call.tool_name,
                names.TOOL_TYPE: "function",
                names.TOOL_CALL_ID: tool_call.tool_call_id,
            },
        )
        is_shown = self.capture_content and span.is_recording()
        if is_shown:
            span.set_attribute(names.TOOL_CALL_ARGUMENTS, say.value_text(tool_call.input))
        try:
            with attached(inside(span, parent, is_counted=False)):
                output = await execute()
        except BaseException as error:
            end_span(span, outcome_of(error), error)
            raise
        if is_shown:
            span.set_attribute(names.TOOL_CALL_RESULT, say.value_text(output))
        end_span(span, "finished", None)
        return output

    def on_start(self, event: StartEvent) -> None:
        """Open the run's span; it is never the current one, its children find it by the run."""
        tracer = self._providers.look().tracer
        if tracer is None:
            return
        parent = otel_context.get_current()
        agent = event.run.agent
        found = say.common_attributes(names.INVOKE_AGENT, event.model.provider, event.model.model_id)
        found[names.RUN_ID] = event.run.run_id
        say.put(found, names.AGENT_NAME, agent)
        span = tracer.start_span(
            f"{names.INVOKE_AGENT} {agent}" if agent else names.INVOKE_AGENT,
            context=parent,
            kind=SpanKind.INTERNAL,
            attributes=found,
        )
        context = inside(span, parent, is_counted=False)
        event.run.state[self, event.run.run_id] = _RunSpan(span=span, context=context)

    def on_end(self, event: EndEvent) -> None:
        """End the run's span with what the run used."""
        found: say.Attributes = {names.STEPS: len(event.steps), names.RESPONSE_FINISH_REASONS: [event.finish_reason]}
        say.put(found, names.TOTAL_INPUT_TOKENS, event.total_usage.input_tokens)
        say.put(found, names.TOTAL_OUTPUT_TOKENS, event.total_usage.output_tokens)
        self._end_run(event.run, "finished", None, found)

    def on_error(self, event: ErrorEvent) -> None:
        """End the run's span with the error."""
        self._end_run(event.run, "error", event.error, {names.STEPS: len(event.steps)})

    def on_abort(self, event: AbortEvent) -> None:
        """End the run's span, which was given up and did not fail."""
        self._end_run(event.run, "cancelled", None, {names.STEPS: len(event.steps)})

    def _end_run(self, run: RunInfo, outcome: Outcome, error: BaseException | None, said: say.Attributes) -> None:
        found = run.state.pop((self, run.run_id), None)
        if isinstance(found, _RunSpan):
            end_span(found.span, outcome, error, said)

    def _context_of(self, run: RunInfo | None) -> Context:
        """Where the children of *run* belong: under its span, else where they are."""
        found = None if run is None else run.state.get((self, run.run_id))
        return found.context if isinstance(found, _RunSpan) else otel_context.get_current()

    def _open_chat(
        self, told: Told, params: CallOptions, model: LanguageModel, *, is_stream: bool
    ) -> tuple[ChatWatch, Context]:
        is_counted = otel_context.get_value(IS_COUNTED) is True
        parent = otel_context.get_current() if is_counted else self._context_of(params.run)
        common = say.common_attributes(names.CHAT, model.provider, model.model_id)
        span = (told.tracer or NO_TRACER).start_span(
            f"{names.CHAT} {common[names.REQUEST_MODEL]}",
            context=parent,
            kind=SpanKind.CLIENT,
            attributes=common | say.request_attributes(params, is_stream=is_stream),
        )
        if self.capture_content and span.is_recording():
            span.set_attributes(say.prompt_attributes(params))
        watch = ChatWatch(
            span,
            told.instruments,
            common,
            is_counted=is_counted,
            captures_content=self.capture_content,
            clock=self._clock,
        )
        return watch, inside(span, parent, is_counted=True)
