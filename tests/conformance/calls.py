"""The two ways into the loop: the functions, and the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion import ToolLoopAgent, generate_text, stream_text
from tests.conformance.revive import revive, snake

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion import GenerateTextResult, Output, StreamTextResult
    from onion.agent import CallOverrides, CallPreparation
    from onion.loop import RunOptions
    from onion.loop.settings import LoopOptions
    from tests.conformance.data import CallData

MODEL_AND_PROMPT = frozenset({"model", "prompt", "messages"})
"""Arguments that an agent does not take as settings."""


class FunctionCall:
    """A call of `generate_text` or `stream_text`."""

    def __init__(self, options: RunOptions, output: Output[object]) -> None:
        self._options = options
        self._output = output

    async def generate(self) -> GenerateTextResult[object]:
        return await generate_text(output=self._output, **self._options)

    def stream(self) -> StreamTextResult[object]:
        return stream_text(output=self._output, **self._options)


class AgentCall:
    """A call of an agent that has all but the prompt as its settings."""

    def __init__(self, call: CallData, options: RunOptions, output: Output[object]) -> None:
        settings: LoopOptions = {name: value for name, value in options.items() if name not in MODEL_AND_PROMPT}  # type: ignore[assignment]  # what is left of RunOptions
        self._agent: ToolLoopAgent[object, object] = ToolLoopAgent(
            model=options["model"],
            output=output,
            prepare_call=_prepare_call(call) if "prepareCall" in call else None,
            **settings,
        )
        self._options = options

    async def generate(self) -> GenerateTextResult[object]:
        return await self._agent.generate(prompt=self._options.get("prompt"), messages=self._options.get("messages"))

    def stream(self) -> StreamTextResult[object]:
        return self._agent.stream(prompt=self._options.get("prompt"), messages=self._options.get("messages"))


def _prepare_call(call: CallData) -> Callable[[CallPreparation], CallOverrides]:
    overrides: CallOverrides = {snake(name): revive(value) for name, value in call["prepareCall"].items()}  # type: ignore[assignment]  # names and values are the scenario's
    return lambda _told: overrides
