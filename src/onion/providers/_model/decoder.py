"""What reading a streamed answer is in every format: the events, the failures, the end. A format reads its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._http.failures import Failure, read_failure
from onion.providers._json import dump_json, parse_json
from onion.providers._model.wire import UNKNOWN
from onion.spec.parts import ErrorPart, RawPart, StreamStart
from onion.spec.result import ResponseInfo
from onion.streaming import BEFORE_CONTENT, Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onion.providers._model.wire import Exchange
    from onion.providers._sse import ServerSentEvent
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import FinishPart, StreamPart
    from onion.spec.result import GenerateResult

_DONE = b"[DONE]"
_SHOWN_BYTES = 80
_SHOWN_KEYS = 8


class Progress:
    """How far an answer has come; its reader says when there is nothing more to be read.

    Args:
        hide: Takes secrets out of what the server says of a failure.
    """

    __slots__ = ("_hide", "failure", "has_content", "is_complete", "is_over")

    def __init__(self, hide: Callable[[str], str]) -> None:
        self.is_over: bool = False
        """Nothing more is to be read: the terminal marker or a failure has come."""
        self.is_complete: bool = False
        """The terminal marker has come."""
        self.has_content: bool = False
        """Something was handed out that a repeated call would say twice."""
        self.failure: Exception | None = None
        self._hide = hide

    def complete(self) -> None:
        """The terminal marker has come."""
        self.is_over = self.is_complete = True

    def break_off(self, failure: Exception) -> None:
        """The answer cannot be read further."""
        self.is_over = True
        self.failure = failure

    def report(self, report: JsonValue, data: JsonValue) -> None:
        """The server reports a failure instead of going on.

        Args:
            report: In one of the forms of `read_failure`.
            data: What the error shows of it.
        """
        failure = read_failure(report) or Failure(message=f"an error of unknown form: {data!r}")
        self.break_off(
            StreamProviderError(
                self._hide(f"the provider reported a failure inside the stream: {failure}"),
                type=failure.type,
                code=failure.code,
                status_code=failure.status_code,
                is_retryable=failure.is_retryable,
                data=parse_json(self._hide(dump_json(data).decode())),
            )
        )


class AnswerReader(Protocol):
    """Reads one answer of one format; an `AnswerDecoder` feeds it."""

    unfinished: ClassVar[str]
    """What is said of a stream that stops before its answer does."""
    ends_at_done: ClassVar[bool]
    """``[DONE]`` says that the answer is complete; elsewhere it says nothing."""

    @property
    def is_finished(self) -> bool:
        """The answer said why it ended, so that it is whole without a terminal marker."""
        ...

    def read(self, found: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        """Take one object of the stream.

        Args:
            found: The object that an event holds.
            parts: Where the stream parts go.
            progress: Told of the terminal marker, and of failures.

        Raises:
            TypeValidationError: When it cannot be read at all.
        """
        ...

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The answer is over: end what is open; what is not *is_whole* is no call and no source."""
        ...

    def finish(self, *, failed: bool) -> FinishPart:
        """The last part of the answer."""
        ...


