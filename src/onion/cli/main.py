"""The console command `onion`: reads the command line, runs the command, turns failures into one line and a number."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onion.cli import chat, explain, local, run
from onion.cli.loading import UsageError
from onion.cli.options import Options, build_parser
from onion.cli.render import Kind, error_text
from onion.cli.terminal import Terminal
from onion.errors import InvalidArgumentError, InvalidPromptError, NoSuchModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.cli.options import Command

DONE, FAILED, MISUSED, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 130, 141

_COMMANDS: Mapping[str, Command] = {
    "run": run.command,
    "chat": chat.command,
    "explain": explain.command,
    "fetch": local.fetch,
    "serve": local.serve,
}


def main(argv: Sequence[str] | None = None, terminal: Terminal | None = None) -> int:
    """Run the command line *argv*, by default that of the process, and give the exit code.

    Raises:
        SystemExit: From argparse, after ``--help`` and for a command line that it cannot parse.
    """
    options = build_parser(_COMMANDS).parse_args(argv, namespace=Options())
    terminal = Terminal() if terminal is None else terminal
    try:
        return options.command(options, terminal)
    except KeyboardInterrupt:
        terminal.note("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return CLOSED_PIPE
    except Exception as error:  # noqa: BLE001 - a program's user gets a line, not a traceback
        return _report(error, terminal, debug=options.debug)


def _report(error: Exception, terminal: Terminal, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error, file=terminal.stderr)
    message = str(error) if isinstance(error, UsageError) else error_text(error)
    terminal.note(f"onion: {message}", Kind.ERROR)
    is_misuse = isinstance(error, UsageError | NoSuchModelError | InvalidArgumentError | InvalidPromptError)
    return MISUSED if is_misuse else FAILED


def _drop_stdout() -> None:
    """Let the interpreter's last flush go nowhere, instead of failing once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
