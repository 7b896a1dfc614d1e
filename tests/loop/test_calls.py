"""The model call of a step: parts and their ids, failures inside a stream, restarts, and tool choice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from onion import generate_text, is_step_count, provider_tool, stream_text, tool
from onion.errors import (
    InvalidStreamPartError,
    OnionError,
    StreamInterruptedError,
    StreamProviderError,
    ToolChoiceViolationError,
    UnsupportedFunctionalityError,
)
from onion.spec import Custom, DocumentSource, File, FileText, FileURL, ReasoningFile, ToolCall, ToolResult
from onion.spec.full_stream import FinishStep, StartStep, StepRestart, TextDeltaOutput
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    RawPart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from onion.spec.tools import FileOutput, ReasoningFileOutput, TypedToolError, TypedToolResult
from onion.testing import Raise, ScriptedModel, answer, call, parts, text, tool_call, usage

if TYPE_CHECKING:
    from onion import ToolOptions
    from onion.loop import RunOptions
    from onion.loop.settings import ToolChoiceInput
    from onion.spec import FinishReason, GenerateResult, JsonValue, OtherContent
    from onion.spec.events import ErrorEvent
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.parts import StreamPart

STOP: FinishReason = text("").finish_reason
FINISH = FinishPart(finish_reason=STOP, usage=usage())


@tool
def ping() -> str:
    """Answer."""
    return "pong"


async def full(**options: object) -> list[FullStreamPart]:
    """All parts of a stream of these options."""
    given: RunOptions = {"model": "unset", "prompt": "p", "tools": [ping], "stop_when": is_step_count(3)}
    changed: RunOptions = given | options  # type: ignore[assignment]  # names of arguments
    return [part async for part in stream_text(**changed).full_stream]


async def test_ids_that_come_again_are_replaced_so_that_the_whole_stream_has_each_once() -> None:
    again: list[StreamPart] = [TextStart(id="1"), TextDelta(id="1", delta="x"), TextEnd(id="1")]
    thought: list[StreamPart] = [ReasoningStart(id="1"), ReasoningDelta(id="1", delta="y"), ReasoningEnd(id="1")]
    model = ScriptedModel(
        [parts("a", *again, *thought, call("ping"), finish_reason="tool-calls"), parts("b", *thought)]
    )

    found = await full(model=model)

    starts = [(part.type, part.id) for part in found if isinstance(part, TextStart | ReasoningStart)]
    assert starts == [
        ("text-start", "1"),
        ("text-start", "1-2"),
        ("reasoning-start", "1"),
        ("text-start", "1-3"),
        ("reasoning-start", "1-2"),
    ]
    ends = [(part.type.replace("end", "start"), part.id) for part in found if isinstance(part, TextEnd | ReasoningEnd)]
    assert ends == starts


async def test_warnings_come_with_the_start_of_the_step_and_raw_chunks_pass() -> None:
    found = await full(model=ScriptedModel([parts(RawPart(raw_value={"n": 1}), "a")]), include={"raw_chunks": True})

    assert isinstance(found[1], StartStep)
    assert isinstance(found[2], RawPart)


async def test_a_stream_without_a_start_part_begins_a_step_as_well() -> None:
    model = ScriptedModel([[TextStart(id="a"), TextDelta(id="a", delta="x"), TextEnd(id="a"), FINISH]])

    found = await full(model=model)

    assert [part.type for part in found[:3]] == ["start", "start-step", "text-start"]


async def test_after_an_error_part_the_models_own_end_is_shown() -> None:
    failures: list[ErrorEvent] = []
    model = ScriptedModel([parts("a", ErrorPart(error=OnionError("hiccup")), "b", FINISH)])

    found = await full(model=model, on_error=failures.append)

    assert [part.type for part in found].count("error") == 1
    finish = found[-2]
    assert isinstance(finish, FinishStep)
    assert (finish.finish_reason, finish.usage.total_tokens) == ("stop", 15)
    assert [str(event.error) for event in failures] == ["hiccup"]


async def test_a_stream_that_breaks_off_after_its_error_part_shows_one_error() -> None:
    script: list[StreamPart] = [StreamStart(), ErrorPart(error=OnionError("first"))]

    found = await full(model=ScriptedModel([script]))

    assert [str(part.error) for part in found if isinstance(part, ErrorPart)] == ["first"]
    assert found[-1].type == "finish"


async def test_a_foreign_error_object_becomes_an_error() -> None:
    reported = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}

    with pytest.raises(StreamProviderError, match="busy") as caught:
        await stream_text(model=ScriptedModel([parts("a", ErrorPart(error=reported))]), prompt="p").text

    assert (caught.value.type, caught.value.status_code, caught.value.is_retryable) == ("overloaded_error", 503, True)


BROKEN: dict[str, list[StreamPart]] = {
    "a delta of nothing": [TextDelta(id="ghost", delta="x")],
    "an end of nothing": [ReasoningEnd(id="ghost")],
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_part_that_breaks_the_grammar_fails_the_run(fault: str) -> None:
    script = [StreamStart(), *BROKEN[fault], *parts("fine")[1:]]

    with pytest.raises(InvalidStreamPartError, match="ghost"):
        await stream_text(model=ScriptedModel([script]), prompt="p").text


@pytest.mark.parametrize("script", [[], [StreamStart()], [StreamStart(), TextStart(id="a")]])
async def test_a_stream_that_just_ends_is_interrupted(script: list[StreamStart | TextStart]) -> None:
    found = await full(model=ScriptedModel([script]))

    error, finish_step = found[-3], found[-2]
    assert isinstance(error, ErrorPart)
    assert isinstance(error.error, StreamInterruptedError)
    assert isinstance(finish_step, FinishStep)
    assert finish_step.finish_reason == "error"
    assert [part.type for part in found].count("start-step") == 1


async def test_a_cancellation_that_a_model_raises_by_itself_is_a_failure() -> None:
    failures: list[ErrorEvent] = []
    model = ScriptedModel([parts("a", Raise(asyncio.CancelledError("mine")))])
    result = stream_text(model=model, prompt="p", on_error=failures.append)

    with pytest.raises(asyncio.CancelledError, match="mine"):
        await result.text

    assert len(failures) == 1
    with pytest.raises(asyncio.CancelledError, match="mine"):
        await generate_text(model=ScriptedModel([asyncio.CancelledError("mine")]), prompt="p")


async def test_a_step_begins_again_after_a_failure_and_says_so() -> None:
    failing = parts("bad", Raise(OnionError("flaky")))
    thinking: list[StreamPart] = [StreamStart(), ReasoningStart(id="1"), ErrorPart(error=OnionError("again"))]
    model = ScriptedModel([failing, thinking, parts("good")])
    calls: list[int] = []
    result = stream_text(
        model=model,
        prompt="p",
        stream_retries=2,
        on_language_model_call_start=lambda event: calls.append(event.run.attempt),
    )
    everything, texts = result.full_stream, result.text_stream

    found = [part async for part in everything]

    restarts = [part for part in found if isinstance(part, StepRestart)]
    assert [(part.attempt, str(part.error)) for part in restarts] == [(2, "flaky"), (3, "again")]
    assert [part.type for part in found].count("start-step") == 1
    assert [part.text for part in found if isinstance(part, TextDeltaOutput)] == ["bad", "good"]
    assert [piece async for piece in texts] == ["good"]
    assert (await result.text, calls) == ("good", [1, 2, 3])


async def test_a_step_that_does_well_needs_no_restart() -> None:
    result = stream_text(model=ScriptedModel([parts("good")]), prompt="p", stream_retries=2)

    assert await result.text == "good"


async def test_when_no_restart_is_left_the_failure_ends_the_run() -> None:
    failing = parts("bad", Raise(OnionError("flaky")))
    result = stream_text(model=ScriptedModel([failing, failing]), prompt="p", stream_retries=1)
    texts = result.text_stream

    assert await anext(texts) == "bad"
    with pytest.raises(OnionError, match="flaky"):
        await anext(texts)


CHOICES: dict[str, tuple[ToolChoiceInput, GenerateResult]] = {
    "none": ("none", tool_call("ping")),
    "required": ("required", text("I refuse")),
    "named": ({"type": "tool", "tool_name": "other"}, tool_call("ping")),
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_what_tool_choice_forbids_fails_the_run(choice: str, mode: str) -> None:
    given, made = CHOICES[choice]
    options: RunOptions = {"model": ScriptedModel([made]), "prompt": "p", "tools": [ping], "tool_choice": given}

    async def run() -> None:
        if mode == "generate":
            await generate_text(**options)
        else:
            await stream_text(**options).text

    with pytest.raises(ToolChoiceViolationError) as caught:
        await run()

    assert caught.value.steps == ()


@pytest.mark.parametrize(("choice", "made"), [("required", tool_call("ping")), ("none", text("ok"))])
async def test_what_tool_choice_asks_for_is_fine(choice: str, made: GenerateResult) -> None:
    found = await full(model=ScriptedModel([made, text("x")]), tool_choice=choice, stop_when=is_step_count(1))

    assert found[-1].type == "finish"


async def test_a_withheld_call_shows_nothing_of_its_input() -> None:
    pieces: list[StreamPart] = [
        ToolInputStart(id="call-1", tool_name="ping"),
        ToolInputDelta(id="call-1", delta="{}"),
        ToolInputEnd(id="call-1"),
    ]
    own: list[StreamPart] = [ToolInputStart(id="w", tool_name="web", provider_executed=True), ToolInputEnd(id="w")]
    model = ScriptedModel([parts(*own, *pieces, call("ping"))])

    found = await full(model=model, tool_choice="none")

    assert [part.type for part in found[2:]] == [
        "tool-input-start",
        "tool-input-end",
        "error",
        "finish-step",
        "finish",
    ]


async def test_an_empty_delta_says_nothing_unless_it_carries_metadata() -> None:
    deltas = [TextDelta(id="a", delta=""), TextDelta(id="a", delta="", provider_metadata={"acme": {"n": 1}})]
    model = ScriptedModel([parts(TextStart(id="a"), *deltas, TextEnd(id="a"))])

    found = await full(model=model)

    assert [part.provider_metadata for part in found if isinstance(part, TextDeltaOutput)] == [{"acme": {"n": 1}}]


async def test_an_input_may_be_refined_before_it_is_used() -> None:
    async def refine(given: JsonValue) -> JsonValue:
        return {"number": 2} if given == {"number": 1} else {"number": "two"}

    @tool
    def show(number: int) -> int:
        """Show."""
        return number

    made = answer(call("show", {"number": 1}, id="1"), call("show", {"number": 3}, id="2"))
    result = await generate_text(
        model=ScriptedModel([made]), prompt="p", tools=[show], refine_tool_input={"show": refine}
    )

    good, bad = result.tool_calls
    assert (good.input, [found.output for found in result.tool_results]) == ({"number": 2}, [2])
    assert (bad.invalid, bad.input) == (True, {"number": 3})


async def test_a_tool_hears_its_input_arrive() -> None:
    heard: list[object] = []

    def start(options: ToolOptions[object]) -> None:
        heard.append(options.tool_call_id)

    def delta(piece: str, _options: ToolOptions[object]) -> None:
        heard.append(piece)

    async def available(given: object, _options: ToolOptions[object]) -> None:
        heard.append(given)

    listening = tool(
        name="listening",
        title="Listening",
        metadata={"server": "s"},
        input_schema={"type": "object"},
        execute=lambda: "ok",
        on_input_start=start,
        on_input_delta=delta,
        on_input_available=available,
    )
    pieces: list[StreamPart] = [
        ToolInputStart(id="call-1", tool_name="listening"),
        ToolInputDelta(id="call-1", delta="{}"),
        ToolInputEnd(id="call-1"),
    ]

    found = await full(model=ScriptedModel([parts(*pieces, call("listening")), text("x")]), tools=[listening])

    assert heard == ["call-1", "{}", {}]
    assert getattr(found[2], "title", None) == "Listening"


async def test_files_and_other_content_stand_in_the_step() -> None:
    others: list[OtherContent] = [
        File(media_type="text/plain", data=FileText(text="hello")),
        ReasoningFile(media_type="text/plain", data=FileText(text="hm")),
        DocumentSource(id="d", media_type="application/pdf", title="Doc"),
        Custom(kind="acme.note"),
    ]

    result = await generate_text(model=ScriptedModel([answer(*others)]), prompt="p")

    file, thought, *rest = result.content
    assert isinstance(file, FileOutput)
    assert file.file.data == b"hello"
    assert isinstance(thought, ReasoningFileOutput)
    assert rest == others[2:]
    assert (len(result.files), len(result.sources), len(result.reasoning)) == (1, 1, 1)


async def test_a_file_without_content_cannot_be_kept() -> None:
    model = ScriptedModel([answer(File(media_type="image/png", data=FileURL(url="https://example.test/")))])

    with pytest.raises(UnsupportedFunctionalityError, match="url"):
        await generate_text(model=model, prompt="p")


def web(tool_call_id: str) -> ToolCall:
    return ToolCall(tool_call_id=tool_call_id, tool_name="web", input="not json", provider_executed=True)


async def test_results_of_the_provider_are_put_to_their_calls() -> None:
    good = ToolResult(tool_call_id="1", tool_name="web", result="r")
    early = ToolResult(tool_call_id="1", tool_name="web", result="part", preliminary=True)
    bad = ToolResult(tool_call_id="2", tool_name="web", result="down", is_error=True)
    orphan = ToolResult(tool_call_id="3", tool_name="web", result="o")

    found = await full(model=ScriptedModel([parts(web("1"), early, good, web("2"), bad, orphan)]))

    outcomes = [part for part in found if isinstance(part, TypedToolResult | TypedToolError)]
    assert [(part.tool_call_id, part.input) for part in outcomes] == [
        ("1", "not json"),
        ("1", "not json"),
        ("2", "not json"),
        ("3", None),
    ]
    assert isinstance(outcomes[2], TypedToolError)


async def test_a_deferred_result_keeps_the_loop_going_until_it_comes_even_as_an_error() -> None:
    code = provider_tool(id="acme.code", name="web", args={}, is_provider_executed=True, supports_deferred_results=True)
    late = ToolResult(tool_call_id="1", tool_name="web", result="crashed", is_error=True)
    model = ScriptedModel([answer(web("1")), answer(late, "It crashed."), text("never")])

    result = await generate_text(model=model, prompt="p", tools=[code], stop_when=is_step_count(20))

    assert (result.text, len(model.calls)) == ("It crashed.", 2)
