"""A layer that has nothing to do is left out of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion import Middleware, generate_text, is_step_count, stream_text, tool
from onion.testing import ScriptedModel, text, tool_call

if TYPE_CHECKING:
    from onion.spec import CallOptions, GenerateResult, LanguageModel, StreamResult
    from onion.spec.events import StartEvent
    from onion.spec.tools import TypedToolCall
    from onion.wrap import DoGenerate, DoStream, Execute


class Shift(Middleware):
    """Notes what it is asked to do, at work or not."""

    def __init__(self, *, at_work: bool) -> None:
        self.at_work = at_work
        self.noted: list[str] = []

    def is_idle(self) -> bool:
        return not self.at_work

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        self.noted.append("generate")
        return await do_generate()

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        self.noted.append("stream")
        return await do_stream()

    async def wrap_tool(self, *, execute: Execute, tool_call: TypedToolCall, tool: object, options: object) -> object:
        self.noted.append("tool")
        return await execute()

    def on_start(self, event: StartEvent) -> None:
        self.noted.append("start")


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def run(layer: Shift, mode: str) -> str:
    model = ScriptedModel([tool_call("add", {"a": 1, "b": 2}), text("3")])
    if mode == "generate":
        stop = is_step_count(3)
        return (await generate_text(model=model, prompt="go", tools=[add], middleware=layer, stop_when=stop)).text
    return await stream_text(model=model, prompt="go", tools=[add], middleware=[layer], stop_when=is_step_count(3)).text


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_a_run_goes_without_a_layer_that_is_idle_when_it_starts(mode: str) -> None:
    layer = Shift(at_work=False)

    idle = await run(layer, mode)
    noted_while_idle = list(layer.noted)
    layer.at_work = True
    busy = await run(layer, mode)

    assert idle == busy == "3"
    assert noted_while_idle == []
    assert layer.noted == ["start", mode, "tool", mode]
