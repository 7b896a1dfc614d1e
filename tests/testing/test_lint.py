"""Lint: nothing that keeps the contract is touched, and each rule is broken once."""

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from onion.errors import OnionError
from onion.spec import (
    CallOptions,
    ErrorPart,
    FinishPart,
    FinishReason,
    FunctionTool,
    GenerateResult,
    InputTokens,
    RawPart,
    ReasoningEnd,
    ResponseInfo,
    ResponseMetadata,
    StreamPart,
    StreamResult,
    StreamStart,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
    UserMessage,
)
from onion.testing import (
    Lint,
    LintError,
    Raise,
    ScriptedModel,
    ScriptItem,
    ScriptPart,
    Wait,
    answer,
    call,
    parts,
    text,
    usage,
)
from onion.wrap import DoGenerate, DoStream, Middleware, WrappedModel, wrap_language_model
from tests.reading import read

T = TypeVar("T")
PARAMS = CallOptions(prompt=(UserMessage(content=(TextPart(text="hi"),)),), headers={"x-id": "1"})
FINISH = FinishPart(finish_reason=FinishReason(unified="stop"), usage=usage())
FAILED = FinishPart(finish_reason=FinishReason(unified="error"), usage=usage())
FAULT = OnionError("broken")
NAIVE = datetime(2026, 1, 2)  # noqa: DTZ001 - the fault that is to be found


def wrong(kind: type[T], **members: object) -> T:
    """An object of a value class whose members are not what the class declares."""
    made = object.__new__(kind)
    for name, member in members.items():
        object.__setattr__(made, name, member)
    return made


def under_lint(*script: ScriptItem, strict: bool = False) -> WrappedModel:
    return wrap_language_model(ScriptedModel(script), Lint(strict=strict))


async def broken_rule(model: WrappedModel, params: CallOptions = PARAMS, *, mode: str = "stream") -> str:
    """The rule that is broken when the model answers."""
    with pytest.raises(LintError) as caught:
        await (model.do_generate(params) if mode == "generate" else read_all(model, params))
    return caught.value.rule


async def read_all(model: WrappedModel, params: CallOptions) -> list[StreamPart]:
    return await read(await model.do_stream(params))


async def test_what_keeps_the_contract_passes_unchanged() -> None:
    scripted = parts(
        RawPart(raw_value={"a": 1}),
        ResponseMetadata(id="r1", timestamp=datetime(2026, 1, 2, tzinfo=UTC)),
        "hi",
        ToolInputStart(id="c1", tool_name="search"),
        ToolInputDelta(id="c1", delta="{}"),
        ToolInputEnd(id="c1"),
        call("search", id="c1"),
    )
    lint = Lint(strict=True)
    model = wrap_language_model(ScriptedModel([scripted, text("hi")]), lint)

    streamed = await read_all(model, PARAMS)
    whole = await model.do_generate(PARAMS)

    assert tuple(streamed) == scripted
    assert whole == text("hi")
    assert lint.open_streams == 0
    lint.check_closed()


GRAMMAR: Mapping[str, tuple[ScriptPart, ...]] = {
    "part-types": (wrong(TextStart, id=1, provider_metadata=None),),
    "stream-start-first": (TextStart(id="1"), StreamStart()),
    "finish-last": (FINISH, FINISH),
    "finish-comes": (TextStart(id="1"), TextEnd(id="1")),
    "part-json": (ErrorPart(error=object()),),
    "block-ids": (TextStart(id="1"), TextEnd(id="1"), TextStart(id="1")),
    "delta-in-block": (TextStart(id="1"), TextDelta(id="2", delta="a")),
    "end-of-block": (TextStart(id="1"), ReasoningEnd(id="1")),
    "call-after-input": (ToolInputStart(id="c1", tool_name="a"), call("a", id="c1")),
    "stream-call-ids": (call("a", id="c1"), call("b", id="c1")),
    "blocks-end": (TextStart(id="1"), FINISH),
    "finish-usage": (
        FinishPart(finish_reason=FinishReason(unified="stop"), usage=Usage(input_tokens=InputTokens(total=-1))),
    ),
    "metadata-time": (ResponseMetadata(timestamp=NAIVE),),
}
STRICT_GRAMMAR: Mapping[str, tuple[ScriptPart, ...]] = {
    "early-failure-raises": (StreamStart(), ErrorPart(error=FAULT), FAILED),
    "error-is-exception": (call("a"), ErrorPart(error="broken"), FAILED),
    "blocks-end-before-error": (
        TextStart(id="1"),
        TextDelta(id="1", delta="a"),
        ErrorPart(error=FAULT),
        TextEnd(id="1"),
        FAILED,
    ),
    "error-then-finish": (call("a"), ErrorPart(error=FAULT), call("b", id="c2"), FAILED),
    "error-reason": (call("a"), ErrorPart(error=FAULT), FINISH),
}


