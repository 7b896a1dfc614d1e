"""The command line of the counts: `python -m bench.counts [--update]`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import TypedDict

from bench.counts.callgrind import find_valgrind, per_operation, ratios, run

RECORD = Path(__file__).with_name("counts.json")
MOST_GROWTH = 1.1
ELSEWHERE = 1.1
"""What may come to that on another build of Python: two of one version were seen to differ by up to 8 %."""
SIGNIFICANT = 4


class Record(TypedDict):
    """What is kept: multiples of the calibration, and the Python that counted, by version and by build."""

    python: str
    build: str
    paths: dict[str, float]


def version() -> str:
    """The Python that runs, as far as it matters: another release of the same version has the same bytecode."""
    return ".".join(platform.python_version_tuple()[:2])


def build() -> str:
    """The very Python that runs."""
    return f"{platform.python_version()}, {platform.python_compiler()}, {platform.machine()}"


def line(name: str, before: float | None, now: float | None, most: float) -> tuple[str, bool]:
    """A line of the report, and whether the path is all right."""
    if now is None:
        return f"{name}: recorded, but not counted any more", False
    if before is None:
        return f"{name}: {now:.4g}, not recorded yet", False
    growth = now / before
    remark = "  TOO MANY" if growth > most else "  a gain to record" if growth < 1 / most else ""
    return f"{name}: {now:.4g}, recorded {before:.4g} ({growth - 1:+.1%}){remark}", growth <= most


def compare(record: Record, found: dict[str, float]) -> bool:
    """Print what changed; whether nothing grew too much."""
    paths = record["paths"]
    most = MOST_GROWTH if record["build"] == build() else MOST_GROWTH * ELSEWHERE
    lines = [line(name, paths.get(name), found.get(name), most) for name in dict.fromkeys([*paths, *found])]
    for text, _ in lines:
        print(text)
    return all(is_fine for _, is_fine in lines)


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="python -m bench.counts", description="Count instructions of the hot paths.")
    parser.add_argument("--update", action="store_true", help="record what is counted instead of comparing")
    given = parser.parse_args()
    valgrind = find_valgrind()
    if valgrind is None:
        print("SKIPPED: instruction counts need valgrind, which is not installed here")
        sys.exit(1 if given.update else 0)
    found = ratios(per_operation(run(valgrind)))
    if given.update:
        kept = {name: float(f"{ratio:.{SIGNIFICANT}g}") for name, ratio in found.items()}
        RECORD.write_text(
            json.dumps(Record(python=version(), build=build(), paths=kept), indent=2) + "\n", encoding="utf-8"
        )
        print(f"recorded {len(kept)} paths in {RECORD.name}")
        return
    record: Record = json.loads(RECORD.read_text(encoding="utf-8"))
    if record["python"] != version():
        print(f"SKIPPED: recorded for Python {record['python']}, this is {version()}, whose bytecode is another")
        return
    if not compare(record, found):
        print(
            f"A path takes over {MOST_GROWTH - 1:.0%} more than recorded. If that is meant: make bench-counts UPDATE=1"
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
