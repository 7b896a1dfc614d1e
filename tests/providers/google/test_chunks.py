"""Streams: calls in pieces, failures, what comes raw, and answers of other forms."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from onion.errors import (
    JSONParseError,
    OnionError,
    StreamInterruptedError,
    StreamProviderError,
    TypeValidationError,
)
from onion.providers._model import AnswerDecoder
from onion.providers._sse import ServerSentEvent
from onion.providers.google.arguments import Arguments
from onion.providers.google.chunks import ChunkReader
from onion.providers.google.toolbox import Toolbox
from onion.spec.content import ToolCall
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    RawPart,
    ResponseMetadata,
    TextDelta,
    ToolInputEnd,
    ToolInputStart,
)
from tests.providers.google.bodies import HELLO, NEWEST, call, chunk, collected, decoded, read, sse, text, whole

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

OVERLOADED: JsonObject = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}


def begins(name: str, **more: JsonValue) -> JsonObject:
    """A chunk that begins a call whose arguments follow."""
    return chunk({"functionCall": {"name": name, "willContinue": True}, **more})


def piece(path: str, *, ends: bool = False, **value: JsonValue) -> JsonObject:
    """A chunk with an argument, or a piece of one."""
    argument: JsonObject = {"jsonPath": path, **value}
    more: JsonObject = {} if ends else {"willContinue": True}
    return chunk({"functionCall": {"partialArgs": [argument], **more}})


def calls(*chunks: JsonObject) -> list[tuple[str, str]]:
    """Names and inputs of the calls in a stream."""
    content = collected(*chunks).content
    return [(part.tool_name, part.input) for part in content if isinstance(part, ToolCall)]


def test_a_call_in_pieces_begins_at_once_and_is_whole_when_the_empty_piece_comes() -> None:
    first: list[JsonObject] = [
        begins("weather", thoughtSignature="S"),
        piece("$.place", stringValue="San ", willContinue=True),
        piece("$.place", stringValue="Francisco", willContinue=True),
        piece("$.place", stringValue=""),
        chunk({"functionCall": {}}),
    ]

    parts = decoded(*first, begins("weather"), piece("$.days", numberValue=2, ends=True), chunk(reason="STOP"))

    kinds = [part.type for part in parts if part.type != "response-metadata"]
    assert kinds == [*["tool-input-start", "tool-input-delta", "tool-input-end", "tool-call"] * 2, "finish"]
    made = [part for part in parts if isinstance(part, ToolCall)]
    assert [part.input for part in made] == ['{"place":"San Francisco"}', '{"days":2}']
    assert made[0].provider_metadata == {"google": {"functionCall": {}, "thoughtSignature": "S"}}
    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason.unified == "tool-calls"


@pytest.mark.parametrize("after", [text("", thoughtSignature="S"), text("So"), {"hologram": {}}, call("wave")])
def test_a_call_whose_end_never_comes_ends_with_what_follows(after: JsonObject) -> None:
    open_call = [begins("write"), piece("$.items[0].name", stringValue="apple")]

    assert calls(*open_call, chunk(after), chunk(reason="STOP"))[0] == ("write", '{"items":[{"name":"apple"}]}')
    assert calls(*open_call, chunk(text(""), reason="STOP")) == [("write", '{"items":[{"name":"apple"}]}')]


def test_a_piece_without_a_call_is_no_call() -> None:
    assert calls(piece("$.a", stringValue="b"), chunk(reason="STOP")) == []


@pytest.mark.parametrize(
    ("pieces", "whole_arguments"),
    [
        ([("$.a.b", {"boolValue": True}), ("$.a.c", {"nullValue": None})], {"a": {"b": True, "c": None}}),
        ([('$[\'a b\']["c\\"d"]', {"numberValue": 0.5})], {"a b": {'c"d': 0.5}}),
        ([("$.l[0]", {"stringValue": "x"}), ("$.l[1]", {"stringValue": "y"})], {"l": ["x", "y"]}),
        ([("$.l[0]", {"stringValue": "x"}), ("$.l[0]", {"stringValue": "y"})], {"l": ["xy"]}),
        ([("$.l[9999999]", {"stringValue": "x"})], {"l": ["x"]}),
        ([("$.l[0][0].n", {"numberValue": 1})], {"l": [[{"n": 1}]]}),
        ([("$.a", {"numberValue": 1}), ("$.a.b", {"numberValue": 2})], {"a": {"b": 2}}),
        ([("$.a[0]", {"numberValue": 1}), ("$.a.b", {"numberValue": 2})], {"a": {"b": 2}}),
        ([("$.a.b", {"numberValue": 1}), ("$.a[0]", {"numberValue": 2})], {"a": {"b": 1, "0": 2}}),
        ([("$", {"stringValue": "x"}), ("$.a[", {"stringValue": "x"}), ("", {"stringValue": "x"})], {}),
    ],
)
def test_arguments_are_put_where_their_places_say(
    pieces: list[tuple[str, JsonObject]], whole_arguments: JsonObject
) -> None:
    arguments = Arguments()

    for path, value in pieces:
        arguments.add({"jsonPath": path, **value})

    assert arguments.whole == whole_arguments


def test_a_call_that_breaks_off_is_no_call() -> None:
    parts = decoded(chunk(text("Wait.")), begins("write"), piece("$.a", stringValue="b"), OVERLOADED)

    assert [part.type for part in parts[-3:]] == ["tool-input-end", "error", "finish"]
    assert not any(isinstance(part, ToolCall) for part in parts)
    assert sum(isinstance(part, ToolInputStart | ToolInputEnd) for part in parts) == 2


def test_a_failure_after_content_is_an_error_part_and_a_finish() -> None:
    parts = decoded(chunk(text("Par")), OVERLOADED, chunk(text("never read"), reason="STOP"))

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["Par"]
    error = next(part.error for part in parts if isinstance(part, ErrorPart))
    assert isinstance(error, StreamProviderError)
    assert (error.type, error.code, error.status_code, error.is_retryable) == ("UNAVAILABLE", 503, 503, True)
    assert error.data == OVERLOADED["error"]


@pytest.mark.parametrize(
    ("chunks", "kind", "words"),
    [
        ([OVERLOADED], StreamProviderError, "overloaded"),
        ([[OVERLOADED]], StreamProviderError, "overloaded"),
        ([{"error": 7}], StreamProviderError, "unknown form"),
        ([chunk()], StreamInterruptedError, "without a finish reason"),
        ([7], TypeValidationError, "no JSON object: 7"),
    ],
)
def test_a_failure_before_content_is_raised(chunks: list[JsonValue], kind: type[OnionError], words: str) -> None:
    with pytest.raises(kind, match=words):
        decoded(*chunks)


def test_a_stream_that_stops_short_was_interrupted_and_nothing_else() -> None:
    cut = ServerSentEvent(sse(chunk(text("b"), reason="STOP"))[6:40])
    broken, rest = AnswerDecoder(ChunkReader(Toolbox(None, NEWEST))), AnswerDecoder(ChunkReader(Toolbox(None, NEWEST)))

    broken.feed_events([cut, ServerSentEvent(b"{}")])
    rest.feed_events([cut], is_rest=True)

    assert broken.is_over
    with pytest.raises(JSONParseError):
        broken.end()
    with pytest.raises(StreamInterruptedError):
        rest.end()


def test_the_marker_of_gateways_ends_a_stream_and_blanks_are_nothing() -> None:
    decoder = AnswerDecoder(ChunkReader(Toolbox(None, NEWEST)))

    events = [b" ", sse(chunk(text("a")))[6:], b"[DONE]", b"never read"]
    parts = decoder.feed_events(ServerSentEvent(data) for data in events)

    assert decoder.is_over
    assert [part.type for part in [*parts, *decoder.end()]][-1] == "finish"


def test_chunks_are_handed_out_raw_when_asked_for() -> None:
    chunks = [chunk(text("a")), chunk(reason="STOP")]

    parts = decoded(*chunks, params=HELLO.replace(include_raw_chunks=True))

    assert [part.raw_value for part in parts if isinstance(part, RawPart)] == chunks


def test_a_list_of_chunks_is_an_answer_too() -> None:
    result = read([chunk(text("a")), chunk(text("b")), chunk(reason="STOP")])

    assert result.text == "ab"
    with pytest.raises(StreamProviderError, match="overloaded"):
        read([OVERLOADED, whole(text("never read"))])


@pytest.mark.parametrize(
    ("body", "words"),
    [({"choices": []}, "an object with choices"), ({}, "no members"), ([], "None"), ("<p>", "<p>")],
)
def test_what_is_no_answer_is_refused(body: JsonValue, words: str) -> None:
    with pytest.raises(TypeValidationError, match=words):
        read(body)


def test_id_model_and_time_are_told_once() -> None:
    first: JsonObject = {**chunk(text("a")), "createTime": "2026-04-02T17:03:50.399550Z"}

    parts = decoded(first, {**first, "responseId": "other"}, chunk(reason="STOP"))

    told = [part for part in parts if isinstance(part, ResponseMetadata)]
    moment = datetime(2026, 4, 2, 17, 3, 50, 399550, tzinfo=UTC)
    assert told == [ResponseMetadata(id="r-1", timestamp=moment, model_id="gemini-x")]
    assert read({"candidates": [], "createTime": "soon", "responseId": "r"}).response is not None


def test_halves_of_a_character_in_two_chunks_are_one() -> None:
    result = collected(chunk(text("\ud83e")), chunk(text("\uddc5")), chunk(text("\ud83e"), reason="STOP"))

    assert result.text == "\U0001f9c5\ufffd"


def test_further_candidates_are_other_answers() -> None:
    other: JsonObject = {"content": {"parts": [text("b")]}, "index": 1, "finishReason": "MAX_TOKENS"}
    body = whole(text("a"))
    assert isinstance(body["candidates"], list)

    result = read({**body, "candidates": [*body["candidates"], other]})

    assert (result.text, result.finish_reason.unified) == ("a", "stop")
