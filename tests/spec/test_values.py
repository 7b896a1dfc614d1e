"""The values themselves: frozen, compared by what they say, summed and read."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.spec import (
    CallOptions,
    DocumentSource,
    FinishReason,
    FunctionTool,
    GenerateResult,
    InputTokens,
    OutputTokens,
    Reasoning,
    RunInfo,
    Text,
    TextDelta,
    ToolCall,
    URLSource,
    Usage,
    events,
)
from onion.spec.step import (
    InputTokenDetails,
    LanguageModelUsage,
    ModelInfo,
    OutputTokenDetails,
    StepPerformance,
    StepResult,
)
from onion.spec.tools import FileOutput, GeneratedFile, ReasoningFileOutput, TypedToolCall, TypedToolResult
from onion.testing.strategies import values

FILE = GeneratedFile(media_type="image/png", base64="AQI=")
MODEL = ModelInfo(provider="acme", model_id="m")


def test_values_are_frozen_and_parts_are_cheap() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Text(text="a").text = "b"  # type: ignore[misc]  # the fault

    assert not hasattr(Text(text="a"), "__dict__")
    assert not hasattr(TextDelta(id="1", delta="a"), "__dict__")


def test_params_are_compared_without_the_run_and_copied_with_it() -> None:
    run = RunInfo(run_id="r", context={"user": 1})
    params = CallOptions(prompt=(), run=run)

    hot = params.replace(temperature=1.0)

    assert params == CallOptions(prompt=())
    assert (hot.temperature, hot.run) == (1.0, run)
    assert params.temperature is None
    assert "run_id" not in repr(params)


def test_the_repr_of_a_call_shows_no_credentials() -> None:
    params = CallOptions(prompt=(), headers={"Authorization": "Bearer abc", "x-trace": "7"})

    assert "headers={'Authorization': '***', 'x-trace': '7'}" in repr(params)
    assert "abc" not in repr(params)
    assert "headers=None" in repr(params.replace(headers=None))


def test_in_process_fields_do_not_count() -> None:
    assert FunctionTool(name="a", input_schema={}, validate=print) == FunctionTool(name="a", input_schema={})
    assert ToolCall(tool_call_id="c", tool_name="t", input="", error=ValueError()) == ToolCall(
        tool_call_id="c", tool_name="t", input=""
    )


def test_each_run_has_room_of_its_own() -> None:
    one, other = RunInfo(run_id="1"), RunInfo(run_id="2")

    one.state["layer"] = 1

    assert other.state == {}


def test_the_text_of_an_answer_is_its_text_parts_joined() -> None:
    result = GenerateResult(
        content=(Text(text="a"), Reasoning(text="hm"), Text(text="b")),
        finish_reason=FinishReason(unified="stop"),
        usage=Usage(),
    )

    assert result.text == "ab"


def test_the_usage_of_a_call_becomes_that_of_a_step() -> None:
    usage = Usage(
        input_tokens=InputTokens(total=10, no_cache=7, cache_read=2, cache_write=1),
        output_tokens=OutputTokens(total=5, text=3, reasoning=2),
        raw={"a": 1},
    )

    assert LanguageModelUsage.of(usage) == LanguageModelUsage(
        input_tokens=10,
        input_token_details=InputTokenDetails(no_cache_tokens=7, cache_read_tokens=2, cache_write_tokens=1),
        output_tokens=5,
        output_token_details=OutputTokenDetails(text_tokens=3, reasoning_tokens=2),
        total_tokens=15,
        raw={"a": 1},
    )
    assert LanguageModelUsage.of(Usage(input_tokens=InputTokens(total=10))).total_tokens == 10
    assert LanguageModelUsage.of(Usage()) == LanguageModelUsage()


@given(st.lists(values(LanguageModelUsage), min_size=1, max_size=4))
def test_usage_adds_up_in_any_order_and_unknown_is_not_zero(usages: list[LanguageModelUsage]) -> None:
    total = sum(usages[1:], start=usages[0] + LanguageModelUsage())
    known = [usage.input_tokens for usage in usages if usage.input_tokens is not None]

    assert total == sum(reversed(usages), start=LanguageModelUsage())
    assert total.input_tokens == (sum(known) if known else None)
    assert total.raw is None


def test_a_step_reads_its_content() -> None:
    call = TypedToolCall(tool_call_id="c", tool_name="t", input={})
    outcome = TypedToolResult(tool_call_id="c", tool_name="t", input={}, output=1)
    url = URLSource(id="1", url="https://example.com")
    document = DocumentSource(id="2", media_type="text/plain", title="d")
    thought = ReasoningFileOutput(file=FILE)
    step = StepResult(
        step_number=0,
        model=MODEL,
        content=(
            Reasoning(text="h"),
            thought,
            Reasoning(text="m"),
            Text(text="a"),
            FileOutput(file=FILE),
            url,
            document,
            call,
            outcome,
            Text(text="b"),
        ),
        finish_reason="stop",
    )

    assert (step.text, step.reasoning_text) == ("ab", "hm")
    assert step.reasoning == (Reasoning(text="h"), thought, Reasoning(text="m"))
    assert step.files == (FILE,)
    assert step.sources == (url, document)
    assert (step.tool_calls, step.tool_results) == ((call,), (outcome,))


def test_a_step_without_reasoning_has_none_and_timings_do_not_count() -> None:
    step = StepResult(step_number=0, model=MODEL, content=(), finish_reason="stop")
    slow = dataclasses.replace(step, performance=StepPerformance(step_time_ms=9.0))

    assert (step.text, step.reasoning_text, step.reasoning) == ("", None, ())
    assert slow == step


def test_the_data_of_a_file_is_decoded() -> None:
    assert FILE.data == b"\x01\x02"


def test_every_event_carries_the_run() -> None:
    kinds = [kind for kind in vars(events).values() if isinstance(kind, type) and kind.__name__.endswith("Event")]

    assert len(kinds) == 12
    assert all("run" in {field.name for field in dataclasses.fields(kind)} for kind in kinds)
