"""The events of a streamed answer as stream parts. Pure; a complete answer is one big event to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._http import Failure, read_failure
from onion.providers._json import count_in, dump_json, object_in, objects_in, parse_json
from onion.providers.anthropic.containers import container_content
from onion.providers.anthropic.envelope import Envelope
from onion.providers.anthropic.reading import Reader
from onion.spec.parts import ErrorPart, RawPart, ReasoningStart, ResponseMetadata, TextStart, ToolInputStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onion.providers._sse import ServerSentEvent
    from onion.providers.anthropic.context import AnswerContext
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_OPENINGS = (ResponseMetadata, RawPart, TextStart, ReasoningStart, ToolInputStart)
_DONE = b"[DONE]"
_UNFINISHED = (
    "the stream ended without message_stop and without a stop reason: nobody knows whether the answer is whole"
)
_RESTARTED = "the server began the answer anew after a part of it had been passed on"


class EventDecoder:
    """Turns the events of one answer into parts that keep the stream grammar.

    Args:
        context: What is known of the call.
        include_raw: Hand out each event as it came, too.
        hide: Takes secrets out of what the server says of a failure.
    """

    def __init__(self, context: AnswerContext, *, include_raw: bool = False, hide: Callable[[str], str] = str) -> None:
        self.is_over: bool = False
        """Nothing more is to be read: the terminal marker or a failure has come."""
        self.has_content: bool = False
        """Something was handed out that a repeated call would say twice."""
        self._failure: Exception | None = None
        self._is_done = False
        self._include_raw = include_raw
        self._hide = hide
        self._envelope = Envelope()
        self._reader = Reader(context)

    def feed_events(self, events: Iterable[ServerSentEvent], *, is_rest: bool = False) -> list[StreamPart]:
        """The parts that *events* bring, up to the terminal marker. What cannot be read, `end` tells as the failure.

        Args:
            events: In the order of the stream.
            is_rest: They are what the body ended in, so that JSON that stops short only says that it was cut.
        """
        parts: list[StreamPart] = []
        for event in events:
            if self.is_over:
                break
            try:
                parts += self._read_data(event.data)
            except (JSONParseError, TypeValidationError) as error:
                if not is_rest:
                    self._break(error)
        return parts

    def feed(self, event: JsonObject) -> list[StreamPart]:
        """The parts that one parsed event brings."""
        parts: list[StreamPart] = [RawPart(raw_value=event)] if self._include_raw else []
        match event.get("type"):
            case "content_block_delta":
                self._reader.feed(count_in(event, "index"), object_in(event, "delta"), parts)
            case "content_block_start":
                self._start_block(event, parts)
            case "content_block_stop":
                self._reader.stop(count_in(event, "index"), parts)
            case "message_start":
                self._start(object_in(event, "message"), parts)
            case "message_delta":
                self._envelope.read_more(object_in(event, "delta"))
                self._envelope.read_more(event)
            case "message_stop":
                self._is_done = self.is_over = True
            case "error":
                self._fail(event)
            case _:  # pings, and what is yet to be invented
                if event.get("error"):
                    self._fail(event)
        self.has_content = self.has_content or not all(isinstance(part, _OPENINGS) for part in parts)
        return parts

    def end(self, failure: Exception | None = None) -> list[StreamPart]:
        """The last parts: what is open is ended, and the finish says how it went.

        Args:
            failure: Why the stream could not be read further, if it could not.

        Raises:
            Exception: The failure, if no content was handed out: then the call as a whole has failed.
        """
        failure = self._failure or failure
        if failure is None and not self._is_done and self._envelope.raw_reason is None:
            failure = StreamInterruptedError(_UNFINISHED)
        if failure is not None and not self.has_content:
            raise failure
        parts: list[StreamPart] = []
        self._reader.end(parts, is_whole=failure is None)
        if failure is not None:
            parts.append(ErrorPart(error=failure))
        elif self._envelope.container:
            parts.append(container_content(self._envelope.container))
        if self._reader.preamble:
            self._envelope.metadata["textBeforeJson"] = self._reader.preamble
        parts.append(
            self._envelope.finish(
                has_calls=self._reader.has_calls, json_text=self._reader.json_text, failed=failure is not None
            )
        )
        return parts

    def _read_data(self, data: bytes) -> list[StreamPart]:
        if data.startswith(_DONE):  # some gateways end every stream in the way of the chat format
            self._is_done = self.is_over = True
            return []
        if not data.strip():
            return []
        event = parse_json(data)
        if not isinstance(event, dict):
            msg = f"an event of the stream is no JSON object: {data[:80].decode('utf-8', 'replace')}"
            raise TypeValidationError(msg, value=event)
        return self.feed(event)

    def _start(self, message: JsonObject, parts: list[StreamPart]) -> None:
        """A message begins, perhaps with all of its content in it; a gateway that tries again begins it twice."""
        self._reader.restart(parts, keeps=self.has_content)
        self._envelope.read_start(message, parts)
        for block in objects_in(message, "content"):
            self._reader.start(None, block, parts)
            self._reader.stop(None, parts)

    def _start_block(self, event: JsonObject, parts: list[StreamPart]) -> None:
        index = count_in(event, "index")
        if self._reader.is_repeated(index):
            self._break(StreamInterruptedError(_RESTARTED))
        else:
            self._reader.start(index, object_in(event, "content_block"), parts)

    def _fail(self, event: JsonObject) -> None:
        failure = read_failure(event) or Failure(message="an error of unknown form")
        data: JsonValue = event.get("error") or event
        self._break(
            StreamProviderError(
                self._hide(f"the provider reported a failure inside the stream: {failure}"),
                type=failure.type,
                code=failure.code,
                status_code=failure.status_code,
                is_retryable=failure.is_retryable,
                data=parse_json(self._hide(dump_json(data).decode())),
            )
        )

    def _break(self, error: Exception) -> None:
        self.is_over = True
        self._failure = error
