"""Between whole and streamed: collect, replay, one transform for both, and how a provider opens a stream."""

import asyncio
import dataclasses
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import InvalidStreamPartError, OnionError, StreamInterruptedError, StreamProviderError
from onion.spec import (
    CallOptions,
    ErrorPart,
    FinishPart,
    FinishReason,
    GenerateResult,
    Outcome,
    PartTransform,
    RawPart,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RequestInfo,
    ResponseInfo,
    ResponseMetadata,
    StreamPart,
    StreamResult,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
    UnsupportedWarning,
    to_json,
)
from onion.streaming import collect, open_stream, replay, replay_parts, to_exception, transform_result
from onion.testing import Lint, ScriptedModel, ScriptedStream, ScriptPart, answer, call, parts, text, usage
from onion.testing.strategies import answers, streams
from onion.wrap import wrap_language_model
from tests.reading import read

FINISH = FinishPart(finish_reason=FinishReason(unified="stop"), usage=usage())
PARAMS = CallOptions(prompt=())


def stream_of(*found: StreamPart) -> StreamResult:
    async def generate() -> AsyncGenerator[StreamPart, None]:
        for part in found:
            yield part

    return StreamResult(generate())


async def collected(*found: StreamPart) -> GenerateResult:
    return await collect(stream_of(*found))


@settings(max_examples=40)
@given(answers())
async def test_collecting_a_replay_gives_the_same_answer(result: GenerateResult) -> None:
    again = await collect(replay(result))

    assert to_json(again) == to_json(kept_by_a_stream(result))


def kept_by_a_stream(result: GenerateResult) -> GenerateResult:
    """*result* without the preliminary tool results, which a whole answer does not hold."""
    content = tuple(part for part in result.content if not (isinstance(part, ToolResult) and part.preliminary))
    return dataclasses.replace(result, content=content)


@settings(max_examples=40)
@given(answers())
async def test_every_replay_keeps_the_contract(result: GenerateResult) -> None:
    lint = Lint(strict=True)
    model = wrap_language_model(ScriptedModel([result]), lint)

    await read(await model.do_stream(PARAMS))

    lint.check_closed()


@settings(max_examples=40)
@given(streams())
async def test_replaying_what_was_collected_collects_to_the_same(found: tuple[StreamPart, ...]) -> None:
    lint = Lint()
    model = wrap_language_model(ScriptedModel([found]), lint)

    once = await collect(await model.do_stream(PARAMS))
    twice = await collect(replay(once))

    assert twice == once


async def test_blocks_stand_where_they_started_and_metadata_is_the_latest() -> None:
    result = await collected(
        StreamStart(warnings=(UnsupportedWarning(feature="seed"),)),
        ReasoningStart(id="1", provider_metadata={"acme": {"n": 1}}),
        TextStart(id="1", provider_metadata={"acme": {"n": 2}}),
        RawPart(raw_value={}),
        TextDelta(id="1", delta="he", provider_metadata={"acme": {"n": 3}}),
        ReasoningDelta(id="1", delta="hm"),
        call("search"),
        TextDelta(id="1", delta="llo"),
        ToolInputStart(id="c2", tool_name="search"),
        ToolInputDelta(id="c2", delta="{}"),
        ToolInputEnd(id="c2"),
        TextEnd(id="1"),
        ReasoningEnd(id="1", provider_metadata={"acme": {"n": 4}}),
        call("search", id="c2"),
        FINISH,
    )

    assert result.content == (
        Reasoning(text="hm", provider_metadata={"acme": {"n": 4}}),
        Text(text="hello", provider_metadata={"acme": {"n": 3}}),
        call("search"),
        call("search", id="c2"),
    )
    assert result.warnings == (UnsupportedWarning(feature="seed"),)


async def test_preliminary_results_are_left_out() -> None:
    early = ToolResult(tool_call_id="c", tool_name="t", result=1, preliminary=True)
    late = ToolResult(tool_call_id="c", tool_name="t", result=2)

    assert (await collected(early, late, FINISH)).content == (late,)


