"""Events of a streamed answer as stream parts. Pure; a complete answer goes the same way, item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._http import Failure, read_failure
from onion.providers._json import count_in, dump_json, object_in, objects_in, parse_json, text_in
from onion.providers._tooling import random_call_id
from onion.providers.openai_responses.answer import Answer
from onion.providers.openai_responses.envelope import Envelope
from onion.providers.openai_responses.items import REASONING_TEXT
from onion.providers.openai_responses.places import Places
from onion.providers.openai_responses.texts import REFUSAL, SUMMARY, TEXT
from onion.spec.parts import ErrorPart, RawPart, ReasoningStart, TextStart, ToolInputStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onion.providers._sse import ServerSentEvent
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_Handler: TypeAlias = "Callable[[Answer, int, JsonObject, list[StreamPart]], None]"

_OPENINGS = (TextStart, ReasoningStart, ToolInputStart)
_DONE = b"[DONE]"
_TERMINAL = frozenset({"completed", "incomplete", "cancelled"})
_UNFINISHED = "the stream ended without response.completed: nobody knows whether the answer is whole"


def _without_envelope(event: JsonObject) -> JsonObject:
    return {key: found for key, found in event.items() if key not in ("type", "sequence_number")}


def _text(kind: str, number: str) -> _Handler:
    def handle(answer: Answer, index: int, event: JsonObject, parts: list[StreamPart]) -> None:
        answer.say(index, (kind, count_in(event, number) or 0), text_in(event, "delta"), parts)

    return handle


def _input(answer: Answer, index: int, event: JsonObject, parts: list[StreamPart]) -> None:
    answer.write(index, text_in(event, "delta"), parts)


def _added(answer: Answer, index: int, event: JsonObject, parts: list[StreamPart]) -> None:
    answer.begin(index, object_in(event, "item"), parts)


def _done(answer: Answer, index: int, event: JsonObject, parts: list[StreamPart]) -> None:
    answer.done(index, object_in(event, "item"), parts)


def _cited(answer: Answer, index: int, event: JsonObject, parts: list[StreamPart]) -> None:
    answer.cite(index, count_in(event, "content_index") or 0, object_in(event, "annotation"), parts)


def _shown(answer: Answer, index: int, event: JsonObject, parts: list[StreamPart]) -> None:
    answer.show(index, event, parts)


_HANDLERS: Mapping[str, _Handler] = {
    "response.output_text.delta": _text(TEXT, "content_index"),
    "response.refusal.delta": _text(REFUSAL, "content_index"),
    "response.reasoning_summary_text.delta": _text(SUMMARY, "summary_index"),
    "response.reasoning_summary_part.added": _text(SUMMARY, "summary_index"),
    "response.reasoning_text.delta": _text(REASONING_TEXT, "content_index"),
    "response.output_item.added": _added,
    "response.output_item.done": _done,
    "response.output_text.annotation.added": _cited,
    "response.function_call_arguments.delta": _input,
    "response.custom_tool_call_input.delta": _input,
    "response.mcp_call_arguments.delta": _input,
    "response.code_interpreter_call_code.delta": _input,
    "response.image_generation_call.partial_image": _shown,
}
"""What brings something new. All other events repeat or announce, and so may those that are not known yet."""


class EventDecoder:
    """Turns the events of one answer into parts that keep the stream grammar.

    Feed it every event, and `end` it once.

    Args:
        name: Key of the provider metadata: the name under which the next request finds it again.
        tool_names: By provider tool, the caller's name for it.
        generate_id: Gives ids to calls that come without.
        include_raw: Hand out each event as it came, too.
        hide: Takes secrets out of what the server says of a failure.
    """

    def __init__(
        self,
        *,
        name: str,
        tool_names: Mapping[str, str] | None = None,
        generate_id: Callable[[], str] = random_call_id,
        include_raw: bool = False,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.is_over: bool = False
        """Nothing more is to be read: the terminal event or a failure has come."""
        self.has_content: bool = False
        """Something was handed out that a repeated call would say twice."""
        self._failure: Exception | None = None
        self._is_done = False
        self._include_raw = include_raw
        self._hide = hide
        self._answer = Answer(name, tool_names or {}, generate_id)
        self._envelope = Envelope(name)
        self._places = Places()

    def feed(self, event: JsonObject) -> list[StreamPart]:
        """The parts that one parsed *event* brings."""
        parts: list[StreamPart] = []
        if self._include_raw:
            parts.append(RawPart(raw_value=event))
        kind = text_in(event, "type")
        handler = _HANDLERS.get(kind)
        if handler is not None:
            known = len(parts)
            handler(self._answer, self._places.of(event), event, parts)
            self._note_content(parts, known)
        elif kind == "error" or (event.get("error") and not kind):
            self.fail({"error": event.get("error") or _without_envelope(event)}, event)
        elif "response" in event:
            self._envelope.read_beside(event)
            self.read(object_in(event, "response"), parts, status=kind.rpartition(".")[2])
        return parts

    def read(self, response: JsonObject, parts: list[StreamPart], *, status: str) -> None:
        """Take what *response* says of itself; the answer ends with it if its *status* says so."""
        self._envelope.read(response, parts)
        if status == "failed":
            self.fail({"error": response.get("error") or "the response failed"}, response.get("error"))
        elif status in _TERMINAL:
            self.is_over = self._is_done = True
            known = len(parts)
            self._answer.complete(objects_in(response, "output"), parts)
            self._note_content(parts, known)

    def feed_events(self, events: Iterable[ServerSentEvent], *, is_rest: bool = False) -> list[StreamPart]:
        """The parts that *events* bring, up to the terminal one. What cannot be read, `end` tells as the failure.

        Args:
            events: In the order of the stream.
            is_rest: They are what the body ended in, so that JSON that stops short only says that it was cut.
        """
        parts: list[StreamPart] = []
        for event in events:
            if self.is_over:
                break
            try:
                parts += self._read_event(event)
            except (JSONParseError, TypeValidationError) as error:
                if not is_rest:
                    self.is_over = True
                    self._failure = error
        return parts

    def fail(self, report: JsonValue, data: JsonValue) -> None:
        """The server reports a failure instead of going on; *data* is how it said so."""
        failure = read_failure(report) or Failure(message=f"an error of unknown form: {report!r}")
        self.is_over = True
        self._failure = StreamProviderError(
            self._hide(f"the provider reported a failure inside the stream: {failure}"),
            type=failure.type,
            code=failure.code,
            status_code=failure.status_code,
            is_retryable=failure.is_retryable,
            data=parse_json(self._hide(dump_json(data).decode())),
        )

    def end(self, failure: Exception | None = None) -> list[StreamPart]:
        """The last parts: what is open is ended, and the finish says how it went.

        Args:
            failure: Why the stream could not be read further, if it could not.

        Raises:
            Exception: The failure, if no content was handed out: then the call as a whole has failed.
        """
        failure = failure or self._failure
        if failure is None and not self._is_done:
            failure = StreamInterruptedError(_UNFINISHED)
        if failure is not None and not self.has_content:
            raise failure
        parts: list[StreamPart] = []
        if failure is not None:
            self._answer.abandon(parts)
            parts.append(ErrorPart(error=failure))
        self._envelope.logprobs = self._answer.texts.logprobs
        parts.append(
            self._envelope.finish(
                has_calls=self._answer.calls.has_calls,
                is_refusal=self._answer.texts.is_refusal,
                failed=failure is not None,
            )
        )
        return parts

    def _note_content(self, parts: list[StreamPart], known: int) -> None:
        if not self.has_content:
            self.has_content = not all(isinstance(part, _OPENINGS) for part in parts[known:])

    def _read_event(self, event: ServerSentEvent) -> list[StreamPart]:
        data = event.data
        if data.startswith(_DONE) or not data.strip():  # OpenRouter ends with what is no JSON
            return []
        found = parse_json(data)
        if event.event == "error" and isinstance(found, dict) and "type" not in found:
            self.fail({"error": found.get("error") or found}, found)
            return []
        if not isinstance(found, dict):
            msg = f"an event of the stream is no JSON object: {data[:80].decode('utf-8', 'replace')}"
            raise TypeValidationError(msg, value=found)
        return self.feed(found)
