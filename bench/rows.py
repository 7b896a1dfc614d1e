"""The table: rows with targets, the groups that give their figures, and what a run of them found."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bench.jobs import Job
from bench.rounds import Figures

Unit: TypeAlias = Literal["x", "µs", "ms", "MB", "KiB", ""]

Value: TypeAlias = Callable[[Figures], float]
"""The figure of a row in one round. KeyError: what it needs was not measured."""

CALIBRATION = "calibration"
"""Name of the job that tells how fast the machine is: the hand-written loop, ten steps of one tool."""

CALIBRATION_MICROSECONDS = 17.4
"""What it took per step on the machine for which the targets in microseconds were set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table.

    Attributes:
        name: How the command line names it; begins with the name of its group.
        title: What is measured.
        limit: The largest figure that meets the target.
        value: Makes the figure of one round.
        is_scaled: The target is in microseconds of the machine it was set on.
        is_lowest: The best round counts instead of the median: what disturbs can only add.
        is_optional: It needs a peer; that this one is not there is no failure.
    """

    name: str
    title: str
    limit: float
    unit: Unit
    value: Value
    is_scaled: bool = False
    is_lowest: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Jobs that take turns, and the rows that are made of their figures."""

    name: str
    jobs: Mapping[str, Job]
    rows: Sequence[Row]
    rounds: int = 9
    needs_server: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found for a row.

    Attributes:
        figure: Median of the rounds, on the scale of the target; None if it was not measured.
        raw: The same as this machine measured it.
        low: Smallest figure of a round.
        high: Largest figure of a round.
        why: Why there is none.
        is_absent: There is none because a job of the row is not there at all, rather than because it failed.
    """

    row: Row
    figure: float | None = None
    raw: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    is_absent: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the target is met, or is one of a peer that is not there."""
        if self.figure is None:
            return self.row.is_optional and self.is_absent
        return self.figure <= self.row.limit


def figure(name: str, *, per: int = 1) -> Value:
    """One of the figures, for each of so many."""
    return lambda figures: figures[name] / per


def ratio(subject: str, base: str) -> Value:
    """How many times *base* the *subject* is."""
    return lambda figures: figures[subject] / figures[base]


def difference(subject: str, base: str) -> Value:
    """How much the *subject* is more than *base*."""
    return lambda figures: figures[subject] - figures[base]


class _Asked(dict[str, float]):
    """Figures that note which of them were looked at."""

    def __missing__(self, name: str) -> float:
        self[name] = 1.0
        return 1.0


def jobs_for(rows: Sequence[Row], jobs: Mapping[str, Job]) -> dict[str, Job]:
    """Those of *jobs* that *rows* need."""
    asked = _Asked()
    for row in rows:
        row.value(asked)
        if row.is_scaled:
            asked[CALIBRATION] = 1.0
    needed = {name.partition(".")[0] for name in asked}
    return {name: job for name, job in jobs.items() if name in needed}


def finding(row: Row, rounds: Sequence[Figures], missing: Mapping[str, str]) -> Finding:
    """The figure of *row* over all rounds that have what it needs."""
    raw: list[float] = []
    scaled: list[float] = []
    lacks = ""
    for figures in rounds:
        try:
            found = row.value(figures)
            factor = CALIBRATION_MICROSECONDS / figures[CALIBRATION] if row.is_scaled else 1.0
        except KeyError as error:
            lacks = str(error.args[0])
            continue
        raw.append(found)
        scaled.append(found * factor)
    if not raw:
        why = missing.get(lacks.partition(".")[0])
        return Finding(row=row, why=why or f"{lacks} was not measured", is_absent=why is None)
    middle = min if row.is_lowest else statistics.median
    return Finding(
        row=row,
        figure=middle(scaled),
        raw=middle(raw),
        low=min(scaled),
        high=max(scaled),
    )
