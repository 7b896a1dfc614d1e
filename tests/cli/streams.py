"""Streams in memory for the command line, with and without a terminal behind them."""

from __future__ import annotations

import io

from onion.cli.terminal import Terminal


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Streams:
    """A `Terminal` on streams in memory, and what was written to them.

    Args:
        stdin: What the user types.
        is_terminal: Whether all three streams say that they are a terminal.
    """

    def __init__(self, stdin: str = "", *, is_terminal: bool = False) -> None:
        kind = FakeTerminal if is_terminal else io.StringIO
        self._stdout, self._stderr = kind(), kind()
        self.terminal = Terminal(stdin=kind(stdin), stdout=self._stdout, stderr=self._stderr)

    @property
    def stdout(self) -> str:
        """What went to stdout."""
        return self._stdout.getvalue()

    @property
    def stderr(self) -> str:
        """What went to stderr."""
        return self._stderr.getvalue()
