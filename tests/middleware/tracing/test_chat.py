from __future__ import annotations

import asyncio
import gc
from dataclasses import replace

import pytest
from opentelemetry import trace

from onion.errors import APICallError, StreamInterruptedError
from onion.middleware import SHARED, Cache, MemoryStore, Retry, Tracing
from onion.spec import (
    CallOptions,
    ErrorPart,
    JsonFormat,
    LanguageModel,
    ResponseInfo,
    ResponseMetadata,
    RunInfo,
    Text,
    TextDelta,
    Usage,
)
from onion.spec.usage import InputTokens, OutputTokens
from onion.streaming import collect
from onion.testing import Raise, ScriptedModel, Wait, answer, call, parts, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, UNAVAILABLE, FakeSleep, parts_of, under_test
from tests.middleware.tracing.exporting import Telemetry, is_error, said

CHAT = "chat scripted-model"
EVERY_SETTING = ASK.replace(
    max_output_tokens=16,
    temperature=0,
    top_p=0.5,
    top_k=3,
    frequency_penalty=0.1,
    presence_penalty=0.2,
    stop_sequences=("x",),
    seed=7,
    response_format=JsonFormat(),
)
both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])


async def ask(model: LanguageModel, mode: str, params: CallOptions = ASK) -> None:
    await (parts_of(model, params) if mode == "stream" else model.do_generate(params))


@both_modes
async def test_a_call_is_one_span_with_request_answer_and_usage(mode: str) -> None:
    telemetry = Telemetry()
    used = Usage(
        input_tokens=InputTokens(total=10, cache_read=4, cache_write=1),
        output_tokens=OutputTokens(total=5, reasoning=2),
    )
    reply = replace(answer("hi", used=used), response=ResponseInfo(id="r-1", model_id="m-2026"))
    await ask(under_test(ScriptedModel([reply], provider="google.generate"), telemetry.layer()), mode, EVERY_SETTING)

    span = telemetry.span(CHAT)
    found = dict(said(span))
    first_chunk = found.pop("gen_ai.response.time_to_first_chunk", None)
    assert (first_chunk is not None) == (mode == "stream")
    assert found == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "scripted-model",
        "gen_ai.request.max_tokens": 16,
        "gen_ai.request.temperature": 0,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.request.top_k": 3,
        "gen_ai.request.frequency_penalty": 0.1,
        "gen_ai.request.presence_penalty": 0.2,
        "gen_ai.request.stop_sequences": ("x",),
        "gen_ai.request.seed": 7,
        "gen_ai.request.stream": mode == "stream",
        "gen_ai.output.type": "json",
        "gen_ai.response.id": "r-1",
        "gen_ai.response.model": "m-2026",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_creation.input_tokens": 1,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "onion.outcome": "finished",
    }
    assert span.kind is trace.SpanKind.CLIENT
    assert not is_error(span)


async def test_the_metrics_of_a_stream_are_measured() -> None:
    telemetry = Telemetry()
    script = parts(ResponseMetadata(model_id="m-2026"), "a", "b")

    await parts_of(under_test(ScriptedModel([script]), telemetry.layer()))

    (duration,) = telemetry.points("gen_ai.client.operation.duration")
    (first,) = telemetry.points("gen_ai.client.operation.time_to_first_chunk")
    tokens = telemetry.points("gen_ai.client.token.usage")
    assert (duration.sum, first.sum) == (2.0, 1.0)
    assert duration.explicit_bounds[:2] == (0.01, 0.02)
    assert dict(duration.attributes or {})["gen_ai.response.model"] == "m-2026"
    measured = {str((point.attributes or {})["gen_ai.token.type"]): point.sum for point in tokens}
    assert measured == {"input": 10, "output": 5}


async def test_tokens_that_nobody_counted_are_not_measured() -> None:
    telemetry = Telemetry()

    await under_test(ScriptedModel([answer("hi", used=Usage())]), telemetry.layer()).do_generate(ASK)

    assert telemetry.points("gen_ai.client.token.usage") == []
    assert "gen_ai.usage.input_tokens" not in said(telemetry.span(CHAT))


