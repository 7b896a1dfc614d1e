"""What the views of a run show: each feed takes the parts of the full stream and keeps what its views hand out."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from onion.spec.full_stream import Abort, FinishStep, StartStep, StepRestart, TextDeltaOutput
from onion.spec.parts import ErrorPart, TextEnd
from onion.streaming import to_exception

if TYPE_CHECKING:
    from onion.loop.output_reader import OutputReader
    from onion.spec.full_stream import FullStreamPart

ItemT = TypeVar("ItemT")
_ENDINGS = (ErrorPart, Abort)


class Buffer(Generic[ItemT]):
    """What one view has still to hand out, and the error that follows."""

    __slots__ = ("error", "items")

    def __init__(self) -> None:
        self.items: deque[ItemT] = deque[ItemT]()
        self.error: BaseException | None = None

    def end(self, error: BaseException | None) -> None:
        """Nothing comes after *error*; the first one counts."""
        self.error = self.error or error


class Feed(Protocol):
    """Takes every part of the run."""

    def take(self, part: FullStreamPart) -> None:
        """Keep what the views show of *part*."""
        ...

    def end(self, failure: BaseException | None) -> None:
        """The run has ended."""
        ...


class FullFeed:
    """Every part. A failure is a part; the view raises only where none could be shown."""

    def __init__(self) -> None:
        self.buffer: Buffer[FullStreamPart] = Buffer()
        self._has_ending = False

    def take(self, part: FullStreamPart) -> None:
        """Keep it."""
        self.buffer.items.append(part)
        if isinstance(part, _ENDINGS):
            self._has_ending = True

    def end(self, failure: BaseException | None) -> None:
        """Raise what no part has shown."""
        if not self._has_ending:
            self.buffer.end(failure)


class TextFeed:
    """The pieces of text.

    Args:
        is_held: Hand out the text of a step once the step is done, because it may begin again.
    """

    def __init__(self, *, is_held: bool) -> None:
        self.buffer: Buffer[str] = Buffer[str]()
        self._held: list[str] | None = [] if is_held else None

    def take(self, part: FullStreamPart) -> None:
        """Keep its text, up to the first failure."""
        if type(part) is TextDeltaOutput:
            if self.buffer.error is None:
                (self.buffer.items if self._held is None else self._held).append(part.text)
        elif isinstance(part, ErrorPart):
            self._release()
            self.buffer.end(to_exception(part.error))
        elif isinstance(part, FinishStep):
            self._release()
        elif isinstance(part, StepRestart) and self._held:
            self._held.clear()

    def _release(self) -> None:
        if self._held:
            self.buffer.items.extend(self._held)
            self._held.clear()

    def end(self, failure: BaseException | None) -> None:
        """Raise what ended the run."""
        self._release()
        self.buffer.end(failure)


class OutputFeed:
    """Partial outputs and elements, read from the text once for all views that show them."""

    def __init__(self, reader: OutputReader[object]) -> None:
        self._reader = reader
        self.partials: list[Buffer[object]] = []
        self.elements: list[Buffer[object]] = []
        self._is_over = False

    def take(self, part: FullStreamPart) -> None:
        """Read its text, up to the first failure."""
        if self._is_over:
            return
        if type(part) is TextDeltaOutput:
            self._hand_out(is_new=self._reader.feed(part.id, part.text))
        elif isinstance(part, TextEnd):
            self._hand_out(is_new=self._reader.end_block(part.id))
        elif isinstance(part, StartStep | StepRestart):
            self._reader.start_step()
        elif isinstance(part, ErrorPart):
            self.end(to_exception(part.error))

    def _hand_out(self, *, is_new: bool) -> None:
        if is_new:
            for partials in self.partials:
                partials.items.append(self._reader.partial)
        if self.elements:
            taken = self._reader.take_elements()
            for elements in self.elements:
                elements.items.extend(taken)
                elements.end(self._reader.element_error)

    def end(self, failure: BaseException | None) -> None:
        """Raise what ended the run."""
        self._is_over = True
        for buffer in (*self.partials, *self.elements):
            buffer.end(failure)
