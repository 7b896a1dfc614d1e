"""The chunks of a stream as parts: blocks, reasoning, further content, failures, and the end."""

from datetime import UTC, datetime

import pytest

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._chat import ChunkReader
from onion.providers._model import AnswerDecoder
from onion.providers._sse import ServerSentEvent
from onion.spec.base import JsonObject, JsonValue
from onion.spec.content import Reasoning, Text, ToolCall
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    RawPart,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamPart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputEnd,
)
from tests.providers.chat.decoding import NAME, called, checked, chunk, counting, decode, fragment, parts_of, said


def own(**members: JsonValue) -> dict[str, JsonObject]:
    """Provider metadata of this vendor."""
    return {NAME: members}


def finish_of(parts: list[StreamPart]) -> FinishPart:
    """The last part."""
    assert isinstance(parts[-1], FinishPart)
    return parts[-1]


def failed(parts: list[StreamPart]) -> Exception:
    """The error that the stream reports; it must be told in the last two parts."""
    assert isinstance(parts[-2], ErrorPart)
    assert isinstance(parts[-2].error, Exception)
    assert finish_of(parts).finish_reason.unified == "error"
    return parts[-2].error


def test_text_is_one_block_between_the_metadata_and_the_finish() -> None:
    parts = parts_of(chunk({"role": "assistant", "content": ""}), said("Hel"), said("lo"), chunk({}, "stop"))

    created = datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)
    assert parts[:-1] == [
        ResponseMetadata(id="cc-1", timestamp=created, model_id="m-1"),
        TextStart(id="0"),
        TextDelta(id="0", delta="Hel"),
        TextDelta(id="0", delta="lo"),
        TextEnd(id="0"),
    ]


def test_reasoning_and_text_alternate_in_blocks_that_do_not_overlap() -> None:
    found = decode(
        chunk({"reasoning_content": "first"}),
        said("Partial."),
        chunk({"reasoning_content": "second"}),
        said(" Rest."),
    )

    field = own(reasoning_field="reasoning_content")
    assert found.content == (
        Reasoning(text="first", provider_metadata=field),
        Text(text="Partial."),
        Reasoning(text="second", provider_metadata=field),
        Text(text=" Rest."),
    )


def test_a_tool_call_ends_the_text_before_it() -> None:
    parts = parts_of(said("Let me see."), called(fragment("{}", "f", index=0, id="a")), said("Done."))

    assert [part.type for part in parts[1:]] == [
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-start",
        "tool-input-delta",
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-end",
        "tool-call",
        "finish",
    ]


def test_details_are_put_together_and_told_at_the_end_of_the_reasoning() -> None:
    def detail(**members: JsonValue) -> JsonObject:
        return {"type": "reasoning.text", "index": 0, "format": None, **members}

    found = decode(
        chunk({"reasoning": "We ", "reasoning_details": [detail(text="We ")]}),
        chunk({"reasoning": "need", "reasoning_details": [detail(text="need")]}),
        chunk({"reasoning": None, "reasoning_details": [detail(signature="S==", text=None)]}),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "D1", "id": "r1"}]}),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "D2", "id": "r2"}]}),
        said("ok"),
    )

    assert found.content == (
        Reasoning(
            text="We need",
            provider_metadata=own(
                reasoning_field="reasoning",
                reasoning_details=[
                    detail(text="We need", signature="S=="),
                    {"type": "reasoning.encrypted", "index": 0, "data": "D1", "id": "r1"},
                    {"type": "reasoning.encrypted", "index": 0, "data": "D2", "id": "r2"},
                ],
            ),
        ),
        Text(text="ok"),
    )


def test_details_of_another_thought_are_kept_apart() -> None:
    one: JsonObject = {"type": "reasoning.summary", "index": 0, "summary": "a", "id": "r1"}
    two: JsonObject = {"type": "reasoning.summary", "index": 0, "summary": "b", "id": "r2"}

    found = decode(chunk({"reasoning_details": [one]}), chunk({"reasoning_details": [two]}))

    assert found.content == (Reasoning(text="ab", provider_metadata=own(reasoning_details=[one, two])),)


def test_reasoning_may_be_in_the_details_alone() -> None:
    detail: JsonObject = {"type": "reasoning.text", "text": "hm", "signature": "S"}

    found = decode(chunk({"content": None, "reasoning_details": [detail]}), said("ok"))

    assert found.content[0] == Reasoning(text="hm", provider_metadata=own(reasoning_details=[detail]))


