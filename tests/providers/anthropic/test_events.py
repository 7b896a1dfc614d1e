"""Streams that fail, break off or hold what nobody expects; and answers in JSON that come as the input of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.anthropic.context import context_of
from onion.providers.anthropic.events import EventReader
from onion.spec.call import FunctionTool, JsonFormat
from onion.spec.content import Text, ToolCall
from onion.spec.parts import ErrorPart, FinishPart, RawPart
from onion.spec.usage import FinishReason
from onion.streaming import Collector
from tests.providers.anthropic.bodies import (
    HELLO,
    NEWEST,
    block,
    called,
    collected,
    decoded,
    message,
    over,
    read,
    said,
    sse,
    start,
    text,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

OVERLOADED: JsonObject = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
AS_TOOL = HELLO.replace(
    response_format=JsonFormat(schema={"type": "object"}),
    tools=(FunctionTool(name="look", input_schema={"type": "object"}),),
    provider_options={"anthropic": {"structuredOutputMode": "jsonTool"}},
)


def ended(*events: bytes, failure: Exception | None = None) -> list[StreamPart]:
    """The parts of a body."""
    decoder = AnswerDecoder(EventReader(context_of(HELLO, NEWEST)), hide=lambda said: said.replace("sk-secret", "***"))
    events_of = SSEDecoder()
    parts = decoder.feed_events(events_of.feed(b"".join(events)))
    parts += decoder.feed_events(events_of.end(), is_rest=True)
    return parts + decoder.end(failure)


def test_a_failure_before_any_content_fails_the_call() -> None:
    with pytest.raises(StreamProviderError, match="Overloaded") as caught:
        decoded(start(), said(0)[0], OVERLOADED)

    assert (caught.value.type, caught.value.status_code, caught.value.is_retryable) == ("overloaded_error", 529, True)
    assert caught.value.data == OVERLOADED["error"]


def test_a_failure_after_content_ends_what_is_open_and_is_told() -> None:
    parts = decoded(start(), *said(0, "hal")[:2], called(1, "t", '{"a"')[0], OVERLOADED, *over())

    assert [part.type for part in parts[-4:]] == ["text-end", "tool-input-end", "error", "finish"]
    assert not any(isinstance(part, ToolCall) for part in parts)
    finish = parts[-1]
    assert isinstance(finish, FinishPart)
    assert finish.finish_reason == FinishReason(unified="error")


@pytest.mark.parametrize(
    "failure", [{"error": {"message": "no sk-secret"}}, {"type": "error"}, {"type": "error", "error": {}}]
)
def test_a_failure_of_any_form_is_told_without_secrets(failure: JsonObject) -> None:
    with pytest.raises(StreamProviderError) as caught:
        ended(sse(start(), failure))

    assert "sk-secret" not in f"{caught.value} {caught.value.data}"


def test_a_stream_that_stops_without_a_reason_is_interrupted() -> None:
    parts = decoded(start(), *said(0, "hi"))

    assert isinstance(parts[-2], ErrorPart)
    assert isinstance(parts[-2].error, StreamInterruptedError)
    with pytest.raises(StreamInterruptedError, match="message_stop"):
        decoded(start())


def test_a_stop_reason_is_enough_to_know_that_the_answer_is_whole() -> None:
    result = collected(start(), *said(0, "hi"), over()[0])

    assert (result.text, result.finish_reason.unified) == ("hi", "stop")


@pytest.mark.parametrize(("events", "reason"), [(said(0, "x"), "stop"), (called(0, "t"), "tool-calls")])
def test_a_reason_that_is_missing_although_the_end_came_is_told_from_the_content(
    events: list[JsonObject], reason: str
) -> None:
    result = collected(start(), *events, {"type": "message_stop"})

    assert (result.finish_reason.unified, result.finish_reason.raw) == (reason, None)


def test_a_stream_that_ends_in_the_way_of_the_chat_format_ends() -> None:
    parts = ended(sse(start(), *said(0, "hi")), b"data: [DONE]\n\ndata: never read\n\n")

    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason.unified == "stop"


def test_a_failure_of_the_transport_is_told_in_its_place() -> None:
    parts = ended(sse(start(), *said(0, "hi")), failure=StreamInterruptedError("gone"))

    assert isinstance(parts[-2], ErrorPart)
    assert str(parts[-2].error) == "gone"


@pytest.mark.parametrize(("data", "error"), [("{oops", JSONParseError), ("[1]", TypeValidationError)])
def test_what_cannot_be_read_is_the_failure(data: str, error: type[Exception]) -> None:
    body = f"data: {data}\n\n".encode()

    with pytest.raises(error):
        ended(sse(start()), body)
    told = [part.error for part in ended(sse(start(), *said(0, "x")), body) if isinstance(part, ErrorPart)]

    assert [type(each) for each in told] == [error]


def test_json_that_stops_short_at_the_end_of_the_body_only_says_that_it_was_cut() -> None:
    parts = ended(sse(start(), *said(0, "hi")), b'data:  \n\ndata: {"type":"mess')

    assert isinstance(parts[-2], ErrorPart)
    assert isinstance(parts[-2].error, StreamInterruptedError)


def test_events_are_handed_out_as_they_came_when_asked_for() -> None:
    decoder = AnswerDecoder(EventReader(context_of(HELLO, NEWEST)), include_raw=True)

    parts = decoder.feed({"type": "ping"})

    assert parts == [RawPart(raw_value={"type": "ping"})]
    assert not decoder.has_content


def test_deltas_without_a_number_belong_to_the_latest_block() -> None:
    delta: JsonObject = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}}
    stray: JsonObject = {"type": "content_block_stop"}

    result = collected(start(), stray, said(0)[0], delta, stray, delta, *over())

    assert result.text == "hi"


def test_a_call_without_an_id_gets_one() -> None:
    parts = decoded(start(), *called(0, "t", call_id=""), *called(1, "t", call_id=""), *over("tool_use"))

    ids = [part.tool_call_id for part in parts if isinstance(part, ToolCall)]
    assert all(ids)
    assert len(set(ids)) == 2


def test_parts_of_a_result_or_an_unknown_block_that_failed_are_not_handed_out() -> None:
    parts = decoded(start(), *said(0, "x"), block(1, {"type": "compaction", "content": "so"})[0], OVERLOADED)

    assert "custom" not in [part.type for part in parts]


# --- answers in JSON -----------------------------------------------------------------------------------------------


def json_answer(*events: JsonObject) -> tuple[list[StreamPart], str | None, FinishReason]:
    """Parts, text for the object, and finish of a stream where the answer is the input of a tool."""
    parts = decoded(start(), *events, *over("tool_use"), params=AS_TOOL)
    collector = Collector()
    for part in parts:
        collector.feed(part)
    result = collector.result()
    return parts, result.structured_output_text, result.finish_reason


def test_the_input_of_the_tool_for_json_is_the_text_of_the_answer() -> None:
    parts, text_for_object, finish = json_answer(*called(0, "json", "", '{"a":', "1}"))

    assert [part.type for part in parts][1:5] == ["text-start", "text-delta", "text-delta", "text-end"]
    assert (text_for_object, finish) == ('{"a":1}', FinishReason(unified="stop", raw="tool_use"))


def test_text_before_an_answer_in_json_is_none_of_it() -> None:
    parts, text_for_object, _ = json_answer(*said(0, "I call ", "the tool."), *called(1, "json", "{}"))

    assert [part.type for part in parts].count("text-start") == 1
    assert text_for_object == "{}"
    finish = parts[-1]
    assert isinstance(finish, FinishPart)
    assert finish.provider_metadata == {"anthropic": {"textBeforeJson": "I call the tool."}}


def test_text_that_is_open_when_an_answer_in_json_begins_is_none_of_it() -> None:
    begin, delta, end = said(0, "Let me see.")

    parts, text_for_object, _ = json_answer(begin, delta, *called(1, "json", '{"a":1}'), end)

    assert [part.type for part in parts if part.type.startswith("text-")] == ["text-start", "text-delta", "text-end"]
    assert text_for_object == '{"a":1}'


def test_text_is_text_if_no_answer_in_json_follows() -> None:
    call_first, _, finish = json_answer(*said(0, "Let me look."), *called(1, "look"), *said(2, "Hm."))
    text_only, text_for_object, _ = json_answer(*said(0, "I will not."))

    assert [part.type for part in call_first if part.type.endswith("-end")] == [
        "text-end",
        "tool-input-end",
        "text-end",
    ]
    assert finish.unified == "tool-calls"
    assert [part.type for part in text_only][1:4] == ["text-start", "text-delta", "text-end"]
    assert text_for_object is None


def test_text_after_an_answer_in_json_is_told_at_once() -> None:
    parts, text_for_object, _ = json_answer(*called(0, "json", '{"a":"\ud83e'), *said(1, "Done."))

    assert text_for_object == '{"a":"\ufffd'
    assert [part.type for part in parts].count("text-start") == 2


def test_an_answer_in_json_may_come_whole() -> None:
    call: JsonObject = {"type": "tool_use", "id": "t", "name": "json", "input": {"a": 1}}

    result = read(message(text("So:"), call, stop_reason="tool_use"), AS_TOOL)
    empty = read(message({**call, "input": {}}, stop_reason="tool_use"), AS_TOOL)

    assert [part.text for part in result.content if isinstance(part, Text)] == ['{"a":1}']
    assert (result.structured_output_text, empty.structured_output_text) == ('{"a":1}', "{}")


def test_an_answer_in_json_that_breaks_off_is_no_answer() -> None:
    with pytest.raises(StreamProviderError):
        decoded(start(), called(0, "json")[0], OVERLOADED, params=AS_TOOL)


def test_a_tool_of_the_caller_that_is_called_json_is_a_tool() -> None:
    params = AS_TOOL.replace(tools=(FunctionTool(name="json", input_schema={}),))

    result = collected(start(), *called(0, "json", "{}"), *over("tool_use"), params=params)

    assert [part.type for part in result.content] == ["tool-call"]


# --- whole answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [[], "x", {}, {"content": "x"}, {"choices": []}])
def test_what_is_no_message_is_refused(body: JsonValue) -> None:
    with pytest.raises(TypeValidationError, match="no message"):
        read(body)


def test_a_failure_with_a_status_of_success_is_one() -> None:
    with pytest.raises(StreamProviderError, match="Overloaded"):
        read(OVERLOADED)


def test_the_body_is_kept() -> None:
    body = message(text("hi"))

    response = read(body).response

    assert response is not None
    assert (response.id, response.model_id, response.body) == ("msg_1", "claude-x", body)
    assert read({"content": []}).response is not None
