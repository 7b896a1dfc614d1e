"""The command line of the benchmark: `python -m bench [ROW or GROUP ...]`."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from bench import record, table
from bench.groups import groups
from bench.loopback import serving
from bench.peers.environments import ready
from bench.rounds import SERVER_CPU, Turns, cpu_for
from bench.rows import Finding, Group, Row, finding, jobs_for

if TYPE_CHECKING:
    from collections.abc import Sequence


def say(line: str) -> None:
    """Tell what is going on, beside the table."""
    print(f"# {line}", file=sys.stderr, flush=True)


def wanted(group: Group, words: Sequence[str]) -> list[Row]:
    """The group's rows whose names begin with one of *words*."""
    return [row for row in group.rows if not words or row.name.startswith(tuple(words))]


def measure(group: Group, rows: Sequence[Row], rounds: int | None) -> list[Finding]:
    """Run what those rows of the group need."""
    with serving(cpu=cpu_for(SERVER_CPU)) if group.needs_server else nullcontext("") as url:
        turns = Turns(jobs_for(rows, group.jobs), url=url, say=say)
        figures = turns.rounds(rounds or group.rounds)
    return [finding(row, figures, turns.missing) for row in rows]


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Onion against its targets.")
    parser.add_argument("rows", nargs="*", help="groups or rows, or how their names begin; all without it")
    parser.add_argument("--rounds", type=int, help="rounds of each group")
    parser.add_argument("--list", action="store_true", help="list the rows and their targets")
    parser.add_argument("--without-peers", action="store_true", help="leave the peers out even if they are there")
    parser.add_argument("--record", action="store_true", help="write the results and the table in the documentation")
    return parser


def main() -> None:
    """Run as a program."""
    parser = arguments()
    given = parser.parse_args()
    findings: list[Finding] = []
    for group in groups(() if given.without_peers else ready()):
        rows = wanted(group, given.rows)
        if given.list:
            findings += [Finding(row=row, why="only listed") for row in rows]
        elif rows:
            say(f"{group.name}: {', '.join(row.name.partition('.')[2] for row in rows)}")
            findings += measure(group, rows, given.rounds)
    if not findings:
        parser.error(f"no row begins with {' or '.join(given.rows)}; --list shows them")
    print(table.plain(findings))
    if given.list:
        return
    if given.record:
        say(f"written: {', '.join(record.write(findings))}")
    missed = [found.row.name for found in findings if not found.is_met]
    if missed:
        say(f"{len(missed)} of {len(findings)} targets missed: {', '.join(missed)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
