"""Events of a streamed answer as stream parts. Pure; a complete answer goes the same way, item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeAlias

from onion.providers._json import count_in, object_in, objects_in, text_in
from onion.providers._tooling import random_call_id
from onion.providers.openai_responses.answer import Answer
from onion.providers.openai_responses.envelope import Envelope
from onion.providers.openai_responses.items import REASONING_TEXT
from onion.providers.openai_responses.places import Places
from onion.providers.openai_responses.texts import REFUSAL, SUMMARY, TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.providers._model import Progress
    from onion.spec.base import JsonObject
    from onion.spec.parts import FinishPart, StreamPart

_Handler: TypeAlias = "Callable[[Answer, int, JsonObject, list[StreamPart]], None]"

_TERMINAL = frozenset({"completed", "incomplete", "cancelled"})


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


class EventReader:
    """Reads the events of one answer.

    Args:
        name: Key of the provider metadata: the name under which the next request finds it again.
        tool_names: By provider tool, the caller's name for it.
        generate_id: Gives ids to calls that come without.
    """

    unfinished: ClassVar[str] = "the stream ended without response.completed: nobody knows whether the answer is whole"
    ends_at_done: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        *,
        tool_names: Mapping[str, str] | None = None,
        generate_id: Callable[[], str] = random_call_id,
    ) -> None:
        self._answer = Answer(name, tool_names or {}, generate_id)
        self._envelope = Envelope(name)
        self._places = Places()

    @property
    def is_finished(self) -> bool:
        """Never: only the terminal event says that an answer is whole."""
        return False

    def read(self, found: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        """Take one event."""
        kind = text_in(found, "type")
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self._answer, self._places.of(found), found, parts)
        elif kind == "error" or (found.get("error") and not kind):
            progress.report({"error": found.get("error") or _without_envelope(found)}, found)
        elif "response" in found:
            self._envelope.read_beside(found)
            self._read_response(object_in(found, "response"), kind.rpartition(".")[2], parts, progress)

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The answer is over: end what is open, unless its last event did so."""
        if not is_whole:
            self._answer.abandon(parts)

    def finish(self, *, failed: bool) -> FinishPart:
        """The last part of the answer."""
        self._envelope.logprobs = self._answer.texts.logprobs
        return self._envelope.finish(
            has_calls=self._answer.calls.has_calls, is_refusal=self._answer.texts.is_refusal, failed=failed
        )

    def _read_response(self, response: JsonObject, status: str, parts: list[StreamPart], progress: Progress) -> None:
        """Take what *response* says of itself; the answer ends with it if its *status* says so."""
        self._envelope.read(response, parts)
        if status == "failed":
            progress.report({"error": response.get("error") or "the response failed"}, response.get("error"))
        elif status in _TERMINAL:
            progress.complete()
            self._answer.complete(objects_in(response, "output"), parts)