@both_modes
async def test_a_call_that_raises_ends_its_span_with_the_error(mode: str) -> None:
    telemetry = Telemetry()
    failure = APICallError("wrong key sk-TESTKEY-123", status_code=401)

    with pytest.raises(APICallError):
        await ask(under_test(ScriptedModel([failure]), telemetry.layer()), mode)

    span = telemetry.span(CHAT)
    assert is_error(span)
    assert said(span)["error.type"] == "APICallError"
    assert said(span)["onion.outcome"] == "error"
    (event,) = span.events
    assert event.name == "exception"
    assert dict(event.attributes or {}) == {"exception.type": "APICallError", "exception.message": "wrong key ***"}
    (duration,) = telemetry.points("gen_ai.client.operation.duration")
    assert dict(duration.attributes or {})["error.type"] == "APICallError"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (ErrorPart(error=StreamInterruptedError("cut")), "StreamInterruptedError"),
        (ErrorPart(error={"code": 1}), "_OTHER"),
        (Raise(ConnectionError("gone")), "ConnectionError"),
    ],
    ids=["error part", "foreign error part", "iterator raises"],
)
async def test_a_stream_that_fails_ends_its_span_with_the_error(failure: ErrorPart | Raise, kind: str) -> None:
    telemetry = Telemetry()
    model = under_test(ScriptedModel([parts("a", failure, finish_reason="error")]), telemetry.layer())

    if isinstance(failure, Raise):
        with pytest.raises(ConnectionError):
            await parts_of(model)
    else:
        await parts_of(model)

    span = telemetry.span(CHAT)
    assert is_error(span)
    assert said(span)["error.type"] == kind
    assert [event.name for event in span.events] == ["exception"]


async def test_a_stream_closed_early_ends_its_span_without_an_error() -> None:
    telemetry = Telemetry()

    async with await under_test(ScriptedModel([parts("a", "b")]), telemetry.layer()).do_stream(ASK) as stream:
        async for part in stream:
            if isinstance(part, TextDelta):
                break

    span = telemetry.span(CHAT)
    assert said(span)["onion.outcome"] == "closed"
    assert not is_error(span)


async def test_a_stream_closed_unread_ends_its_span() -> None:
    telemetry = Telemetry()

    stream = await under_test(ScriptedModel([parts("a")]), telemetry.layer()).do_stream(ASK)
    await stream.aclose()

    assert said(telemetry.span(CHAT))["onion.outcome"] == "closed"


@pytest.mark.filterwarnings("ignore:a StreamResult was dropped unread:ResourceWarning")
async def test_a_stream_dropped_unread_ends_its_span() -> None:
    telemetry = Telemetry()

    await wrap_language_model(ScriptedModel([parts("a")]), telemetry.layer()).do_stream(ASK)
    gc.collect()
    await asyncio.sleep(0)  # the closing is handed to the loop
    await asyncio.sleep(0)  # and runs

    assert said(telemetry.span(CHAT))["onion.outcome"] == "closed"


async def test_a_reader_that_raises_ends_the_span() -> None:
    telemetry = Telemetry()

    async def read() -> None:
        async with await under_test(ScriptedModel([parts("a")]), telemetry.layer()).do_stream(ASK) as stream:
            async for _ in stream:
                raise LookupError

    with pytest.raises(LookupError):
        await read()

    assert said(telemetry.span(CHAT))["onion.outcome"] == "closed"


@both_modes
async def test_a_cancelled_call_is_no_error(mode: str) -> None:
    telemetry = Telemetry()
    model = under_test(ScriptedModel([parts("a", Wait(asyncio.Event()))]), telemetry.layer())

    task = asyncio.ensure_future(ask(model, mode))
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    span = telemetry.span(CHAT)
    assert said(span)["onion.outcome"] == "cancelled"
    assert not is_error(span)


