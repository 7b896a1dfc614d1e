"""Failures become one line and an exit code."""

import io

import pytest

from onion.cli.main import main
from onion.cli.options import EXIT_CODES
from onion.cli.terminal import Terminal
from tests.cli.streams import Streams

HERE = "tests.cli.things"


class ClosedPipe(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(text)

    def close(self) -> None:
        super().close()
        raise BrokenPipeError


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("gpt", "onion: NoSuchModelError: 'gpt' names no language model"),
        ("nowhere:model", "nor is it module:object: no module 'nowhere'"),
        (f"{HERE}:NUMBER", "is a int, not a model"),
    ],
    ids=["no provider", "no module", "no model"],
)
def test_a_model_that_is_not_there_is_a_misuse(model: str, message: str) -> None:
    streams = Streams()

    code = main(["run", "hi", "--model", model], streams.terminal)

    assert code == 2
    assert message in streams.stderr
    assert streams.stderr.count("\n") == 1


def test_a_failure_of_the_users_code_is_one_line() -> None:
    streams = Streams()

    code = main(["explain", f"{HERE}:make_broken"], streams.terminal)

    assert code == 1
    assert streams.stderr == "onion: LookupError: cannot be made: no reason\n"


def test_debug_shows_the_traceback_as_well() -> None:
    streams = Streams()

    code = main(["explain", f"{HERE}:make_broken", "--debug"], streams.terminal)

    assert code == 1
    assert "Traceback (most recent call last)" in streams.stderr
    assert "in make_broken" in streams.stderr
    assert streams.stderr.endswith("onion: LookupError: cannot be made: no reason\n")


def test_a_reader_that_has_gone_is_no_failure_to_talk_about() -> None:
    stderr = io.StringIO()
    stdout = ClosedPipe()

    code = main(["explain", f"{HERE}:stack"], Terminal(stdout=stdout, stderr=stderr))

    assert code == 141
    assert stdout.closed
    assert stderr.getvalue() == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["dance"],
        ["run"],
        ["local"],
        ["run", "hi", "--max-steps", "0"],
        ["run", "hi", "--max-steps", "two"],
        ["run", "hi", "--max-output-tokens", "-1"],
        ["local", "serve", "--port", "70000"],
        ["local", "serve", "--port", "http"],
    ],
    ids=" ".join,
)
def test_a_command_line_that_cannot_be_parsed_exits_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2
    assert "usage: onion" in capsys.readouterr().err


def test_without_a_command_the_commands_are_listed() -> None:
    streams = Streams()

    code = main([], streams.terminal)

    assert code == 2
    assert all(f"\n    {name} " in streams.stderr for name in ("run", "chat", "explain", "local", "cache"))
    assert EXIT_CODES in streams.stderr


def test_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])

    assert caught.value.code == 0
    assert EXIT_CODES in capsys.readouterr().out
