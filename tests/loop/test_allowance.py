from __future__ import annotations

from onion.loop.allowance import FIRST_SLOTS, SLOTS_PER_CHARACTER, Allowance


def test_an_allowance_pays_for_as_much_as_the_text_earned() -> None:
    allowance = Allowance()

    first = allowance.pay(FIRST_SLOTS)
    second = allowance.pay(1)
    allowance.earn(1)
    third = allowance.pay(SLOTS_PER_CHARACTER)

    assert (first, second, third) == (True, False, True)
