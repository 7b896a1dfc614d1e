"""Onion on models that stream: text, part transforms, partial objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.adapters.steady import Steady
from bench.objects import deltas_of_object, object_text
from bench.workload import Params, Setups, Workload, expect, streamed
from onion import CallOptions, LanguageModel, Middleware, Output, stream_text, wrap_language_model
from onion.spec.base import is_array, is_object
from onion.spec.transform import PartTransform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bench.workload import Extra
    from onion import StreamResult
    from onion.spec.parts import StreamPart
    from onion.wrap import DoGenerate, DoStream

DELTA = "tok "
SCHEMA = {"type": "object"}


class Watching(PartTransform):
    """Looks at every part and passes it on."""

    def __init__(self) -> None:
        self.count = 0

    def feed(self, part: StreamPart) -> StreamPart:
        """Count it."""
        self.count += 1
        return part


class Transforming(Middleware):
    """Puts a part transform around each stream."""

    modes = ("stream",)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Pipe the stream through the transform."""
        return (await do_stream()).pipe(Watching)


def text_stream(params: Params, middleware: list[Middleware]) -> Workload:
    """Read ``text_stream`` of `stream_text`."""
    model: LanguageModel = Steady([DELTA] * params.deltas)
    if middleware:
        model = wrap_language_model(model, middleware)

    def read() -> AsyncIterator[str]:
        return stream_text(model=model, prompt="hi").text_stream

    return streamed(read, params)


def stream(params: Params) -> Workload:
    """Deltas through so many part transforms."""
    return text_stream(params, [Transforming() for _ in range(params.layers)])


def tracing(params: Params) -> Workload:
    """Deltas through Tracing; variant ``sdk``: spans and metrics are made."""
    from onion.middleware import Tracing

    if params.variant != "sdk":
        return text_stream(params, [Tracing()])
    from bench.adapters.telemetry import providers

    return text_stream(params, [Tracing(*providers())])


def partial_object(params: Params) -> Workload:
    """Read every partial value of a streamed object; an operation is a whole object."""
    model = Steady(deltas_of_object(params.size))
    items = object_text(params.size).count('"id":')
    output = Output.object(SCHEMA)

    async def run(operations: int) -> Extra:
        count = 0
        for _ in range(operations):
            count, last = 0, None
            async for last in stream_text(model=model, prompt="hi", output=output).partial_output_stream:  # noqa: B007 -- the last one is looked at
                count += 1
            found = last["items"] if is_object(last) else None
            expect(is_array(found) and len(found) == items, last)
        return {"partials": count}

    return Workload(run)


SETUPS: Setups = {"stream": stream, "tracing": tracing, "object": partial_object}
