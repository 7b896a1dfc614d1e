"""generate_text and stream_text from the outside: what they give, and what they refuse before anything is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onion import Middleware, Output, StepResult, from_json, generate_text, is_step_count, stream_text, to_json, tool
from onion.errors import (
    InvalidArgumentError,
    InvalidPromptError,
    NoObjectGeneratedError,
    NoOutputGeneratedError,
    NoSuchModelError,
    OnionError,
    TypeValidationError,
)
from onion.loop.settings import KNOWN
from onion.middleware import Retry
from onion.spec import Custom, File, FileData, Reasoning, Text, ToolCall, URLSource
from onion.spec.step import StepPerformance
from onion.testing import ScriptedModel, answer, call, text, tool_call

if TYPE_CHECKING:
    from onion.loop import RunOptions
    from onion.spec import CallOptions, Content, GenerateResult, JsonValue, LanguageModel
    from onion.spec.events import StepEndEvent
    from onion.wrap import Mode


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


TOOLS = [add, fail]


def comparable(step: StepResult) -> JsonValue:
    """*step* as data, without what is made up for each answer."""
    response = replace(step.response, id=None, timestamp=None)
    return to_json(replace(step, response=response, performance=StepPerformance()))


async def test_the_loop_runs_tools_until_the_model_is_done() -> None:
    model = ScriptedModel([tool_call("add", {"a": 1, "b": 2}), text("three")])

    result = await generate_text(model=model, prompt="1 + 2?", tools=TOOLS, stop_when=is_step_count(5))

    assert (result.text, result.output, result.finish_reason) == ("three", "three", "stop")
    assert [found.output for found in result.tool_results] == [3]
    assert result.usage.total_tokens == 30
    assert [message.role for message in result.response_messages] == ["assistant", "tool", "assistant"]
    assert [message.role for message in model.params[1].prompt] == ["user", "assistant", "tool"]
    assert repr(result) == "GenerateTextResult('three', finish_reason='stop', steps=2)"


async def test_nothing_is_sent_before_the_first_read_of_a_stream() -> None:
    model = ScriptedModel([text("hello")])

    result = stream_text(model=model, prompt="hi")
    calls_before = len(model.calls)

    assert calls_before == 0
    assert await result.text == "hello"


async def test_an_error_of_a_run_carries_what_was_finished() -> None:
    model = ScriptedModel([tool_call("add", {"a": 1, "b": 2}), OnionError("broken")])

    with pytest.raises(OnionError, match="broken") as caught:
        await generate_text(model=model, prompt="p", tools=TOOLS, stop_when=is_step_count(5))

    assert len(caught.value.steps) == 1
    assert caught.value.usage == caught.value.steps[0].usage


CONTENT: list[st.SearchStrategy[Content]] = [
    st.text(max_size=5).map(lambda words: Text(text=words)),
    st.text(max_size=5).map(lambda words: Reasoning(text=words, provider_metadata={"acme": {"signature": words}})),
    st.just(URLSource(id="s", url="https://example.test/")),
    st.just(Custom(kind="acme.note")),
    st.binary(max_size=4).map(lambda data: File(media_type="text/plain", data=FileData(data=data))),
]


def _call(kind: str, number: int, a: int) -> Content:
    inputs: dict[str, JsonValue] = {"add": {"a": a, "b": 1}, "fail": {"reason": "so"}, "nobody": {}}
    if kind == "bad":
        return call("add", {"a": "x"}, id=f"bad-{number}")
    return call(kind, inputs[kind], id=f"{kind}-{number}")


def _answer(said: list[Content], calls: list[Content]) -> GenerateResult:
    return answer(*said, *{part.tool_call_id: part for part in calls if isinstance(part, ToolCall)}.values())


CALLS = st.builds(_call, st.sampled_from(["add", "fail", "bad", "nobody"]), st.integers(min_value=0), st.integers(0, 9))
ANSWERS = st.builds(_answer, st.lists(st.one_of(CONTENT), max_size=4), st.lists(CALLS, max_size=3))


@settings(max_examples=80)
@given(answers=st.lists(ANSWERS, min_size=1, max_size=4), denied=st.booleans())
async def test_equal_answers_give_equal_steps_in_both_modes(answers: list[GenerateResult], denied: bool) -> None:  # noqa: FBT001 - hypothesis names it
    options: RunOptions = {
        "model": ScriptedModel(answers),
        "prompt": "p",
        "tools": TOOLS,
        "stop_when": is_step_count(len(answers)),
        "refine_tool_input": {"fail": lambda _: {"reason": "refined"}},
        "tool_approval": {"fail": "denied"} if denied else None,
    }

    generated = await generate_text(**options)
    options["model"] = ScriptedModel(answers)
    streamed = stream_text(**options)

    if denied:
        assert [step.tool_results for step in await streamed.steps] == [step.tool_results for step in generated.steps]
    else:
        assert [comparable(step) for step in await streamed.steps] == [comparable(step) for step in generated.steps]
        assert await streamed.response_messages == generated.response_messages
    assert await streamed.usage == generated.usage


@dataclass
class Person:
    name: str


async def test_a_type_is_an_output() -> None:
    model = ScriptedModel([text('{"name": "Ada"}')])

    result = await generate_text(model=model, prompt="who?", output=Person)

    assert result.output == Person(name="Ada")


async def test_an_answer_without_the_output_raises_after_the_end_of_the_run() -> None:
    ended: list[object] = []
    model = ScriptedModel([text("no json")])

    with pytest.raises(NoObjectGeneratedError) as caught:
        await generate_text(model=model, prompt="who?", output=Person, on_end=ended.append)

    assert len(ended) == 1
    assert len(caught.value.steps) == 1


async def test_a_run_that_ends_on_tool_calls_has_no_output_to_read() -> None:
    model = ScriptedModel([tool_call("add", {"a": 1, "b": 2})])

    result = await generate_text(model=model, prompt="who?", output=Output.object(Person), tools=TOOLS)

    with pytest.raises(NoOutputGeneratedError):
        _ = result.output


def no_schema(*values: int) -> int:
    """Cannot be a schema: who would name the values?"""
    return sum(values)


BAD_INPUT: dict[str, tuple[dict[str, object], type[Exception], str]] = {
    "no prompt": ({"prompt": None}, InvalidPromptError, "prompt"),
    "prompt and messages": ({"messages": [{"role": "user", "content": "x"}]}, InvalidPromptError, "both"),
    "no messages": ({"prompt": None, "messages": []}, InvalidPromptError, "messages"),
    "unknown role": ({"prompt": None, "messages": [{"role": "critic", "content": "x"}]}, InvalidPromptError, "critic"),
    "two tools of one name": ({"tools": [add, add]}, InvalidArgumentError, "add"),
    "no tool": ({"tools": [no_schema]}, InvalidArgumentError, "tool"),
    "unknown model string": ({"model": "nobody:model"}, NoSuchModelError, "nobody"),
    "no provider in the model string": ({"model": "gpt"}, NoSuchModelError, "gpt"),
    "no model": ({"model": None}, TypeError, "model"),
    "unknown argument": ({"temprature": 1}, TypeError, "temprature"),
    "not a number": ({"temperature": "hot"}, InvalidArgumentError, "temperature"),
    "not a whole number": ({"seed": 1.5}, InvalidArgumentError, "seed"),
    "a truth value": ({"seed": True}, InvalidArgumentError, "seed"),
    "not finite": ({"top_p": float("nan")}, InvalidArgumentError, "top_p"),
    "too small": ({"max_output_tokens": 0}, InvalidArgumentError, "max_output_tokens"),
    "negative retries": ({"max_retries": -1}, InvalidArgumentError, "max_retries"),
    "retries twice": ({"max_retries": 1, "middleware": Retry()}, InvalidArgumentError, "max_retries"),
    "no layer": ({"middleware": ["log"]}, InvalidArgumentError, "middleware"),
    "unknown tool choice": ({"tool_choice": "maybe"}, InvalidArgumentError, "tool_choice"),
    "half a tool choice": ({"tool_choice": {"type": "tool"}}, InvalidArgumentError, "tool_choice"),
    "a text for a list of texts": ({"stop_sequences": "END"}, InvalidArgumentError, r"stop_sequences.*\['END'\]"),
    "a name for a list of names": ({"active_tools": "add"}, InvalidArgumentError, "active_tools"),
    "a callback that cannot be called": ({"on_end": "print"}, InvalidArgumentError, "on_end"),
    "a text for a time": ({"timeout": "1"}, InvalidArgumentError, "timeout"),
    "no time at all": ({"timeout": 0}, InvalidArgumentError, "timeout"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_bad_input_is_refused_before_anything_is_sent(case: str, mode: str) -> None:
    changes, error, mentioned = BAD_INPUT[case]
    model = ScriptedModel([text("never")])
    options: RunOptions = {"model": model, "prompt": "p"} | changes  # type: ignore[assignment]  # wrong on purpose

    async def run() -> None:
        if mode == "generate":
            await generate_text(**options)
        else:
            stream_text(**options)

    with pytest.raises(error, match=mentioned):
        await run()

    assert not model.calls


def test_a_signature_that_cannot_be_a_schema_is_refused_by_the_decorator() -> None:
    with pytest.raises(InvalidArgumentError, match="values"):
        tool(no_schema)


def greeting(_value: object) -> str:
    return "hi"


async def test_a_context_that_does_not_fit_a_tool_is_refused_before_anything_is_sent() -> None:
    model = ScriptedModel([text("never")])
    greet = tool(name="greet", input_schema={"type": "object"}, execute=greeting, context_schema=Person)

    with pytest.raises(TypeValidationError, match="greet"):
        await generate_text(model=model, prompt="p", tools=[greet], tools_context={"greet": 3})

    assert not model.calls


async def test_200_runs_at_once_with_shared_parts_give_what_each_gives_alone() -> None:
    seen: list[str] = []

    class Seeds(Middleware):
        async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
            await asyncio.sleep(0)
            return params.replace(seed=len(params.prompt))

    watching = Seeds()

    async def reply(number: int) -> list[JsonValue]:
        model = ScriptedModel([tool_call("add", {"a": number, "b": 1}), text(f"it is {number + 1}")])
        options: RunOptions = {
            "model": model,
            "prompt": str(number),
            "tools": TOOLS,
            "stop_when": is_step_count(3),
            "middleware": [watching],
            "on_step_end": note,
        }
        steps = (await generate_text(**options)).steps if number % 2 else await stream_text(**options).steps
        return [comparable(step) for step in steps]

    async def note(event: StepEndEvent) -> None:
        await asyncio.sleep(0)
        seen.append(event.step.text)

    together = await asyncio.gather(*(reply(number) for number in range(200)))
    alone = [await reply(number) for number in range(200)]

    assert together == alone
    assert len(seen) == 800


def test_every_argument_is_known_by_one_name() -> None:
    assert {"model", "prompt", "messages", "tools", "on_start", "temperature", "include"} <= KNOWN


async def test_the_steps_of_a_run_come_back_from_json_as_they_were() -> None:
    model = ScriptedModel([tool_call("add", {"a": 1, "b": 2}), text("done")])

    result = await generate_text(model=model, prompt="p", tools=TOOLS, stop_when=is_step_count(2))

    assert [from_json(StepResult, to_json(step)) for step in result.steps] == list(result.steps)