@pytest.mark.parametrize(
    ("metadata", "response", "expected"),
    [
        (None, None, None),
        (None, ResponseInfo(id="r"), ResponseInfo(id="r")),
        (ResponseMetadata(id="r", model_id="m"), None, ResponseInfo(id="r", model_id="m")),
        (
            ResponseMetadata(model_id="m", timestamp=datetime(2026, 1, 2, tzinfo=UTC)),
            ResponseInfo(id="r", headers={"a": "b"}),
            ResponseInfo(id="r", model_id="m", timestamp=datetime(2026, 1, 2, tzinfo=UTC), headers={"a": "b"}),
        ),
    ],
    ids=["neither", "only the stream's", "only the part", "both"],
)
async def test_the_response_is_what_the_stream_and_its_parts_say(
    metadata: ResponseMetadata | None, response: ResponseInfo | None, expected: ResponseInfo | None
) -> None:
    script: list[ScriptPart] = [metadata, FINISH] if metadata else [FINISH]
    model = ScriptedModel([ScriptedStream(parts=script, response=response, request=RequestInfo(body=1))])

    result = await collect(await model.do_stream(PARAMS))

    assert result.response == expected
    assert result.request == RequestInfo(body=1)


@pytest.mark.parametrize("part", [TextDelta(id="1", delta="a"), TextEnd(id="1"), ReasoningEnd(id="1")])
async def test_a_block_that_is_not_open_is_refused_and_the_stream_closed(part: StreamPart) -> None:
    model = ScriptedModel([(ReasoningStart(id="2"), TextStart(id="1"), TextEnd(id="1"), part, FINISH)])
    stream = await model.do_stream(PARAMS)

    with pytest.raises(InvalidStreamPartError, match=f"{part.type} part for '1', but no block of that id is open"):
        await collect(stream)

    assert model.open_streams == 0


async def test_a_stream_without_a_finish_is_no_answer() -> None:
    with pytest.raises(StreamInterruptedError, match="without a finish part"):
        await collected(TextStart(id="1"))


async def test_an_error_part_is_raised() -> None:
    error = OnionError("broken")

    with pytest.raises(OnionError) as caught:
        await collected(TextStart(id="1"), ErrorPart(error=error), FINISH)

    assert caught.value is error


def test_what_is_no_exception_becomes_one() -> None:
    error = ValueError("a")

    assert to_exception(error) is error
    assert isinstance(to_exception("overloaded"), StreamProviderError)


def test_a_replay_gives_one_delta_per_text_and_none_for_an_empty_one() -> None:
    result = dataclasses.replace(
        answer("hi", Reasoning(text=""), call("t"), Text(text=""), Reasoning(text="hm")),
        response=ResponseInfo(id="r", headers={"a": "b"}),
    )

    assert [part.type for part in replay_parts(result)] == [
        "stream-start",
        "response-metadata",
        *["text-start", "text-delta", "text-end"],
        *["reasoning-start", "reasoning-end"],
        "tool-call",
        *["text-start", "text-end"],
        *["reasoning-start", "reasoning-delta", "reasoning-end"],
        "finish",
    ]


class Shout(PartTransform):
    """Holds text back until the end and gives it out in capitals; counts how it was closed."""

    def __init__(self, endings: list[tuple[Outcome, BaseException | None]] | None = None) -> None:
        self.endings = [] if endings is None else endings
        self.held: list[StreamPart] = []

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...] | None:
        if not isinstance(part, TextDelta):
            return part
        if part.delta == "drop":
            return None
        if part.delta == "fail":
            raise ZeroDivisionError
        if part.delta == "error":
            return ErrorPart(error=OnionError("put in"))
        return (TextDelta(id=part.id, delta=part.delta.upper()), TextDelta(id=part.id, delta="!"))

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        self.endings.append((outcome, error))


@settings(max_examples=40)
@given(answers())
async def test_a_transform_does_to_a_whole_answer_what_it_does_to_its_stream(result: GenerateResult) -> None:
    endings: list[tuple[Outcome, BaseException | None]] = []

    whole = transform_result(result, lambda: Shout(endings))
    streamed = await collect(replay(result).pipe(Shout))

    assert to_json(whole) == to_json(streamed)
    assert endings == [("finished", None)]


@pytest.mark.parametrize("word", ["drop", "hi"])
def test_request_and_response_of_a_whole_answer_are_kept(word: str) -> None:
    result = dataclasses.replace(
        text(word), request=RequestInfo(body=1), response=ResponseInfo(id="r", headers={"a": "b"})
    )

    transformed = transform_result(result, Shout)

    assert transformed.text == ("" if word == "drop" else "HI!")
    assert (transformed.request, transformed.response) == (result.request, result.response)


