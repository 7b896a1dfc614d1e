"""The events of a streamed answer as stream parts. Pure; a complete answer is one big event to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onion.errors import StreamInterruptedError
from onion.providers._json import count_in, object_in, objects_in
from onion.providers._model import holds_content
from onion.providers._tooling import random_call_id
from onion.providers.anthropic.containers import container_content
from onion.providers.anthropic.envelope import Envelope
from onion.providers.anthropic.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers._model import Progress
    from onion.providers.anthropic.context import AnswerContext
    from onion.spec.base import JsonObject
    from onion.spec.parts import FinishPart, StreamPart

_RESTARTED = "the server began the answer anew after a part of it had been passed on"


class EventReader:
    """Reads the events of one answer.

    Args:
        context: What is known of the call.
        generate_id: Gives ids to calls that come without, or with one that is taken.
    """

    unfinished: ClassVar[str] = (
        "the stream ended without message_stop and without a stop reason: nobody knows whether the answer is whole"
    )
    ends_at_done: ClassVar[bool] = True  # some gateways end every stream in the way of the chat format

    def __init__(self, context: AnswerContext, *, generate_id: Callable[[], str] = random_call_id) -> None:
        self._envelope = Envelope()
        self._reader = Reader(context, generate_id)

    @property
    def is_finished(self) -> bool:
        """Whether a stop reason has come."""
        return self._envelope.raw_reason is not None

    def read(self, found: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        """Take one event."""
        match found.get("type"):
            case "content_block_delta":
                self._reader.feed(count_in(found, "index"), object_in(found, "delta"), parts)
            case "content_block_start":
                self._start_block(found, parts, progress)
            case "content_block_stop":
                self._reader.stop(count_in(found, "index"), parts)
            case "message_start":
                self._start(object_in(found, "message"), parts, progress)
            case "message_delta":
                self._envelope.read_more(object_in(found, "delta"))
                self._envelope.read_more(found)
            case "message_stop":
                progress.complete()
            case kind:  # pings, and what is yet to be invented
                if kind == "error" or found.get("error"):
                    progress.report(found, found.get("error") or found)

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The answer is over: end what is open."""
        self._reader.end(parts, is_whole=is_whole)
        if is_whole and self._envelope.container:
            parts.append(container_content(self._envelope.container))

    def finish(self, *, failed: bool) -> FinishPart:
        """The last part of the answer."""
        if self._reader.preamble:
            self._envelope.metadata["textBeforeJson"] = self._reader.preamble
        return self._envelope.finish(has_calls=self._reader.has_calls, json_text=self._reader.json_text, failed=failed)

    def _start(self, message: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        """A message begins, perhaps with all of its content in it; a gateway that tries again begins it twice."""
        self._reader.restart(parts, keeps=progress.has_content or holds_content(parts))
        self._envelope.read_start(message, parts)
        for block in objects_in(message, "content"):
            self._reader.start(None, block, parts)
            self._reader.stop(None, parts)

    def _start_block(self, event: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        index = count_in(event, "index")
        if self._reader.is_repeated(index):
            progress.break_off(StreamInterruptedError(_RESTARTED))
        else:
            self._reader.start(index, object_in(event, "content_block"), parts)