@pytest.mark.parametrize("rule", GRAMMAR)
async def test_a_stream_that_breaks_the_grammar_is_named(rule: str) -> None:
    assert await broken_rule(under_lint(GRAMMAR[rule])) == rule


@pytest.mark.parametrize("rule", STRICT_GRAMMAR)
async def test_only_our_own_models_are_held_to_the_strict_rules(rule: str) -> None:
    script = STRICT_GRAMMAR[rule]

    lenient = await read_all(under_lint(script), PARAMS)
    strict = await broken_rule(under_lint(script, strict=True))

    assert tuple(lenient) == script
    assert strict == rule


async def test_only_a_foreign_iterator_may_raise() -> None:
    script = parts("a", Raise(FAULT))

    with pytest.raises(OnionError) as caught:
        await read_all(under_lint(script), PARAMS)
    strict = await broken_rule(under_lint(script, strict=True))

    assert caught.value is FAULT
    assert strict == "late-failure-streams"


@pytest.mark.parametrize(
    ("result", "rule"),
    [
        (wrong(GenerateResult, content=[]), "result-types"),
        (answer(call("a", id="c1"), call("b", id="c1")), "call-ids"),
        (answer(used=Usage(input_tokens=InputTokens(total=-1))), "usage-counts"),
        (
            GenerateResult(
                content=(),
                finish_reason=FinishReason(unified="stop"),
                usage=Usage(),
                response=ResponseInfo(timestamp=NAIVE),
            ),
            "response-time",
        ),
    ],
    ids=["types", "ids", "usage", "time"],
)
async def test_a_whole_answer_that_breaks_a_rule_is_named(result: GenerateResult, rule: str) -> None:
    assert await broken_rule(under_lint(result), mode="generate") == rule


@pytest.mark.parametrize(
    ("params", "rule"),
    [
        ({}, "params-types"),
        (PARAMS.replace(temperature="hot"), "params-types"),  # type: ignore[arg-type]  # the fault
        (PARAMS.replace(tools=(FunctionTool(name="a", input_schema={}),) * 2), "tool-names"),
        (PARAMS.replace(provider_options={"acme": {"x": [object()]}}), "params-json"),  # type: ignore[list-item]  # the fault
    ],
    ids=["no params", "a wrong member", "two tools of one name", "no JSON"],
)
@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_params_that_break_a_rule_are_named(params: CallOptions, rule: str, mode: str) -> None:
    assert await broken_rule(under_lint(text("hi")), params, mode=mode) == rule


async def test_a_model_without_a_name_or_with_urls_as_text_is_named() -> None:
    nameless = wrap_language_model(ScriptedModel([], provider=""), Lint())
    urls = {"image/*": ["https://"]}
    loose = wrap_language_model(ScriptedModel([], supported_urls=urls), Lint())  # type: ignore[arg-type]  # the fault
    good = ScriptedModel([text("hi")], supported_urls={"*/*": [re.compile("https://.*")]})

    assert await broken_rule(nameless) == "model-names"
    assert await broken_rule(loose) == "model-urls"
    assert await wrap_language_model(good, Lint()).do_generate(PARAMS) == text("hi")