@pytest.mark.parametrize(("word", "kind"), [("fail", ZeroDivisionError), ("error", OnionError)])
def test_a_transform_that_fails_a_whole_answer_is_closed_with_the_error(word: str, kind: type[Exception]) -> None:
    endings: list[tuple[Outcome, BaseException | None]] = []

    with pytest.raises(kind) as caught:
        transform_result(text(word), lambda: Shout(endings))

    assert endings == [("error", caught.value)]


class Opened:
    """A provider's parts and connection."""

    def __init__(self, *script: StreamPart | Exception) -> None:
        self.script = script
        self.sent = 0
        self.generator_closed: int = 0
        self.closed = 0

    async def parts(self) -> AsyncGenerator[StreamPart, None]:
        try:
            for item in self.script:
                await asyncio.sleep(0)
                if isinstance(item, Exception):
                    raise item
                self.sent += 1
                yield item
        finally:
            self.generator_closed += 1

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    "failure", [OnionError("broken"), ErrorPart(error=OnionError("broken"))], ids=["raise", "part"]
)
@pytest.mark.parametrize(
    "before", [(), (StreamStart(), ResponseMetadata(id="r"), RawPart(raw_value=1), TextStart(id="1"))]
)
async def test_a_failure_before_the_first_content_raises_and_closes(
    failure: StreamPart | Exception, before: tuple[StreamPart, ...]
) -> None:
    opened = Opened(*before, failure, FINISH)

    with pytest.raises(OnionError, match="broken"):
        await open_stream(opened.parts(), close=opened.close)

    assert (opened.generator_closed, opened.closed) == (1, 1)


async def test_a_stream_that_ends_before_any_content_raises() -> None:
    opened = Opened(StreamStart())

    with pytest.raises(StreamInterruptedError, match="ended before any content"):
        await open_stream(opened.parts())

    assert opened.generator_closed == 1


@pytest.mark.parametrize("content", [TextDelta(id="1", delta="a"), TextEnd(id="1"), call("t"), FINISH])
async def test_it_opens_with_the_first_content_and_loses_nothing(content: StreamPart) -> None:
    script = (StreamStart(), TextStart(id="1"), content, ErrorPart(error=OnionError("late")))
    opened = Opened(*script)
    request, response = RequestInfo(body=1), ResponseInfo(id="r")

    stream = await open_stream(opened.parts(), close=opened.close, request=request, response=response)
    sent_when_opened = opened.sent
    seen = await read(stream)

    assert sent_when_opened == 3
    assert tuple(seen) == script
    assert (stream.request, stream.response) == (request, response)
    assert (opened.generator_closed, opened.closed) == (1, 1)


async def test_closing_an_opened_stream_unread_closes_its_generator() -> None:
    opened = Opened(StreamStart(), call("t"), FINISH)
    stream = await open_stream(opened.parts(), close=opened.close)

    await stream.aclose()

    assert (opened.generator_closed, opened.closed) == (1, 1)


async def test_cancelling_the_opening_closes() -> None:
    gate = asyncio.Event()

    class Stuck(Opened):
        async def parts(self) -> AsyncGenerator[StreamPart, None]:
            try:
                yield StreamStart()
                gate.set()
                await asyncio.Event().wait()
            finally:
                self.generator_closed += 1

    opened = Stuck()
    task = asyncio.create_task(open_stream(opened.parts(), close=opened.close))
    await gate.wait()

    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert (opened.generator_closed, opened.closed) == (1, 1)


async def test_a_generator_that_fails_to_close_does_not_keep_the_connection_open() -> None:
    class Stubborn(Opened):
        async def parts(self) -> AsyncGenerator[StreamPart, None]:
            try:
                yield ErrorPart(error=OnionError("broken"))
            finally:
                raise ZeroDivisionError

    opened = Stubborn()

    with pytest.raises(ZeroDivisionError):
        await open_stream(opened.parts(), close=opened.close)

    assert opened.closed == 1


@settings(max_examples=20)
@given(st.lists(st.text(max_size=3), max_size=4))
async def test_parts_and_whole_of_the_same_words_are_the_same(words: list[str]) -> None:
    whole = await collect(await ScriptedModel([parts(*words)]).do_stream(PARAMS))

    assert whole.text == "".join(words)
