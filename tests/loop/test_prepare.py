"""What each step is sent: settings, overrides of prepare_step, and the layers around the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from onion import Middleware, Output, ToolOptions, generate_text, is_step_count, tool, wrap_language_model
from onion.errors import APICallError, InvalidArgumentError, RetryError
from onion.middleware import Retry
from onion.spec import JsonFormat, RequestInfo, ResponseInfo, ToolChoice
from onion.testing import ScriptedModel, answer, call, text, tool_call

if TYPE_CHECKING:
    from onion.loop import PrepareStep, RunOptions, StepOverrides, StepPreparation
    from onion.spec import CallOptions, LanguageModel, ToolCall
    from onion.wrap import Mode


@tool
def ping() -> str:
    """Answer."""
    return "pong"


@tool
def pong() -> str:
    """Answer back."""
    return "ping"


def steps(model: ScriptedModel, prepare: PrepareStep, **more: object) -> RunOptions:
    options: RunOptions = {
        "model": model,
        "prompt": "p",
        "tools": [ping, pong],
        "stop_when": is_step_count(5),
        "prepare_step": prepare,
    }
    return options | more  # type: ignore[return-value]  # names of arguments


async def test_settings_reach_the_model() -> None:
    model = ScriptedModel([tool_call("ping")])

    await generate_text(
        model=model,
        prompt="p",
        temperature=0.5,
        stop_sequences=["x"],
        headers={"a": "b"},
        seed=3,
        reasoning="low",
        tool_choice={"type": "tool", "tool_name": "ping"},
        tools=[ping],
        include={"raw_chunks": True},
        output=Output.json(),
        instructions="Be brief.",
    )

    params = model.params[0]
    assert (params.temperature, params.stop_sequences, params.seed, params.reasoning) == (0.5, ("x",), 3, "low")
    assert (params.headers, params.tool_choice) == ({"a": "b"}, ToolChoice(type="tool", tool_name="ping"))
    assert isinstance(params.response_format, JsonFormat)
    assert [message.role for message in params.prompt] == ["system", "user"]


async def test_overrides_hold_for_one_step_and_messages_carry_on() -> None:
    told: list[StepPreparation] = []
    other = ScriptedModel([tool_call("ping", id="2")], model_id="other")
    model = ScriptedModel([tool_call("ping", id="1"), text("done")])

    def prepare(preparation: StepPreparation) -> StepOverrides | None:
        told.append(preparation)
        if preparation.step_number != 1:
            return None
        return {
            "model": other,
            "messages": [*preparation.messages, {"role": "user", "content": "hurry"}],
            "instructions": "Hurry.",
            "temperature": 0.1,
            "active_tools": ["ping"],
            "tool_order": ["ping"],
            "tool_choice": ToolChoice(type="required"),
            "provider_options": {"acme": {"deep": {"b": 2}}},
        }

    result = await generate_text(
        **steps(model, prepare, temperature=0.9, provider_options={"acme": {"deep": {"a": 1}}}, context="mine")
    )

    first, last = model.params
    changed = other.params[0]
    assert (first.temperature, changed.temperature, last.temperature) == (0.9, 0.1, 0.9)
    assert [len(params.tools or ()) for params in (first, changed, last)] == [2, 1, 2]
    assert changed.provider_options == {"acme": {"deep": {"a": 1, "b": 2}}}
    assert last.provider_options == {"acme": {"deep": {"a": 1}}}
    assert [params.prompt[0].role for params in (first, changed, last)] == ["user", "system", "system"]
    assert [step.model.model_id for step in result.steps] == ["scripted-model", "other", "scripted-model"]
    assert len(told[2].messages) == 1 + 2 + 1 + 2
    assert (told[2].instructions, told[2].initial_instructions, told[2].context) == ("Hurry.", None, "mine")
    assert len(told[2].response_messages) == 4


async def test_prepare_step_may_be_async_and_change_nothing() -> None:
    async def prepare(_told: StepPreparation) -> StepOverrides:
        return {}

    result = await generate_text(**steps(ScriptedModel([text("a")]), prepare))

    assert result.text == "a"


@pytest.mark.parametrize("overrides", [{"temprature": 1}, {"max_output_tokens": 0}, {"tool_choice": "perhaps"}])
async def test_bad_overrides_are_refused(overrides: StepOverrides) -> None:
    model = ScriptedModel([text("never")])

    with pytest.raises(InvalidArgumentError):
        await generate_text(**steps(model, lambda _: overrides))

    assert not model.calls


class Noting(Middleware):
    """Notes which calls pass it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        self.calls.append(model.model_id)
        return params


