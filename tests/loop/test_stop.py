"""When a run stops: conditions are asked after the tools, all of them, and any of them ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion import generate_text, has_tool_call, is_loop_finished, is_step_count, stream_text, tool
from onion.errors import InvalidArgumentError
from onion.testing import ScriptedModel, answer, call, text, tool_call

if TYPE_CHECKING:
    from onion import StepResult
    from onion.loop import RunOptions, StopCondition


@tool
def t() -> str:
    """Answer."""
    return "T"


@tool
def final() -> str:
    """Answer for good."""
    return "F"


def options(model: ScriptedModel, *conditions: StopCondition) -> RunOptions:
    return {"model": model, "prompt": "p", "tools": [t, final], "stop_when": list(conditions)}


async def test_the_tools_of_the_last_step_have_run_in_both_modes() -> None:
    script = [tool_call("t", id="1"), tool_call("t", id="2"), text("never")]

    generated = await generate_text(**options(ScriptedModel(script), is_step_count(2)))
    streamed = stream_text(**options(ScriptedModel(script), is_step_count(2)))

    assert [found.tool_call_id for found in generated.tool_results] == ["1", "2"]
    assert await streamed.tool_results == generated.tool_results
    assert (generated.finish_reason, generated.response_messages[-1].role) == ("tool-calls", "tool")


async def test_a_named_tool_ends_the_run_together_with_its_siblings() -> None:
    model = ScriptedModel([answer(call("t", id="1"), call("final", id="2")), text("never")])

    result = await generate_text(**options(model, is_step_count(9), has_tool_call("final", "other")))

    assert [found.output for found in result.tool_results] == ["T", "F"]
    assert len(model.calls) == 1


async def test_without_a_condition_a_run_has_one_step() -> None:
    model = ScriptedModel([tool_call("t"), text("never")])

    result = await generate_text(model=model, prompt="p", tools=[t])

    assert len(result.steps) == 1


async def test_a_run_that_never_stops_early_ends_when_the_model_is_done() -> None:
    model = ScriptedModel([tool_call("t"), tool_call("t"), text("done")])

    result = await generate_text(model=model, prompt="p", tools=[t], stop_when=is_loop_finished())

    assert (result.text, len(result.steps)) == ("done", 3)


async def test_all_conditions_are_asked_plain_and_async() -> None:
    asked: list[str] = []

    def plain(steps: tuple[StepResult, ...]) -> bool:
        asked.append(f"plain {len(steps)}")
        return True

    async def later(steps: tuple[StepResult, ...]) -> bool:
        asked.append(f"async {len(steps)}")
        return False

    result = await generate_text(**options(ScriptedModel([tool_call("t")]), plain, later))

    assert asked == ["plain 1", "async 1"]
    assert len(result.steps) == 1


def test_a_count_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="count"):
        is_step_count(0)


@pytest.mark.parametrize("count", ["5", 2.0, True, None])
def test_a_count_that_is_no_whole_number_is_refused(count: object) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^count must be a whole number and at least 1, got {count!r}$"):
        is_step_count(count)  # type: ignore[arg-type]  # the fault
