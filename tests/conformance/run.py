"""Run every scenario of a folder: ``python -m tests.conformance.run [DIR]``.

Prints how many are equal to the reference, equal to Onion's own expectation, and failing, and the ids that fail.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
import warnings
from collections import Counter
from pathlib import Path

from tests.conformance.data import load
from tests.conformance.expectations import SCENARIOS, judge
from tests.conformance.runner import run_scenario

MAX_SHOWN = 6


def main(arguments: list[str]) -> int:
    """Run the scenarios; 0 if none fails."""
    warnings.simplefilter("error")
    folder = Path(arguments[0]) if arguments else SCENARIOS
    paths = [folder] if folder.is_file() else sorted(folder.glob("*.json"))
    if not paths:
        sys.stderr.write(f"{folder} holds no scenarios\n")
        return 2
    verdicts = {path.stem: verdict_on(path) for path in paths}
    failing = [scenario for scenario, (verdict, _) in verdicts.items() if verdict == "failing"]
    for scenario in failing:
        sys.stdout.write("\n    ".join([scenario, *verdicts[scenario][1][:MAX_SHOWN]]) + "\n")
    counts = Counter(verdict for verdict, _ in verdicts.values())
    sys.stdout.write(f"equal to the reference: {counts['reference']}\n")
    sys.stdout.write(f"equal to Onion's own expectation: {counts['onion']}\n")
    sys.stdout.write(f"failing: {counts['failing']}\n")
    if failing:
        sys.stdout.write(f"failing ids: {' '.join(failing)}\n")
    return 1 if failing else 0


def verdict_on(path: Path) -> tuple[str, list[str]]:
    """The verdict on one file; a crash of the runner is a failure too."""
    scenario = load(path)
    try:
        record = asyncio.run(run_scenario(scenario))
    except Exception:  # noqa: BLE001 - one scenario that cannot be run must not end the others
        return "failing", traceback.format_exc().splitlines()[-3:]
    return judge(scenario, record)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
