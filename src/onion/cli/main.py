"""The console command `onion`: reads the command line, runs the command, turns failures into one line and a number."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onion.cli.loading import UsageError
from onion.cli.options import Options, build_parser
from onion.cli.render import Kind, error_text
from onion.cli.terminal import Terminal
from onion.errors import InvalidArgumentError, InvalidPromptError, NoSuchModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.cli.options import Command

DONE, FAILED, MISUSED, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 130, 141


def _run(options: Options, terminal: Terminal) -> int:
    from onion.cli.run import command

    return command(options, terminal)


def _chat(options: Options, terminal: Terminal) -> int:
    from onion.cli.chat import command

    return command(options, terminal)


def _explain(options: Options, terminal: Terminal) -> int:
    from onion.cli.explain import command

    return command(options, terminal)


def _fetch(options: Options, terminal: Terminal) -> int:
    from onion.cli.local import fetch

    return fetch(options, terminal)


def _serve(options: Options, terminal: Terminal) -> int:
    from onion.cli.local import serve

    return serve(options, terminal)


def _cache(name: str) -> Command:
    def run(options: Options, terminal: Terminal) -> int:
        from onion.cli import cache

        commands = {"ls": cache.ls, "show": cache.show, "stats": cache.stats, "clear": cache.clear}
        return commands[name](options, terminal)

    return run


_COMMANDS: Mapping[str, Command] = {
    "run": _run,
    "chat": _chat,
    "explain": _explain,
    "fetch": _fetch,
    "serve": _serve,
    **{f"cache-{name}": _cache(name) for name in ("ls", "show", "stats", "clear")},
}
"""Each loads what it needs when it runs: asking for help is quick."""


def main(argv: Sequence[str] | None = None, terminal: Terminal | None = None) -> int:
    """Run the command line *argv*, by default that of the process, and give the exit code.

    Raises:
        SystemExit: From argparse, after ``--help`` and for a command line that it cannot parse.
    """
    parser = build_parser(_COMMANDS)
    terminal = Terminal() if terminal is None else terminal
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help(terminal.stderr)
        return MISUSED
    options = parser.parse_args(argv, namespace=Options())
    try:
        return options.command(options, terminal)
    except KeyboardInterrupt:
        terminal.note("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Closed now, stdout is not flushed once more, in vain and with a traceback, when the interpreter ends.
        with contextlib.suppress(BrokenPipeError):
            terminal.stdout.close()
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