class AnswerDecoder:
    """Turns the events of one answer into parts that keep the stream grammar: a `StreamDecoder`.

    Args:
        reader: Of the format.
        include_raw: Hand out each object as it came, too.
        hide: Takes secrets out of what the server says of a failure.
    """

    def __init__(self, reader: AnswerReader, *, include_raw: bool = False, hide: Callable[[str], str] = str) -> None:
        from pydantic_core import from_json  # once per stream: programs that only import a provider do not load it

        self._reader = reader
        self._include_raw = include_raw
        self._progress = Progress(hide)
        self._from_json: Callable[[bytes], JsonValue] = from_json

    @property
    def is_over(self) -> bool:
        """Nothing more is to be read: the terminal marker or a failure has come."""
        return self._progress.is_over

    @property
    def has_content(self) -> bool:
        """Something was handed out that a repeated call would say twice."""
        return self._progress.has_content

    def feed_events(self, events: Iterable[ServerSentEvent], *, is_rest: bool = False) -> list[StreamPart]:
        """The parts that *events* bring, up to the terminal marker. What cannot be read, `end` tells as the failure.

        Args:
            events: In the order of the stream.
            is_rest: They are what the body ended in, so that JSON that stops short only says that it was cut.
        """
        progress = self._progress
        parts: list[StreamPart] = []
        for event in events:
            if progress.is_over:
                break
            try:
                self._read_event(event, parts, progress)
            except (JSONParseError, TypeValidationError) as error:
                if not is_rest:
                    progress.break_off(error)
        if not progress.has_content:
            progress.has_content = holds_content(parts)
        return parts

    def feed(self, found: JsonObject) -> list[StreamPart]:
        """The parts that one object brings.

        Raises:
            TypeValidationError: When it cannot be read at all.
        """
        parts: list[StreamPart] = []
        self._read(found, parts)
        self._progress.has_content = self._progress.has_content or holds_content(parts)
        return parts

    def end(self, failure: Exception | None = None) -> list[StreamPart]:
        """The last parts: what is open is ended, and the finish says how it went.

        Args:
            failure: Why the stream could not be read further, if it could not.

        Raises:
            Exception: The failure, if no content was handed out: then the call as a whole has failed.
        """
        progress, reader = self._progress, self._reader
        failure = progress.failure or failure
        if failure is None and not (progress.is_complete or reader.is_finished):
            failure = StreamInterruptedError(reader.unfinished)
        if failure is not None and not progress.has_content:
            raise failure
        parts: list[StreamPart] = []
        reader.end(parts, is_whole=failure is None)
        if failure is not None:
            parts.append(ErrorPart(error=failure))
        parts.append(reader.finish(failed=failure is not None))
        return parts

    def _read_event(self, event: ServerSentEvent, parts: list[StreamPart], progress: Progress) -> None:
        data = event.data
        try:
            found = self._from_json(data)
        except ValueError:
            if not data.strip():
                return
            if data.startswith(_DONE):
                if self._reader.ends_at_done:
                    progress.complete()
                return
            found = parse_json(data)
        if event.event == "error" and not _is_marked(found):
            progress.report({"error": found}, found)
        elif isinstance(found, dict):
            if self._include_raw:
                parts.append(RawPart(raw_value=found))
            self._reader.read(found, parts, progress)
            if event.event == "error" and progress.failure is None:  # marked in a way that the format does not know
                progress.report(found, found)
        else:
            for item in _objects(found, data):
                self._read(item, parts)

    def _read(self, found: JsonObject, parts: list[StreamPart]) -> None:
        if self._include_raw:
            parts.append(RawPart(raw_value=found))
        self._reader.read(found, parts, self._progress)


def holds_content(parts: Iterable[StreamPart]) -> bool:
    """Whether *parts* have something that a repeated call would say twice."""
    return not all(isinstance(part, BEFORE_CONTENT) for part in parts)


def whole_answer(
    reader: AnswerReader, objects: Iterable[JsonObject], body: JsonValue, exchange: Exchange = UNKNOWN
) -> GenerateResult:
    """The answer in one piece, which goes the way of the answer in many.

    Args:
        reader: Of the format.
        objects: What a stream of the same answer would hold.
        body: As it came.
        exchange: What the result says of the call.

    Raises:
        StreamProviderError: When it reports a failure.
        TypeValidationError: When it cannot be read.
    """
    decoder = AnswerDecoder(reader)
    collector = Collector()
    collector.feed(StreamStart(warnings=exchange.warnings))
    for found in objects:
        if not decoder.is_over:
            for part in decoder.feed(found):
                collector.feed(part)
    for part in decoder.end():
        collector.feed(part)
    return collector.result(request=exchange.request, response=ResponseInfo(headers=exchange.headers, body=body))


def no_answer(wanted: str, body: JsonValue) -> TypeValidationError:
    """The error for a *body* that is no *wanted*: it says what it is instead."""
    keys = ", ".join(list(body)[:_SHOWN_KEYS]) if isinstance(body, dict) else ""
    shown = f"an object with {keys or 'no members'}" if isinstance(body, dict) else repr(body)[:80]
    return TypeValidationError(f"the answer is no {wanted} but {shown}: check base_url", value=body)


def _is_marked(found: JsonValue) -> bool:
    """Whether *found* says itself that it is a failure, in the way of its format."""
    return isinstance(found, dict) and (bool(found.get("error")) or found.get("type") == "error")


def _objects(found: JsonValue, data: bytes) -> list[JsonObject]:
    """The objects of a list: some servers send several at once."""
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        msg = f"an event of the stream holds no JSON object: {data[:_SHOWN_BYTES].decode('utf-8', 'replace')}"
        raise TypeValidationError(msg, value=found)
    return [item for item in found if isinstance(item, dict)]
