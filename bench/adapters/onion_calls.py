"""Onion on models that answer whole: one step, layers, the tool loop, tracing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.adapters.steady import Calling, Steady
from bench.workload import Params, Setups, Workload, expect, repeated
from onion import CallOptions, Middleware, generate_text, is_step_count, tool, wrap_language_model
from onion.spec import UserMessage
from onion.spec.prompt import TextPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion import GenerateResult, LanguageModel
    from onion.spec.events import ErrorEvent
    from onion.wrap import DoGenerate, DoStream

QUESTION = CallOptions(prompt=(UserMessage(content=(TextPart(text="hi"),)),))


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Passing(Middleware):
    """Wraps the call and does nothing."""

    modes = ("generate",)

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Pass the call on."""
        return await do_generate()


class Silent(Middleware):
    """Has nothing to do with calls: it would hear of a failing run."""

    def on_error(self, event: ErrorEvent) -> None:
        """Hear of it."""


def generate(params: Params) -> Workload:
    """One step of `generate_text`, with layers in its list."""
    return _generate([Silent() for _ in range(params.layers)])


def _generate(middleware: Sequence[Middleware]) -> Workload:
    model = Steady()

    async def one() -> None:
        result = await generate_text(model=model, prompt="hi", middleware=middleware)
        expect(result.text == "hello", result.text)

    return repeated(one)


def call(params: Params) -> Workload:
    """The model itself, through so many layers."""
    model: LanguageModel = Steady()
    if params.layers:
        model = wrap_language_model(model, [Passing() for _ in range(params.layers)])
    return calling(model)


def calling(model: LanguageModel) -> Workload:
    """Ask a model the same again and again."""

    async def one() -> None:
        result = await model.do_generate(QUESTION)
        expect(result.content)

    return repeated(one)


def loop(params: Params) -> Workload:
    """A run of so many steps that call the tool; an operation is a step."""
    model = Calling(params.steps, params.calls)
    middleware = [Silent() for _ in range(params.layers)]
    until = is_step_count(params.steps + 2)

    async def one() -> None:
        result = await generate_text(model=model, prompt="go", tools=[add], stop_when=until, middleware=middleware)
        expect(result.text == "done" and len(result.steps) == params.steps + 1, result.text)

    return repeated(one, unit=params.steps)


def tracing(params: Params) -> Workload:
    """One step of `generate_text` with Tracing in its list; variant ``sdk``: spans and metrics are made."""
    from onion.middleware import Tracing

    if params.variant != "sdk":
        return _generate([Tracing()])
    from bench.adapters.telemetry import providers

    spans, metrics = providers()
    return _generate([Tracing(spans, metrics)])


SETUPS: Setups = {
    "generate": generate,
    "call": call,
    "loop": loop,
    "tracing": tracing,
}
