"""Keeps what was found: as JSON beside the harness, and as the table in the documentation."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
from typing import TYPE_CHECKING

from bench import table
from bench.jobs import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.rows import Finding

RESULTS = ROOT / "bench" / "results.json"
PAGE = ROOT / "docs" / "performance.md"
BEGIN = "<!-- the table is written by `make bench-docs` -->\n"
END = "<!-- end of the table -->\n"


def machine() -> str:
    """Where and when it was measured, as far as it is of use to others."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    cores = os.cpu_count()
    return f"{today}, CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {cores} cores"


def as_json(found: Finding) -> dict[str, object]:
    """A finding, to be kept."""
    return {
        "row": found.row.name,
        "what": found.row.title,
        "target": found.row.limit,
        "unit": found.row.unit,
        "figure": found.figure,
        "as_measured": found.raw,
        "lowest": found.low,
        "highest": found.high,
        "is_met": found.is_met,
        "why_not_measured": found.why or None,
    }


def with_table(page: str, findings: Sequence[Finding]) -> str:
    """The page with another table.

    Raises:
        ValueError: When the page has no place for it.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return f"{before}{begin}\nMeasured {machine()}.\n\n{table.markdown(findings)}\n{end}{after}"


def write(findings: Sequence[Finding]) -> list[str]:
    """Write both files; their names."""
    kept = {"measured": machine(), "rows": [as_json(found) for found in findings]}
    RESULTS.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), findings), encoding="utf-8")
    return [file.relative_to(ROOT).as_posix() for file in (RESULTS, PAGE)]
