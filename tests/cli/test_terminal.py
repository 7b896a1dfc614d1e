"""Where the command line writes, and in which colours."""

import io
from collections.abc import Callable
from typing import TextIO

import pytest
from rich.console import Console

from onion.cli.render import Kind, Piece
from onion.cli.terminal import Terminal, without_controls
from tests.cli.streams import FakeTerminal, Streams

HOSTILE = "\x1b]0;title\x07\x1b[2Jplain\ttext\r\n\x9b31m"


def colourful(stream: TextIO) -> Console:
    """A console with colours, whatever the environment of the tests says."""
    return Console(file=stream, force_terminal=True, color_system="standard", highlight=False, no_color=False)


def without_rich(stream: TextIO) -> Console:
    """Stands for rich where it is not installed."""
    raise ImportError(stream)


def test_the_answer_goes_to_stdout_and_everything_about_it_to_stderr() -> None:
    streams = Streams()

    streams.terminal.show([Piece(Kind.ANSWER, "yes"), Piece(Kind.REASONING, "hm\n"), Piece(Kind.FIGURES, "1 s\n")])

    assert streams.stdout == "yes"
    assert streams.stderr == "hm\n1 s\n"


def test_a_pipe_gets_the_text_untouched() -> None:
    streams = Streams()

    streams.terminal.show([Piece(Kind.ANSWER, HOSTILE)])

    assert streams.stdout == HOSTILE


def test_a_terminal_gets_colours() -> None:
    stderr = FakeTerminal()
    terminal = Terminal(stdout=FakeTerminal(), stderr=stderr, console=colourful)

    terminal.note("failed", Kind.ERROR)

    assert "\x1b[1;31mfailed" in stderr.getvalue()


@pytest.mark.parametrize("console", [colourful, without_rich], ids=["rich", "no rich"])
def test_no_model_steers_the_terminal(console: Callable[[TextIO], Console]) -> None:
    stdout = FakeTerminal()
    terminal = Terminal(stdout=stdout, stderr=io.StringIO(), console=console)

    terminal.show([Piece(Kind.ANSWER, HOSTILE)])

    assert stdout.getvalue() == "]0;title[2Jplain\ttext\n31m"


def test_a_terminal_without_rich_gets_plain_text() -> None:
    stderr = FakeTerminal()
    terminal = Terminal(stdout=FakeTerminal(), stderr=stderr, console=without_rich)

    terminal.note("failed", Kind.ERROR)

    assert stderr.getvalue() == "failed\n"
    assert terminal.console() is None


def test_markup_in_an_answer_is_only_text() -> None:
    stdout = FakeTerminal()
    terminal = Terminal(stdout=stdout, stderr=io.StringIO())

    terminal.show([Piece(Kind.ANSWER, "[bold]:smile: [/]" + "long " * 100)])

    assert stdout.getvalue() == "[bold]:smile: [/]" + "long " * 100


def test_there_is_a_console_for_a_terminal_only() -> None:
    assert Streams().terminal.console() is None
    assert isinstance(Streams(is_terminal=True).terminal.console(), Console)


def test_a_character_that_the_encoding_lacks_does_not_end_the_run() -> None:
    raw = io.BytesIO()
    terminal = Terminal(stdout=io.TextIOWrapper(raw, encoding="ascii"), stderr=io.StringIO())

    terminal.line("naïve → yes")

    assert raw.getvalue() == b"na?ve ? yes\n"


def test_control_characters_but_tab_and_newline_are_dropped() -> None:
    assert without_controls("a\x00\x1b\x7f\x85\x9fb\t\nä") == "ab\t\nä"
