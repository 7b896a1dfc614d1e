"""A fixed piece of pure Python. Counts are kept as multiples of it, so that builds of Python can be compared.

Changing it changes the meaning of every recorded figure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

ROUNDS = 100
EXPECTED = 7039
"""What the work gives; another number means that it was changed."""


@dataclass(slots=True)
class Point:
    """Something with attributes and a method."""

    name: str
    x: int
    y: int

    def moved(self, by: int) -> Point:
        """Another point."""
        return Point(self.name, self.x + by, self.y - by)


def numbers(count: int) -> list[int]:
    """A list made by a generator."""
    return list(number * 3 % 7 for number in range(count))  # noqa: C400 -- a generator is to be counted


def work(rounds: int) -> int:
    """Calls, attributes, dictionaries, texts, a generator, an exception, JSON."""
    seen: dict[str, Point] = {}
    total = 0
    for number in range(rounds):
        point = Point(f"point-{number % 10}", number, rounds).moved(number & 3)
        seen[point.name] = point
        try:
            total += seen[f"point-{number % 11}"].x
        except KeyError as missing:
            total += len(missing.args)
        text = json.dumps({"name": point.name, "at": [point.x, point.y]})
        total += len(json.loads(text)) + sum(numbers(8)) + len(text.split())
    return total


def calibrate(repeats: int) -> None:
    """Do it so many times."""
    for _ in range(repeats):
        if work(ROUNDS) != EXPECTED:
            raise AssertionError("the calibration was changed: it gives another number")
