"""Runs the checks over a folder of recorded exchanges: ``python -m tests.recorded.run DIR``.

Prints counts and the ids that fail, and exits with 1 if any does.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from onion.errors import OnionError
from tests.recorded.anthropic import ANTHROPIC
from tests.recorded.exchanges import Exchange, load_exchanges
from tests.recorded.gemini import GEMINI
from tests.recorded.openai_chat import OPENAI_CHAT
from tests.recorded.openai_responses import OPENAI_RESPONSES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.recorded.checks import WireFormat

FORMATS: Mapping[str, WireFormat] = {
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "openai-chat": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
}
"""The wire formats that are built, and what is asked of their exchanges."""


def faults_of(exchange: Exchange) -> list[str]:
    """The faults found with an exchange of a format that is built; a crash is one."""
    try:
        return FORMATS[exchange.provider].check(exchange)
    except (OnionError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        return [f"crashed with {error!r}"]


def report(exchanges: list[Exchange], write: Callable[[str], object] = print) -> int:
    """Check *exchanges*, write what was found, and give the exit code."""
    passed: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    failed: dict[str, list[str]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.provider not in FORMATS:
            waiting[exchange.provider] += 1
        elif faults := faults_of(exchange):
            failed[exchange.id] = faults
        else:
            passed[exchange.provider] += 1
    for name, faults in failed.items():
        write(f"FAILED {name}")
        for fault in faults[:10]:
            write(f"  {fault}")
    for name, count in sorted(passed.items()):
        write(f"{name}: {count} passed")
    for name, count in sorted(waiting.items()):
        write(f"waiting for {name}: {count}")
    write(f"passed {passed.total()}, failed {len(failed)}, waiting {waiting.total()}")
    return 1 if failed or not exchanges else 0


def main(arguments: list[str]) -> int:
    """Check the exchanges below the folder that the arguments name."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write("usage: python -m tests.recorded.run FOLDER\n")
        return 2
    return report(load_exchanges(Path(arguments[0])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