@both_modes
async def test_of_several_layers_only_the_outermost_counts_tokens(mode: str) -> None:
    telemetry = Telemetry()
    retry = Retry(sleep=FakeSleep())
    inner = ScriptedModel([UNAVAILABLE, text("hi")])

    await ask(under_test(inner, telemetry.layer(), retry, telemetry.layer()), mode)

    failed, good, outer = telemetry.spans
    assert [is_error(span) for span in (failed, good, outer)] == [True, False, False]
    assert "gen_ai.usage.input_tokens" not in said(good)
    assert said(outer)["gen_ai.usage.input_tokens"] == 10
    assert {point.sum for point in telemetry.points("gen_ai.client.token.usage")} == {10, 5}
    assert failed.parent == good.parent == outer.context


@both_modes
async def test_an_answer_from_a_cache_counts_nothing(mode: str) -> None:
    telemetry = Telemetry()
    model = under_test(ScriptedModel([text("hi")]), telemetry.layer(), Cache(MemoryStore(), scope=SHARED))

    await ask(model, mode)
    await ask(model, mode)

    first, second = telemetry.spans
    assert said(first)["gen_ai.usage.input_tokens"] == 10
    assert "gen_ai.usage.input_tokens" not in said(second)
    assert said(second)["onion.cache.hit"] is True
    assert sum(point.count for point in telemetry.points("gen_ai.client.token.usage")) == 2


async def test_interleaved_streams_are_siblings_and_leave_the_context_alone() -> None:
    telemetry = Telemetry()
    layer = telemetry.layer()
    streams = [
        await under_test(ScriptedModel([parts(*"abc")], model_id=f"m{number}"), layer).do_stream(ASK)
        for number in range(100)
    ]
    readers = [aiter(stream) for stream in streams]

    while readers:
        readers = [reader for reader in readers if await anext(reader, None) is not None]
    current = trace.get_current_span()

    assert len(telemetry.spans) == 100
    assert {span.parent for span in telemetry.spans} == {None}
    assert not current.get_span_context().is_valid


async def test_a_call_hangs_under_the_span_around_it_and_what_it_makes_under_it() -> None:
    telemetry = Telemetry()
    tracer = telemetry.tracers.get_tracer("test")

    def calling(_: object) -> object:
        tracer.start_span("http").end()
        return text("hi")

    inner = ScriptedModel([calling, calling])  # type: ignore[list-item]  # a text is an item
    model = under_test(inner, telemetry.layer())
    with tracer.start_as_current_span("caller"):
        await model.do_generate(ASK)
        await parts_of(model)

    http, chat, http_again, chat_again, caller = telemetry.spans
    assert http.parent == chat.context
    assert http_again.parent == chat_again.context
    assert chat.parent == chat_again.parent == caller.context


@both_modes
async def test_in_a_run_a_call_says_which_step_it_is(mode: str) -> None:
    telemetry = Telemetry()

    await ask(under_test(ScriptedModel([text("hi")]), telemetry.layer()), mode, ASK.replace(run=RunInfo(run_id="r")))

    assert said(telemetry.span(CHAT))["onion.run.id"] == "r"
    assert said(telemetry.span(CHAT))["onion.step"] == 0


@both_modes
async def test_without_an_sdk_nothing_is_made(mode: str) -> None:
    inner = ScriptedModel([text("hi"), text("hi")])

    model = under_test(inner, Tracing())
    await ask(model, mode)
    await ask(model, mode)

    assert len(inner.calls) == 2


@both_modes
async def test_spans_or_metrics_alone_work_too(mode: str) -> None:
    telemetry = Telemetry()

    await ask(under_test(ScriptedModel([text("hi")]), Tracing(telemetry.tracers)), mode)
    await ask(under_test(ScriptedModel([text("hi")]), Tracing(None, telemetry.meters)), mode)

    assert len(telemetry.spans) == 1
    assert sum(point.count for point in telemetry.points("gen_ai.client.operation.duration")) == 1


async def test_collecting_the_stream_gives_the_whole_answer() -> None:
    reply = answer(Text(text="hi", provider_metadata={"a": {"n": 1}}), call("f"))
    model = under_test(ScriptedModel([reply, reply]), Telemetry().layer(capture_content=True))

    assert await collect(await model.do_stream(ASK)) == await model.do_generate(ASK)


def test_it_shows_its_settings() -> None:
    assert repr(Tracing()) == "Tracing()"
    assert repr(Tracing(capture_content=True)) == "Tracing(capture_content=True)"
