"""The chunks of a streamed answer as stream parts. Pure; a complete answer is one big chunk to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._http import Failure, read_failure
from onion.providers._json import dump_json, object_in, objects_in, parse_json
from onion.providers._tooling import random_call_id
from onion.providers.google.envelope import Envelope
from onion.providers.google.reading import Reader
from onion.providers.google.sources import sources_of
from onion.spec.parts import ErrorPart, RawPart, ReasoningStart, ResponseMetadata, TextStart, ToolInputStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onion.providers._sse import ServerSentEvent
    from onion.providers.google.toolbox import Toolbox
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_OPENINGS = (ResponseMetadata, RawPart, TextStart, ReasoningStart, ToolInputStart)
_DONE = b"[DONE]"
_UNFINISHED = "the stream ended without a finish reason: nobody knows whether the answer is whole"


class ChunkDecoder:
    """Turns the chunks of one answer into parts that keep the stream grammar.

    Args:
        toolbox: The tools of the call.
        include_raw: Hand out each chunk as it came, too.
        hide: Takes secrets out of what the server says of a failure.
        is_whole: The chunks are known to be the whole answer.
        generate_id: Gives the ids of calls that the server gave none.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        *,
        include_raw: bool = False,
        hide: Callable[[str], str] = str,
        is_whole: bool = False,
        generate_id: Callable[[], str] = random_call_id,
    ) -> None:
        self.is_over: bool = False
        """Nothing more is to be read: the terminal marker or a failure has come."""
        self.has_content: bool = False
        """Something was handed out that a repeated call would say twice."""
        self._failure: Exception | None = None
        self._is_done = is_whole
        self._include_raw = include_raw
        self._hide = hide
        self._envelope = Envelope()
        self._reader = Reader(toolbox, generate_id)

    def feed_events(self, events: Iterable[ServerSentEvent], *, is_rest: bool = False) -> list[StreamPart]:
        """The parts that *events* bring. What cannot be read, `end` tells as the failure.

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

    def feed(self, chunk: JsonObject) -> list[StreamPart]:
        """The parts that one parsed chunk brings."""
        parts: list[StreamPart] = [RawPart(raw_value=chunk)] if self._include_raw else []
        if chunk.get("error"):
            self._fail(chunk)
            return parts
        self._envelope.read(chunk, parts)
        for candidate in objects_in(chunk, "candidates"):
            if not candidate.get("index"):  # further candidates are other answers to the same prompt
                self._envelope.read_candidate(candidate)
                for part in objects_in(object_in(candidate, "content"), "parts"):
                    self._reader.read(part, parts)
        self.has_content = self.has_content or not all(isinstance(part, _OPENINGS) for part in parts)
        return parts

    def end(self, failure: Exception | None = None) -> list[StreamPart]:
        """The last parts: what is open is ended, and the finish says how it went.

        Args:
            failure: Why the stream could not be read further, if it could not.

        Raises:
            Exception: The failure, if no content was handed out: then the call as a whole has failed.
        """
        envelope = self._envelope
        failure = self._failure or failure
        if failure is None and not (self._is_done or envelope.raw_reason or envelope.blocked):
            failure = StreamInterruptedError(_UNFINISHED)
        if failure is not None and not self.has_content:
            raise failure
        parts: list[StreamPart] = []
        self._reader.end(parts, is_whole=failure is None)
        parts += sources_of(envelope.grounding, self._reader.text)
        if failure is not None:
            parts.append(ErrorPart(error=failure))
        parts.append(envelope.finish(has_calls=self._reader.has_calls, failed=failure is not None))
        return parts

    def _read_data(self, data: bytes) -> list[StreamPart]:
        if data.startswith(_DONE):  # some gateways end every stream in the way of the chat format
            self._is_done = self.is_over = True
            return []
        if not data.strip():
            return []
        parsed = parse_json(data)
        chunks = parsed if isinstance(parsed, list) else [parsed]
        if not all(isinstance(chunk, dict) for chunk in chunks):
            msg = f"a chunk of the stream is no JSON object: {data[:80].decode('utf-8', 'replace')}"
            raise TypeValidationError(msg, value=parsed)
        return [part for chunk in chunks if isinstance(chunk, dict) for part in self.feed(chunk)]

    def _fail(self, chunk: JsonObject) -> None:
        failure = read_failure(chunk) or Failure(message="an error of unknown form")
        data: JsonValue = chunk.get("error")
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