def test_a_block_that_began_with_details_learns_its_field_late() -> None:
    detail: JsonObject = {"type": "reasoning.encrypted", "data": "D"}

    found = decode(chunk({"reasoning_details": [detail]}), chunk({"reasoning": "hm"}))

    assert found.content == (
        Reasoning(text="hm", provider_metadata=own(reasoning_field="reasoning", reasoning_details=[detail])),
    )


def test_details_that_come_with_or_after_the_text_do_not_cut_it() -> None:
    detail: JsonObject = {"type": "reasoning.encrypted", "data": "D"}

    found = decode(said("a"), chunk({"content": "b", "reasoning_details": [detail]}), said("c"))

    assert found.content == (Text(text="abc"), Reasoning(text="", provider_metadata=own(reasoning_details=[detail])))


def test_late_details_wait_for_the_next_reasoning() -> None:
    detail: JsonObject = {"type": "reasoning.encrypted", "data": "D"}

    parts = parts_of(said("a"), chunk({"reasoning_details": [detail]}), chunk({"reasoning": "hm"}))

    ends = [part.provider_metadata for part in parts if isinstance(part, ReasoningEnd)]
    assert ends == [own(reasoning_field="reasoning", reasoning_details=[detail])]


def test_a_refusal_is_text_that_says_so_and_ends_as_a_filter_would() -> None:
    found = decode(chunk({"refusal": "I will "}), chunk({"refusal": "not."}), chunk({}, "stop"))

    assert found.content == (Text(text="I will not.", provider_metadata=own(refusal=True)),)
    assert (found.finish_reason.unified, found.finish_reason.raw) == ("content-filter", "stop")


def test_a_message_signature_travels_with_the_text() -> None:
    extra: JsonObject = {"google": {"thought_signature": "S"}}

    plain = decode(said("a"), chunk({"extra_content": extra}))
    refused = decode(chunk({"refusal": "no", "extra_content": extra}))

    assert plain.content == (Text(text="a", provider_metadata=own(message={"extra_content": extra})),)
    assert refused.content == (Text(text="no", provider_metadata=own(refusal=True, message={"extra_content": extra})),)
    assert plain.provider_metadata == own(extra_content=extra)


def test_half_characters_are_joined_over_chunks() -> None:
    found = decode(
        chunk({"reasoning": "\ud83d"}),
        chunk({"reasoning": "\ude00"}),
        chunk({"reasoning": "\ud83d"}),
        said("a\ud83d"),
        said("b"),
    )
    cut = decode(said("a"), said("\ud83d"))

    assert [part.text for part in found.content if isinstance(part, Reasoning | Text)] == ["😀\ufffd", "a\ufffdb"]
    assert cut.text == "a\ufffd"


def test_raw_chunks_come_before_what_they_bring_when_asked_for() -> None:
    each = said("a")

    parts = parts_of(each, decoder=AnswerDecoder(ChunkReader(NAME), include_raw=True))

    assert parts[0] == RawPart(raw_value=each)


def test_further_choices_are_not_mixed_into_the_first() -> None:
    other: JsonObject = {"choices": [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]}

    assert decode(other, {"choices": [{"index": 1, "delta": {"content": "B"}}]}).text == "A"


def test_a_chunk_may_hold_a_message_or_nothing_where_the_delta_is() -> None:
    assert (
        decode({"choices": [{"message": {"content": "a"}}, {"delta": None}, None]}, {"choices": None}, {}).text == "a"
    )


def test_a_failure_after_content_is_told_with_what_is_known_of_it() -> None:
    error: JsonObject = {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}

    parts = parts_of(said("partial"), {"error": error}, done=False)

    caught = failed(parts)
    assert isinstance(caught, StreamProviderError)
    assert (caught.type, caught.code, caught.status_code) == ("invalid_request_error", "context_length_exceeded", 400)
    assert "too long (context_length_exceeded)" in str(caught)
    assert isinstance(parts[-3], TextEnd)


def test_a_failure_closes_the_inputs_of_calls_and_hands_out_none() -> None:
    parts = parts_of(
        called(fragment("{}", "f", index=0, id="a"), fragment("", index=1, id="b")), {"error": "broken"}, done=False
    )

    assert not any(isinstance(part, ToolCall) for part in parts)
    assert [part.id for part in parts if isinstance(part, ToolInputEnd)] == ["a"]
    assert "broken" in str(failed(parts))


@pytest.mark.parametrize(
    "opening",
    [
        chunk({"role": "assistant", "content": ""}),
        called(fragment("", "f", index=0, id="a")),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "D"}]}),
    ],
    ids=["a role", "the name of a call", "encrypted reasoning"],
)
def test_a_failure_before_content_is_raised(opening: JsonObject) -> None:
    decoder = AnswerDecoder(ChunkReader(NAME))
    decoder.feed(opening)
    decoder.feed({"error": {"message": "busy", "code": 503}})

    with pytest.raises(StreamProviderError, match="busy") as caught:
        decoder.end()

    assert caught.value.is_retryable
    assert decoder.is_over


