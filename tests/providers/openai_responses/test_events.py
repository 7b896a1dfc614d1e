"""Events of a stream as parts: what is new is handed out once, and how an answer ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.spec.parts import ErrorPart, FinishPart, RawPart, ResponseMetadata, TextDelta, TextEnd, TextStart
from onion.spec.usage import FinishReason
from tests.providers.openai_responses.bodies import (
    CALL,
    EVENTS,
    HEAD,
    MESSAGE,
    REASONING,
    RESPONSE,
    STREAM,
    both,
    collected,
    decode,
    event,
    message,
    parts_of,
    response,
    sse,
    unchecked,
)
from tests.recorded.checks import events_of

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

CREATED = event("created", response={**HEAD, "status": "in_progress", "output": []})
ADDED = event("output_item.added", output_index=0, item={**MESSAGE, "content": []})
DELTA = event("output_text.delta", output_index=0, content_index=0, delta="Hel")


def test_a_stream_makes_the_parts_of_its_items_in_their_order() -> None:
    kinds = [part.type for part in decode(STREAM)]

    assert kinds == [
        "response-metadata",
        *("reasoning-start", "reasoning-delta", "reasoning-delta", "reasoning-end"),
        *("text-start", "text-delta", "text-delta", "text-end"),
        *("tool-input-start", "tool-input-delta", "tool-input-delta", "tool-input-end", "tool-call"),
        "finish",
    ]


def test_streamed_and_whole_the_answer_is_the_same() -> None:
    result = collected(decode(STREAM))

    assert result.content == both(REASONING, MESSAGE, CALL).content
    assert result.text == "Hello, world"
    assert result.usage.input_tokens.cache_read == 4
    assert (result.usage.input_tokens.no_cache, result.usage.output_tokens.text) == (5, 3)


@pytest.mark.parametrize("step", [1, 3, 50])
def test_the_parts_do_not_depend_on_how_the_body_is_cut(step: int) -> None:
    body = b"".join(STREAM).replace(b"\n", b"\r\n")

    assert decode([body[place : place + step] for place in range(0, len(body), step)]) == decode(STREAM)


def test_a_body_may_be_cut_at_every_byte() -> None:
    body, events, parts = b"".join(STREAM), events_of(STREAM), decode(STREAM)

    for cut in range(len(body)):
        assert events_of([body[:cut], body[cut:]]) == events
    for cut in range(0, len(body), 11):
        assert unchecked([body[:cut], body[cut:]]) == parts


def test_a_body_cut_at_any_byte_is_whole_only_with_its_terminal_event() -> None:
    body = b"".join(STREAM)
    end = len(body) - len(STREAM[-1])

    for cut in range(0, len(body) - 2, 7):
        try:
            parts = decode([body[:cut]])
        except StreamInterruptedError:
            assert cut < end
            continue
        assert isinstance(parts[-2], ErrorPart) == (cut < len(body) - 2)


def test_raw_events_are_handed_out_when_asked_for() -> None:
    parts = decode(STREAM, include_raw=True)

    assert [part.raw_value for part in parts if isinstance(part, RawPart)] == list(EVENTS)


def test_what_the_done_event_adds_to_the_deltas_is_handed_out() -> None:
    parts = parts_of(
        CREATED, ADDED, DELTA, event("output_item.done", output_index=0, item=MESSAGE), response_of(MESSAGE)
    )

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["Hel", "lo, world"]


def test_a_done_event_that_contradicts_the_deltas_changes_nothing() -> None:
    other = {**MESSAGE, "content": [{"type": "output_text", "text": "Bye"}]}
    parts = parts_of(CREATED, ADDED, DELTA, event("output_item.done", output_index=0, item=other), response_of(other))

    assert collected(parts).text == "Hel"


def response_of(*items: JsonObject, status: str = "completed", **more: JsonValue) -> JsonValue:
    """The terminal event of an answer with these items."""
    return event(status, response=response(*items, status=status, **more))


def test_items_that_only_the_end_names_are_handed_out() -> None:
    parts = parts_of(CREATED, response_of(REASONING, MESSAGE))

    assert collected(parts).text == "Hello, world"


def test_items_that_the_end_repeats_are_known_by_their_ids_too() -> None:
    done = event("output_item.done", output_index=5, item=MESSAGE)
    parts = parts_of(CREATED, done, response_of(MESSAGE, CALL))

    assert [part.type for part in collected(parts).content] == ["text", "tool-call"]


def test_items_that_nobody_said_to_be_done_are_done_in_the_end() -> None:
    begun = {**CALL, "arguments": ""}
    parts = parts_of(
        CREATED,
        event("output_item.added", output_index=0, item=begun),
        event("function_call_arguments.delta", output_index=0, delta='{"n":1}'),
        response_of(),
    )

    (call,) = collected(parts).content
    assert call.type == "tool-call"
    assert call.input == '{"n":1}'


def test_deltas_of_items_that_were_not_announced_are_read() -> None:
    parts = parts_of(
        event("reasoning_text.delta", delta="hm"),
        event("output_text.delta", output_index=1, delta="yes"),
        event("function_call_arguments.delta", output_index=2, delta="{}"),
        event("image_generation_call.partial_image", output_index=3, partial_image_b64="AAAA"),
        event("output_text.annotation.added", output_index=4, annotation={"type": "url_citation", "url": "http://a"}),
        response_of(),
    )

    assert [part.type for part in collected(parts).content] == ["reasoning", "text"]


def test_an_item_is_announced_and_done_once() -> None:
    done = event("output_item.done", output_index=0, item=MESSAGE)
    parts = parts_of(CREATED, ADDED, ADDED, done, done, DELTA, response_of(MESSAGE))

    assert sum(isinstance(part, TextStart) for part in parts) == sum(isinstance(part, TextEnd) for part in parts) == 1
    assert collected(parts).text == "Hello, world"


def test_half_a_character_waits_for_the_other_half() -> None:
    halves = [event("output_text.delta", output_index=0, delta=half) for half in ("a\ud83d", "\ude00")]
    whole = message("a\U0001f600")
    parts = parts_of(CREATED, ADDED, *halves, event("output_item.done", output_index=0, item=whole), response_of(whole))
    cut = parts_of(CREATED, ADDED, halves[0], response_of())

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["a", "\U0001f600"]
    assert collected(cut).text == "a\ufffd"


@pytest.mark.parametrize(
    ("report", "code", "status", "is_retryable"),
    [
        ({"type": "error", "code": "server_error", "message": "down", "sequence_number": 3}, "server_error", 500, True),
        ({"type": "error", "error": {"type": "x", "code": "insufficient_quota"}}, "insufficient_quota", 429, False),
        ({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, "rate_limit_exceeded", 429, True),
        (
            response_of(status="failed", error={"code": "invalid_prompt", "message": "no"}),
            "invalid_prompt",
            400,
            False,
        ),
        (response_of(status="failed"), None, None, False),
        ({"type": "error"}, None, None, False),
    ],
    ids=["flat", "nested", "without type", "failed", "failed without error", "empty"],
)
def test_a_failure_before_content_raises_with_the_class_of_its_code(
    report: JsonValue,
    code: str | None,
    status: int | None,
    is_retryable: bool,  # noqa: FBT001 - from the table
) -> None:
    with pytest.raises(StreamProviderError) as caught:
        parts_of(CREATED, report)

    assert (caught.value.code, caught.value.status_code, caught.value.is_retryable) == (code, status, is_retryable)


def test_a_failure_after_content_ends_the_blocks_and_the_answer() -> None:
    begun = event("output_item.added", output_index=1, item={**CALL, "arguments": ""})
    report = {"type": "error", "code": "server_error", "message": "down"}
    parts = parts_of(CREATED, ADDED, DELTA, begun, report, response_of(MESSAGE))

    assert [part.type for part in parts[-4:]] == ["text-end", "tool-input-end", "error", "finish"]
    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason == FinishReason(unified="error")


def test_a_failed_response_says_what_it_used() -> None:
    failed = event("failed", response=response(status="failed", error={"code": "server_error", "message": "down"}))
    parts = parts_of(CREATED, ADDED, DELTA, failed)

    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason == FinishReason(unified="error", raw="failed")
    assert parts[-1].usage.output_tokens.total == 5


def test_a_named_error_event_without_a_type_is_a_failure() -> None:
    with pytest.raises(StreamProviderError, match="overloaded"):
        decode([b'event: error\ndata: {"message": "overloaded"}\n\n'])


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"", StreamInterruptedError, "without response.completed"),
        (sse(CREATED), StreamInterruptedError, "without response.completed"),
        (b"data: {]\n\n", JSONParseError, "not JSON"),
        (b"data: [1]\n\n", TypeValidationError, "no JSON object"),
        (b'data: {"type":', StreamInterruptedError, "without response.completed"),
    ],
    ids=["nothing", "no end", "no JSON", "no object", "cut"],
)
def test_a_body_that_is_no_answer_raises(body: bytes, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        decode([body])


def test_identity_is_told_when_it_is_known_and_kept() -> None:
    late = {**response(MESSAGE), "id": "resp_2"}
    parts = parts_of(
        event("created", response={"id": "resp_1", "created_at": 10**20}),
        event("in_progress", response={"model": "m", "created_at": True}),
        event("completed", response=late),
    )

    told = [(part.id, part.model_id) for part in parts if isinstance(part, ResponseMetadata)]
    assert told == [("resp_1", None), ("resp_1", "m"), ("resp_1", "m")]
    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].provider_metadata == {"openai": {"responseId": "resp_2"}}


def test_the_example_of_this_file_is_whole() -> None:
    assert RESPONSE["status"] == "completed"