class Silent(Middleware):
    """Only listens."""

    def on_start(self, event: object) -> None:
        """Hear it."""


async def test_the_layers_stand_around_every_model_that_a_run_uses() -> None:
    noting = Noting()
    other = ScriptedModel([text("done")], model_id="other")
    model = ScriptedModel([tool_call("ping")])

    await generate_text(
        **steps(model, lambda told: {"model": other} if told.step_number else None, middleware=[noting, Silent()])
    )

    assert noting.calls == ["scripted-model", "other"]


FAILING = APICallError("busy", status_code=503)


async def no_wait(_seconds: float) -> None:
    """Do not wait."""


async def test_retries_given_by_number_are_a_layer() -> None:
    model = ScriptedModel([APICallError("no", status_code=400)])

    with pytest.raises(APICallError):
        await generate_text(model=model, prompt="p", max_retries=1)

    assert len(model.calls) == 1


async def test_a_retry_layer_in_the_stack_is_the_only_one() -> None:
    model = ScriptedModel([FAILING, FAILING, text("never")])
    wrapped = wrap_language_model(model, Retry(1, sleep=no_wait))

    with pytest.raises(RetryError):
        await generate_text(model=wrapped, prompt="p")

    assert len(model.calls) == 2


async def test_no_retries_besides_a_retry_layer_is_no_contradiction() -> None:
    model = ScriptedModel([FAILING, text("ok")])

    result = await generate_text(model=model, prompt="p", max_retries=0, middleware=Retry(1, sleep=no_wait))

    assert result.text == "ok"


async def test_a_repair_function_is_a_layer_around_the_model() -> None:
    broken = call("pnig", id="1")

    def repair(given: object, *_more: object, **_named: object) -> ToolCall:
        del given
        return call("ping", id="1")

    model = ScriptedModel([answer(broken), text("done")])
    result = await generate_text(
        model=model, prompt="p", tools=[ping], stop_when=is_step_count(2), repair_tool_call=repair
    )

    assert [found.output for found in result.steps[0].tool_results] == ["pong"]


async def test_bodies_are_left_out_of_the_results_on_request() -> None:
    full = replace(text("a"), request=RequestInfo(body={"q": 1}), response=ResponseInfo(body={"a": 1}))
    kept = await generate_text(model=ScriptedModel([full]), prompt="p")
    left = await generate_text(
        model=ScriptedModel([full]), prompt="p", include={"request_body": False, "response_body": False}
    )

    assert (kept.request.body, kept.response.body) == ({"q": 1}, {"a": 1})
    assert (left.request.body, left.response.body) == (None, None)


@dataclass
class Person:
    name: str


async def test_a_tool_is_given_its_context_as_its_schema_reads_it() -> None:
    seen: list[object] = []

    def greet(_given: object, options: ToolOptions[object]) -> str:
        seen.append(options.context)
        return "hello"

    made = tool(name="greet", input_schema={"type": "object"}, execute=greet, context_schema=Person)
    given = {"greet": {"name": "Ada"}}

    await generate_text(model=ScriptedModel([tool_call("greet")]), prompt="p", tools=[made], tools_context=given)
    await generate_text(model=ScriptedModel([tool_call("greet")]), prompt="p", tools=[made], context={"name": "Eve"})

    assert seen == [Person(name="Ada"), Person(name="Eve")]
    assert given == {"greet": {"name": "Ada"}}
