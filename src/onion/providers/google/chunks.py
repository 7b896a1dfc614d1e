"""The chunks of a streamed answer as stream parts. Pure; a complete answer is one big chunk to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onion.providers._json import object_in, objects_in
from onion.providers._tooling import random_call_id
from onion.providers.google.envelope import Envelope
from onion.providers.google.reading import Reader
from onion.providers.google.sources import sources_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers._model import Progress
    from onion.providers.google.toolbox import Toolbox
    from onion.spec.base import JsonObject
    from onion.spec.parts import FinishPart, StreamPart


class ChunkReader:
    """Reads the chunks of one answer.

    Args:
        toolbox: The tools of the call.
        is_whole: The chunks are known to be the whole answer.
        generate_id: Gives the ids of calls that the server gave none.
    """

    unfinished: ClassVar[str] = "the stream ended without a finish reason: nobody knows whether the answer is whole"
    ends_at_done: ClassVar[bool] = True  # some gateways end every stream in the way of the chat format

    def __init__(
        self, toolbox: Toolbox, *, is_whole: bool = False, generate_id: Callable[[], str] = random_call_id
    ) -> None:
        self._is_whole = is_whole
        self._envelope = Envelope()
        self._reader = Reader(toolbox, generate_id)

    @property
    def is_finished(self) -> bool:
        """Whether a finish reason has come, or the prompt was not read."""
        return bool(self._is_whole or self._envelope.raw_reason or self._envelope.blocked)

    def read(self, found: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        """Take one chunk."""
        if found.get("error"):
            progress.report(found, found.get("error"))
            return
        self._envelope.read(found, parts)
        for candidate in objects_in(found, "candidates"):
            if not candidate.get("index"):  # further candidates are other answers to the same prompt
                self._envelope.read_candidate(candidate)
                for part in objects_in(object_in(candidate, "content"), "parts"):
                    self._reader.read(part, parts)

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The answer is over: end what is open, and name what it rests on."""
        self._reader.end(parts, is_whole=is_whole)
        parts += sources_of(self._envelope.grounding, self._reader.text)

    def finish(self, *, failed: bool) -> FinishPart:
        """The last part of the answer."""
        return self._envelope.finish(has_calls=self._reader.has_calls, failed=failed)