def test_an_error_of_unknown_form_is_shown() -> None:
    assert "[1]" in str(failed(parts_of(said("a"), {"error": [1]}, done=False)))


def test_a_stream_without_terminal_marker_is_interrupted() -> None:
    assert isinstance(failed(parts_of(said("a"), done=False)), StreamInterruptedError)
    with pytest.raises(StreamInterruptedError, match="nobody knows"):
        parts_of(done=False)


def test_a_finish_reason_or_a_done_marker_ends_a_stream() -> None:
    by_reason = decode(said("a"), chunk({}, "stop"), done=False)
    by_marker = decode(said("a"))
    by_marker_with_calls = decode(called(fragment("{}", "f", index=0, id="a")), chunk({}, ""))

    assert by_reason.finish_reason.unified == "stop"
    assert (by_marker.finish_reason.unified, by_marker.finish_reason.raw) == ("stop", None)
    assert by_marker_with_calls.finish_reason.unified == "tool-calls"


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("length", "length"),
        ("content_filter", "content-filter"),
        ("tool_calls", "tool-calls"),
        ("STOP", "stop"),
        ("model_length", "length"),
        ("weird", "other"),
    ],
)
def test_finish_reasons_are_told_in_our_words_and_in_theirs(raw: str, unified: str) -> None:
    found = decode(said("a"), chunk({}, raw)).finish_reason

    assert (found.unified, found.raw) == (unified, raw)


def test_what_is_known_when_it_fails_is_told_as_well() -> None:
    finish = finish_of(
        parts_of(said("a"), chunk({}, "length", usage={"prompt_tokens": 3}), {"error": "limit"}, done=False)
    )

    assert (finish.finish_reason.unified, finish.finish_reason.raw) == ("error", "length")
    assert finish.usage.input_tokens.total == 3


def event(data: str, name: str = "message") -> ServerSentEvent:
    """An event of the stream."""
    return ServerSentEvent(data.encode(), name)


HELLO = event('{"choices":[{"delta":{"content":"hi"}}]}')


def test_events_are_read_up_to_the_marker() -> None:
    decoder = AnswerDecoder(ChunkReader(NAME))

    parts = decoder.feed_events([HELLO, event(" "), event("[DONE]"), HELLO, event("[DONE]")])

    assert decoder.is_over
    assert [part.type for part in checked([*parts, *decoder.end()])] == [
        "text-start",
        "text-delta",
        "text-end",
        "finish",
    ]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (event("PROCESSING"), JSONParseError),
        (event("[1]"), TypeValidationError),
        (event('{"error":{"message":"no"}}', "error"), StreamProviderError),
        (event('"just a text"', "error"), StreamProviderError),
        (event('{"choices":[{"delta":{"audio":{"data":"a"}}}]}'), TypeValidationError),
    ],
)
def test_an_event_that_cannot_be_read_fails_the_stream_after_what_came_before(
    bad: ServerSentEvent, kind: type[Exception]
) -> None:
    decoder = AnswerDecoder(ChunkReader(NAME))

    parts = checked([*decoder.feed_events([HELLO, bad, HELLO]), *decoder.end()])

    assert isinstance(failed(parts), kind)
    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["hi"]


def test_an_event_that_was_cut_at_the_end_says_only_that_the_stream_was() -> None:
    decoder = AnswerDecoder(ChunkReader(NAME))
    parts = decoder.feed_events([HELLO])

    parts += decoder.feed_events([event('{"choices":[{"del')], is_rest=True)

    assert isinstance(failed(checked([*parts, *decoder.end()])), StreamInterruptedError)


def test_secrets_are_taken_out_of_what_the_server_says() -> None:
    decoder = AnswerDecoder(ChunkReader(NAME, generate_id=counting()), hide=lambda text: text.replace("sk-1", "***"))
    parts = [*decoder.feed(said("a")), *decoder.feed({"error": "bad key sk-1"}), *decoder.end()]

    assert "bad key ***" in str(failed(checked(parts)))


def test_reasoning_starts_say_where_it_came_from() -> None:
    starts = [part for part in parts_of(chunk({"reasoning": "hm"})) if isinstance(part, ReasoningStart)]

    assert starts == [ReasoningStart(id="0", provider_metadata=own(reasoning_field="reasoning"))]
