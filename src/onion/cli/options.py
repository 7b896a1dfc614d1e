"""What can be written on the command line, and what it is called afterwards."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TypeAlias

from onion.cli.terminal import Terminal

DEFAULT_MODEL = "local"
DEFAULT_MAX_STEPS = 5
_HIGHEST_PORT = 65535

Command: TypeAlias = Callable[["Options", Terminal], int]
"""Does what the options ask for and gives the exit code."""

EXIT_CODES = """\
exit codes:
  0    done
  1    the run failed; stderr says why
  2    the command line asks for something that is not there
  130  interrupted with Ctrl-C
  141  whoever read the output has closed it
"""


class Options(argparse.Namespace):
    """The parsed command line; each command sets those that it has."""

    command: Command
    debug: bool
    model: str
    tools: str | None
    system: str | None
    max_steps: int
    max_output_tokens: int | None
    prompt: str
    json: bool
    target: str
    key: str
    weights: str | None
    host: str
    port: int


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        msg = f"{text!r} is not a whole number from 1"
        raise argparse.ArgumentTypeError(msg)
    return number


def port(text: str) -> int:
    """The number of a port; 0 lets the system choose."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= _HIGHEST_PORT:
        msg = f"{text!r} is not a port: 0 to {_HIGHEST_PORT}, where 0 lets the system choose"
        raise argparse.ArgumentTypeError(msg)
    return number


def build_parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The parser; *commands* holds what does the work, by name, as ``run`` or ``cache-ls``."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show the whole traceback of a failure")
    parser = argparse.ArgumentParser(
        prog="onion",
        description="Language models behind layers, from the command line.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    groups = parser.add_subparsers(title="commands", metavar="command", required=True)

    run = groups.add_parser("run", parents=[common], help="answer one prompt, with tools if they are named")
    run.add_argument("prompt", help="the prompt; '-' reads it from stdin")
    _add_model_options(run)
    run.add_argument("--json", action="store_true", help="write each part of the stream as one line of JSON")
    run.set_defaults(command=commands["run"])

    chat = groups.add_parser("chat", parents=[common], help="talk with a model, line by line")
    _add_model_options(chat)
    chat.set_defaults(command=commands["chat"])

    explain = groups.add_parser("explain", parents=[common], help="draw the layers of a model")
    explain.add_argument(
        "target", metavar="module:object", help="a model, or a function without arguments that makes one"
    )
    explain.add_argument("--json", action="store_true", help="write the layers as JSON")
    explain.set_defaults(command=commands["explain"])

    _add_local(
        groups.add_parser("local", help="the local model: fetch its weights, serve it over HTTP"), common, commands
    )
    _add_cache(groups.add_parser("cache", help="look into a cache on disk or in Redis"), common, commands)
    return parser


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="'local', 'local:weights.gguf', 'openai.chat:gpt-5' or module:object (default: %(default)s)",
    )
    parser.add_argument("--tools", metavar="TOOLS", help="'demo' for the built-in ones, or module:object")
    parser.add_argument("--system", metavar="TEXT", help="instructions for the model")
    parser.add_argument(
        "--max-steps",
        type=positive,
        default=DEFAULT_MAX_STEPS,
        metavar="N",
        help="most model calls (default: %(default)s)",
    )
    parser.add_argument(
        "--max-output-tokens",
        type=positive,
        metavar="N",
        help="longest answer of a step, in tokens (default: 256 for the local model, else the provider's)",
    )


def _add_local(
    parser: argparse.ArgumentParser, common: argparse.ArgumentParser, commands: Mapping[str, Command]
) -> None:
    groups = parser.add_subparsers(title="commands", metavar="command", required=True)

    fetch = groups.add_parser("fetch", parents=[common], help="download the weights, unless they are there already")
    fetch.set_defaults(command=commands["fetch"])

    serve = groups.add_parser("serve", parents=[common], help="serve the local model until Ctrl-C")
    serve.add_argument("--weights", metavar="FILE.gguf", help="another model (default: the one that was fetched)")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    serve.add_argument(
        "--port", type=port, default=8080, metavar="N", help="port; 0 lets the system choose (default: %(default)s)"
    )
    serve.set_defaults(command=commands["serve"])


def _add_cache(
    parser: argparse.ArgumentParser, common: argparse.ArgumentParser, commands: Mapping[str, Command]
) -> None:
    groups = parser.add_subparsers(title="commands", metavar="command", required=True)
    helps = {
        "ls": "list the entries, oldest first",
        "show": "write one entry as JSON",
        "stats": "count the entries and their bytes",
        "clear": "remove all entries",
    }
    for name, text in helps.items():
        command = groups.add_parser(name, parents=[common], help=text)
        command.add_argument("target", metavar="STORE", help="the folder of a DiskStore, or a redis:// URL")
        if name == "show":
            command.add_argument("key", metavar="KEY", help="a key, or enough of its beginning")
        if name in {"ls", "stats"}:
            command.add_argument("--json", action="store_true", help="write JSON")
        command.set_defaults(command=commands[f"cache-{name}"])
