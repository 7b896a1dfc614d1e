"""Findings as text: for the terminal, and as the table in the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.rows import Finding, Unit

HEAD = ("row", "what", "target", "figure", "as measured", "rounds", "met")
TIMES = "\N{MULTIPLICATION SIGN}"
SMALL = 10.0
MIDDLE = 100.0


def number(found: float | None) -> str:
    """Three digits or so."""
    if found is None:
        return "-"
    size = abs(found)
    return f"{found:.3g}" if size < SMALL else f"{found:,.1f}" if size < MIDDLE else f"{found:,.0f}"


def with_unit(found: float | None, unit: Unit) -> str:
    """The figure as a reader wants it."""
    if found is None:
        return "-"
    return f"{number(found)} {TIMES}" if unit == "x" else f"{number(found)} {unit}".rstrip()


def cells(found: Finding) -> tuple[str, ...]:
    """The cells of one line."""
    row = found.row
    met = "yes" if found.is_met else "NO"
    if found.figure is None:
        met = f"not measured{'' if found.is_met else ' (NO)'}: {found.why}"
    return (
        row.name,
        row.title,
        f"≤ {with_unit(row.limit, row.unit)}",
        with_unit(found.figure, row.unit),
        with_unit(found.raw, row.unit) if row.is_scaled else "",
        f"{number(found.low)} to {number(found.high)}" if found.low is not None else "",
        met,
    )


def plain(findings: Sequence[Finding]) -> str:
    """Columns, for a terminal."""
    lines = [HEAD, *map(cells, findings)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=True)), line[-1]])
        for line in lines
    )


def markdown(findings: Sequence[Finding]) -> str:
    """A Markdown table."""
    lines = [HEAD, ("---",) * len(HEAD), *map(cells, findings)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
