"""Where the command line writes: the answer to stdout, everything about it to stderr, in colour where that helps."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TextIO, TypeAlias

from onion.cli.render import Kind, Piece

if TYPE_CHECKING:
    from rich.console import Console

Writer: TypeAlias = Callable[[str, str], object]
"""Writes a text in a style."""

_STYLES: Mapping[Kind, str] = {
    Kind.ANSWER: "",
    Kind.REASONING: "dim italic",
    Kind.TOOL: "cyan",
    Kind.NOTE: "yellow",
    Kind.FIGURES: "dim",
    Kind.ERROR: "bold red",
}
_TAB, _NEWLINE, _SPACE, _DELETE, _LAST_C1 = 0x09, 0x0A, 0x20, 0x7F, 0x9F
_CONTROLS = dict.fromkeys({*range(_SPACE), *range(_DELETE, _LAST_C1 + 1)} - {_TAB, _NEWLINE})


def rich_console(stream: TextIO) -> Console:
    """A console of rich, which knows what the terminal can do and what ``NO_COLOR`` asks for.

    Raises:
        ImportError: When rich is not installed.
    """
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


class Terminal:
    """The three streams of a program.

    Args:
        stdin: Where questions are answered from.
        stdout: For answers and JSON.
        stderr: For everything else.
        console: Makes the console for a stream that is a terminal; raises ImportError where there is none.
    """

    def __init__(
        self,
        *,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        console: Callable[[TextIO], Console] = rich_console,
    ) -> None:
        self.stdin: TextIO = sys.stdin if stdin is None else stdin
        self.stdout: TextIO = sys.stdout if stdout is None else stdout
        self.stderr: TextIO = sys.stderr if stderr is None else stderr
        for stream in (self.stdout, self.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A model may write what the terminal's encoding lacks; that must not end the run.
                stream.reconfigure(errors="replace")
        self._console = console
        self._writers: dict[bool, Writer] = {}

    def show(self, pieces: Iterable[Piece]) -> None:
        """Write pieces at once, the answer to stdout, the rest to stderr."""
        for piece in pieces:
            is_answer = piece.kind is Kind.ANSWER
            stream = self.stdout if is_answer else self.stderr
            writer = self._writers.get(is_answer)
            if writer is None:
                writer = self._writers[is_answer] = self._writer(stream)
            writer(piece.text, _STYLES[piece.kind])
            stream.flush()

    def line(self, text: str) -> None:
        """Write a line to stdout as it is, for machines and for what a command was asked for."""
        self.stdout.write(f"{text}\n")
        self.stdout.flush()

    def note(self, text: str, kind: Kind = Kind.NOTE) -> None:
        """Write a line to stderr."""
        self.show((Piece(kind, f"{text}\n"),))

    def ask(self, text: str) -> None:
        """Write *text* to stderr, for an answer on the same line."""
        self.show((Piece(Kind.NOTE, text),))

    def console(self) -> Console | None:
        """The console for stderr; None where that is no terminal or rich is not installed."""
        if not self.stderr.isatty():
            return None
        try:
            return self._console(self.stderr)
        except ImportError:
            return None

    def _writer(self, stream: TextIO) -> Writer:
        if not stream.isatty():
            return lambda text, _: stream.write(text)
        try:
            console = self._console(stream)
        except ImportError:
            return lambda text, _: stream.write(without_controls(text))
        return _rich_writer(console)


def _rich_writer(console: Console) -> Writer:
    from rich.segment import Segment, Segments
    from rich.style import Style

    def write(text: str, style: str) -> None:
        # Segments pass through as they are: rich would expand tabs and wrap, but it gets deltas and knows no columns.
        segments = Segments([Segment(without_controls(text), Style.parse(style))])
        console.print(segments, end="", soft_wrap=True)

    return write


def without_controls(text: str) -> str:
    """The text without control characters: a model or a tool must not steer the user's terminal."""
    return text.translate(_CONTROLS)
