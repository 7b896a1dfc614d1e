"""ToolLoopAgent: defaults in a bundle, changed per call, and nothing of its own."""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from onion import Output, ToolLoopAgent, tool
from onion.errors import InvalidArgumentError, OnionError, TypeValidationError
from onion.testing import ScriptedModel, text, tool_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion import ToolOptions
    from onion.agent import CallOverrides, CallPreparation
    from onion.spec.events import EndEvent, StartEvent


@tool
def echo(v: int) -> int:
    """Give it back."""
    return v


@dataclass
class Person:
    name: str


@dataclass
class Trip:
    city: str


async def test_an_agent_runs_the_loop_with_its_settings() -> None:
    model = ScriptedModel([tool_call("echo", {"v": 1}), text("one"), text("again")])
    agent = ToolLoopAgent(model=model, name="echoer", tools=[echo], instructions="Echo.", temperature=0.5)

    first = await agent.generate(prompt="p")
    second = await agent.stream(prompt="q").text

    assert (first.text, second) == ("one", "again")
    assert {params.temperature for params in model.params} == {0.5}
    assert model.params[0].prompt[0].role == "system"
    run = model.params[0].run
    assert run is not None
    assert run.agent == "echoer"
    assert repr(agent) == f"ToolLoopAgent(name='echoer', model={model!r})"


async def test_the_request_says_that_an_agent_asks_after_the_users_own_words() -> None:
    model = ScriptedModel([text("a"), text("b")])

    await ToolLoopAgent(model=model).generate(prompt="p")
    await ToolLoopAgent(model=model, headers={"User-Agent": "mine/1", "x": "y"}).generate(prompt="p")

    assert model.params[0].headers == {"user-agent": "onion-agent/tool-loop"}
    assert model.params[1].headers == {"User-Agent": "mine/1 onion-agent/tool-loop", "x": "y"}


async def test_an_agent_that_was_not_told_when_to_stop_stops_after_20_steps_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = ScriptedModel(itertools.repeat(tool_call("echo", {"v": 1})))

    with caplog.at_level(logging.WARNING, logger="onion"):
        result = await ToolLoopAgent(model=model, tools=[echo]).generate(prompt="p")

    assert (len(result.steps), result.finish_reason) == (20, "tool-calls")
    assert "20 steps" in caplog.text


async def test_callbacks_of_the_agent_and_of_the_call_are_both_told() -> None:
    told: list[str] = []

    def of_agent(_event: EndEvent) -> None:
        told.append("agent")

    def of_call(_event: EndEvent) -> None:
        told.append("call")

    agent = ToolLoopAgent(model=ScriptedModel([text("a"), text("b")]), on_end=of_agent)
    await agent.generate(prompt="p", on_end=of_call)
    await agent.generate(prompt="p")

    assert told == ["agent", "call", "agent"]


async def test_the_output_of_an_agent_is_typed() -> None:
    model = ScriptedModel([text('{"name": "Ada"}'), text('{"name": "Bob"}')])

    one = await ToolLoopAgent(model=model, output=Person).generate(prompt="p")
    two = await ToolLoopAgent(model=model, output=Output.object(Person)).stream(prompt="p").output

    assert (one.output, two) == (Person("Ada"), Person("Bob"))


async def test_prepare_call_changes_one_call() -> None:
    seen: list[CallPreparation] = []

    def prepare(preparation: CallPreparation) -> CallOverrides | None:
        seen.append(preparation)
        return {"prompt": "rewritten", "max_output_tokens": 9} if preparation.options else None

    model = ScriptedModel([text("a"), text("b")])
    agent = ToolLoopAgent(model=model, prepare_call=prepare, call_options_schema=Trip | None)

    await agent.generate(prompt="original", options=Trip("Rome"))
    await agent.stream(prompt="original").text

    assert [params.max_output_tokens for params in model.params] == [9, None]
    assert "rewritten" in str(model.params[0].prompt)
    assert (seen[0].options, seen[0].arguments.get("prompt")) == (Trip("Rome"), "original")


async def test_an_async_prepare_call_runs_at_the_first_read_of_a_stream() -> None:
    prepared: list[str] = []
    started: list[StartEvent] = []

    async def prepare(_preparation: CallPreparation) -> CallOverrides:
        prepared.append("now")
        return {"prompt": "rewritten"}

    model = ScriptedModel([text("a"), text("b")])
    agent = ToolLoopAgent(model=model, prepare_call=prepare, on_start=started.append)

    await agent.generate(prompt="original")
    stream = agent.stream(prompt="original")
    before = len(prepared)
    words = await stream.text

    assert (before, len(prepared), words, len(started)) == (1, 2, "b", 2)
    assert all("rewritten" in str(params.prompt) for params in model.params)


async def test_a_failing_prepare_call_fails_the_call() -> None:
    async def prepare(_preparation: CallPreparation) -> CallOverrides:
        raise OnionError("not prepared")

    agent = ToolLoopAgent(model=ScriptedModel([]), prepare_call=prepare)

    with pytest.raises(OnionError, match="not prepared"):
        await agent.generate(prompt="p")
    with pytest.raises(OnionError, match="not prepared"):
        await agent.stream(prompt="p").text


async def test_options_are_checked() -> None:
    agent = ToolLoopAgent(model=ScriptedModel([]), call_options_schema=Trip)

    with pytest.raises(TypeValidationError):
        await agent.generate(prompt="p", options={"city": 3})
    with pytest.raises(InvalidArgumentError, match="options"):
        await ToolLoopAgent(model=ScriptedModel([])).generate(prompt="p", options={"city": "Rome"})


async def test_the_context_of_a_call_reaches_its_tools() -> None:
    seen: list[str] = []

    @tool
    def look(options: ToolOptions[str]) -> str:
        """Look."""
        seen.append(options.context)
        return "seen"

    model = ScriptedModel([tool_call("look"), text("done")])
    agent = ToolLoopAgent[str, str](model=model, tools=[look])

    await agent.generate(prompt="p", context="mine")

    assert seen == ["mine"]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        pytest.param(
            {"instruction": "x"},
            TypeError,
            r"^ToolLoopAgent\(\) got an unexpected keyword argument 'instruction'$",
            id="a misspelled name",
        ),
        pytest.param(
            {"prompt": "x"},
            TypeError,
            r"^ToolLoopAgent\(\) got an unexpected keyword argument 'prompt'$",
            id="a prompt",
        ),
        pytest.param({"model": None}, TypeError, r"^ToolLoopAgent\(\) needs a model", id="no model"),
        pytest.param({"tools": 3}, InvalidArgumentError, "^tools must be a list", id="tools of another kind"),
        pytest.param({"temperature": "hot"}, InvalidArgumentError, "^temperature must be a number", id="no number"),
        pytest.param({"on_start": "x"}, InvalidArgumentError, "^on_start must be a function", id="no callback"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_when_the_agent_is_made(
    settings: dict[str, object], error: type[Exception], message: str
) -> None:
    def make(agent: Callable[..., object]) -> object:
        return agent(**{"model": ScriptedModel([]), **settings})

    with pytest.raises(error, match=message):
        make(ToolLoopAgent)
