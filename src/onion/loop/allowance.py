"""How often a growing value may be copied so that a stream as a whole costs linear time.

A copy costs the length of the value. Copying after each delta of a long text would be quadratic; so deltas pay for
copies, and a copy that cannot be paid for is left out until it can. The first ones are free: an ordinary answer gets
its copy at every delta, one of a megabyte at every tenth or so.
"""

from __future__ import annotations

SLOTS_PER_CHARACTER = 16
"""What a character of new text pays for: about three times the cost of parsing it."""

FIRST_SLOTS = 20_000
"""What is there from the start, so that an ordinary document gets a value for every delta."""


class Allowance:
    """Keeps the cost of values in proportion to the text: each character pays in, each value is paid for."""

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots = FIRST_SLOTS

    def earn(self, characters: int) -> None:
        """So many characters have come."""
        self._slots += characters * SLOTS_PER_CHARACTER

    def pay(self, slots: int) -> bool:
        """Whether there was enough for a value of that cost; if so, it is spent."""
        if slots > self._slots:
            return False
        self._slots -= slots
        return True
