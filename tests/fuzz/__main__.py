"""Fuzzes the decoders of the wire formats: ``python -m tests.fuzz --seconds 600 [--format NAME] [--seed N]``.

Prints how many answers were run and what came of them; each place of a fault once, with the answer in a file. Exits
with 1 if there is one.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.forms import FORMS
from tests.fuzz.run import Fuzzer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fuzz.run import Report


def main(arguments: Sequence[str]) -> int:
    """Fuzz what the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the decoders of the wire formats.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each format")
    parser.add_argument("--runs", type=int, help="at most that many, for each format")
    parser.add_argument("--format", choices=sorted(FORMS), action="append", help="may be given several times")
    parser.add_argument("--seed", type=int, help="a number; without it another one each time")
    parser.add_argument("--faults", type=Path, help="a folder for the answers that are faults")
    told = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if told.seed is None else int(told.seed)
    found = 0
    for name in told.format or sorted(FORMS):
        report = Fuzzer(name, FORMS[name], seed=seed).run(seconds=told.seconds, runs=told.runs)
        found += len(report.faults)
        show(name, seed, report, told.faults)
    return 1 if found else 0


def show(name: str, seed: int, report: Report, folder: Path | None) -> None:
    """Print what was run, and keep what is a fault."""
    sys.stdout.write(f"{name}, seed {seed}: {report.runs} answers, {len(report.faults)} faults\n")
    for outcome, count in sorted(report.outcomes.items()):
        sys.stdout.write(f"  {count:8} {outcome}\n")
    for digest, fault in report.faults.items():
        sys.stdout.write(f"FAULT {digest} in run {fault.run}, {fault.kind}\n{fault.told}\n")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            folder.joinpath(f"{name.replace('/', '-')}-{digest}").write_bytes(fault.body)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
