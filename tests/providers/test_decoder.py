"""What the decoders of all formats share: one reader of a made-up format stands for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from onion.errors import StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._chat import ChunkReader
from onion.providers._json import text_in
from onion.providers._model import AnswerDecoder, no_answer
from onion.providers._sse import ServerSentEvent
from onion.providers.google import ModelTraits
from onion.providers.google.chunks import ChunkReader as GoogleReader
from onion.providers.google.toolbox import Toolbox
from onion.spec.parts import ErrorPart, FinishPart, TextDelta, TextEnd, TextStart
from onion.spec.usage import FinishReason, Usage

if TYPE_CHECKING:
    from onion.providers._model import AnswerReader, Progress
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart


class Words:
    """Reads ``{"say": "word"}``; ``{"last": true}`` ends it, as does ``{"bye": true}`` without a marker."""

    unfinished: ClassVar[str] = "no last word"
    ends_at_done: ClassVar[bool] = True

    def __init__(self) -> None:
        self._has_begun = False
        self._said_bye = False

    @property
    def is_finished(self) -> bool:
        """Whether a goodbye has come."""
        return self._said_bye

    def read(self, found: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        """Take one word."""
        if found.get("error") or found.get("type") == "error":
            progress.report(found, found)
        if not self._has_begun:
            self._has_begun = True
            parts.append(TextStart(id="0"))
        if text_in(found, "say"):
            parts.append(TextDelta(id="0", delta=text_in(found, "say")))
        if found.get("last"):
            progress.complete()
        self._said_bye = bool(found.get("bye"))

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """End the text."""
        parts.append(TextEnd(id="0", provider_metadata={"words": {"whole": is_whole}}))

    def finish(self, *, failed: bool) -> FinishPart:
        """The last part."""
        return FinishPart(finish_reason=FinishReason(unified="error" if failed else "stop"), usage=Usage())


class Shouts(Words):
    """A format that ``[DONE]`` says nothing in."""

    ends_at_done: ClassVar[bool] = False


def events(*data: str, name: str = "message") -> list[ServerSentEvent]:
    """Events with this data."""
    return [ServerSentEvent(text.encode(), name) for text in data]


def kinds(parts: list[StreamPart]) -> list[str]:
    """What the parts are."""
    return [part.type for part in parts]


def failure_of(parts: list[StreamPart]) -> object:
    """The failure that the parts tell of."""
    (error,) = [part.error for part in parts if isinstance(part, ErrorPart)]
    return error


def test_what_follows_the_terminal_marker_is_not_read() -> None:
    decoder = AnswerDecoder(Words())

    parts = decoder.feed_events(events('{"say": "a"}', " ", "[DONE]", '{"say": "b"}'))

    assert decoder.is_over
    assert kinds([*parts, *decoder.end()]) == ["text-start", "text-delta", "text-end", "finish"]


def test_a_marker_that_says_nothing_in_a_format_ends_nothing() -> None:
    decoder = AnswerDecoder(Shouts())

    parts = decoder.feed_events(events('{"say": "a"}', "[DONE]", '{"say": "b", "last": true}'))

    assert kinds(parts) == ["text-start", "text-delta", "text-delta"]
    assert decoder.is_over


def test_several_objects_may_come_in_one_event() -> None:
    decoder = AnswerDecoder(Words(), include_raw=True)

    parts = decoder.feed_events(events('[{"say": "a"}, {"say": "b"}]'))

    assert kinds(parts) == ["raw", "text-start", "text-delta", "raw", "text-delta"]


@pytest.mark.parametrize("data", ["1", '"text"', "null", "[1]"])
def test_what_is_no_object_breaks_the_answer_off(data: str) -> None:
    decoder = AnswerDecoder(Words())

    parts = [*decoder.feed_events(events('{"say": "a"}', data, '{"say": "b"}')), *decoder.end()]

    assert kinds(parts) == ["text-start", "text-delta", "text-end", "error", "finish"]
    assert isinstance(failure_of(parts), TypeValidationError)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"message": "busy"}', "busy"),
        ('"busy"', "busy"),
        ("17", "unknown form: 17"),
        ('{"error": {"message": "busy"}}', "busy"),
        ('{"type": "error", "message": "busy"}', "busy"),
    ],
)
def test_an_event_called_error_is_a_failure_whatever_it_holds(data: str, message: str) -> None:
    decoder = AnswerDecoder(Words())
    decoder.feed_events([*events('{"say": "a"}'), *events(data, name="error")])

    parts = decoder.end()

    assert message in str(failure_of(parts))


@pytest.mark.parametrize(
    "reader", [ChunkReader("chat"), GoogleReader(Toolbox(None, ModelTraits()))], ids=["chat", "google"]
)
def test_an_event_called_error_is_a_failure_even_in_a_form_of_another_format(reader: AnswerReader) -> None:
    decoder = AnswerDecoder(reader)
    data = '{"type": "error", "message": "overloaded, sorry", "code": "overloaded"}'

    decoder.feed_events(events(data, name="error"))

    with pytest.raises(StreamProviderError, match="overloaded, sorry") as caught:
        decoder.end()
    assert caught.value.code == "overloaded"


def test_a_failure_before_any_content_is_raised() -> None:
    decoder = AnswerDecoder(Words(), hide=lambda said: said.replace("sk-1", "***"))

    decoder.feed_events(events('{"other": 1}', '{"error": "bad key sk-1"}'))

    assert not decoder.has_content
    with pytest.raises(StreamProviderError, match=r"bad key \*\*\*"):
        decoder.end()


def test_an_answer_that_says_why_it_ended_needs_no_marker() -> None:
    done, broken = AnswerDecoder(Words()), AnswerDecoder(Words())
    done.feed({"say": "a", "bye": True})
    broken.feed({"say": "a"})

    assert kinds(done.end()) == ["text-end", "finish"]
    assert isinstance(failure_of(broken.end()), StreamInterruptedError)


def test_json_that_stops_short_at_the_end_of_the_body_only_says_that_it_was_cut() -> None:
    decoder = AnswerDecoder(Words())

    decoder.feed_events(events('{"say": "a"}'))
    decoder.feed_events(events('{"say'), is_rest=True)

    assert isinstance(failure_of(decoder.end()), StreamInterruptedError)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"a": 1, "b": 2}, "no answer but an object with a, b: check base_url"),
        ({}, "an object with no members"),
        ([1, 2], r"but \[1, 2\]"),
    ],
)
def test_a_body_that_is_no_answer_is_told_by_what_it_is(body: JsonValue, shown: str) -> None:
    with pytest.raises(TypeValidationError, match=shown):
        raise no_answer("answer", body)