class ChangesParams(Middleware):
    """Writes into the headers that it was given."""

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: object
    ) -> GenerateResult:
        assert isinstance(params.headers, dict)
        params.headers["x-id"] = "2"
        return await do_generate()

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: object
    ) -> StreamResult:
        assert isinstance(params.headers, dict)
        params.headers["x-id"] = "2"
        return await do_stream()


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_a_layer_that_changes_params_is_named(mode: str) -> None:
    model = wrap_language_model(ScriptedModel([text("hi")]), [Lint(), ChangesParams()])

    rule = await broken_rule(model, PARAMS.replace(headers={"x-id": "1"}), mode=mode)

    assert rule == "params-unchanged"


async def test_a_reader_that_changes_a_part_is_named_also_when_it_stops_there() -> None:
    stream = await under_lint(parts("a", "b")).do_stream(PARAMS)
    iterator = aiter(stream)
    await anext(iterator)
    start = await anext(iterator)
    object.__setattr__(start, "id", "other")

    with pytest.raises(LintError, match="part-unchanged"):
        await stream.aclose()


async def test_a_model_that_answers_although_it_was_cancelled_is_named() -> None:
    async def swallow() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return

    assert await asyncio.create_task(broken_rule(under_lint(parts("a", Wait(swallow), "b")))) == "cancellation-passes"
    assert (
        await asyncio.create_task(broken_rule(under_lint(parts("a", Wait(swallow), "b")), mode="generate"))
        == "cancellation-passes"
    )


async def test_a_failure_of_the_call_passes_and_strictly_must_be_ours() -> None:
    for mode in ("generate", "stream"):
        assert await broken_rule(under_lint(KeyError("a"), strict=True), mode=mode) == "error-class"
    for script, strict in (([KeyError("a")] * 2, False), ([OnionError("a")] * 2, True)):
        model = under_lint(*script, strict=strict)
        with pytest.raises((KeyError, OnionError), match="a"):
            await model.do_generate(PARAMS)
        with pytest.raises((KeyError, OnionError), match="a"):
            await model.do_stream(PARAMS)


async def test_a_rule_that_an_inner_lint_saw_broken_is_not_renamed_by_an_outer_one() -> None:
    model = wrap_language_model(ScriptedModel([(call("a"), call("a"))]), [Lint(strict=True), Lint()])
    repeating = wrap_language_model(ScriptedModel([answer(call("a"), call("a"))]), [Lint(strict=True), Lint()])

    assert await broken_rule(model) == "stream-call-ids"
    assert await broken_rule(repeating, mode="generate") == "call-ids"


async def test_do_stream_must_return_a_stream() -> None:
    async def list_of_parts(_params: CallOptions | None = None, /) -> StreamResult:
        return [FINISH]  # type: ignore[return-value]  # the fault

    model = ScriptedModel([])

    with pytest.raises(LintError) as caught:  # directly: the kernel refuses such a result before a layer sees it
        await Lint().wrap_stream(do_generate=model.do_generate, do_stream=list_of_parts, params=PARAMS, model=model)  # type: ignore[arg-type]  # not called

    assert caught.value.rule == "stream-class"


async def test_a_stream_that_nobody_closed_is_named() -> None:
    lint = Lint()
    model = wrap_language_model(ScriptedModel([parts("a")]), lint)
    stream = await model.do_stream(PARAMS)

    with pytest.raises(LintError, match=r"streams-closed.*1 streams are open"):
        lint.check_closed()
    await stream.aclose()

    lint.check_closed()


async def test_closing_early_breaks_no_rule() -> None:
    scripted = ScriptedModel([parts("a", "b")])
    lint = Lint(strict=True)
    stream = await wrap_language_model(scripted, [lint, lint]).do_stream(PARAMS)

    async for part in stream:
        if isinstance(part, TextDelta):
            break
    await stream.aclose()

    assert (lint.open_streams, scripted.open_streams) == (0, 0)


async def test_reading_outside_of_a_task_is_possible() -> None:
    # a generator may be driven by hand, as a synchronous facade does
    async def answer_once() -> GenerateResult:
        return await under_lint(text("hi")).do_generate(PARAMS)

    work = answer_once()
    with pytest.raises(StopIteration) as caught:
        work.send(None)

    assert caught.value.value == text("hi")


def test_its_repr_shows_how_strict_it_is() -> None:
    assert repr(Lint(strict=True)) == "Lint(strict=True)"
