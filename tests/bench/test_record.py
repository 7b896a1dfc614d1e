"""The table in the documentation is replaced, and nothing else of the page."""

import pytest

from bench.record import BEGIN, END, PAGE, with_table
from bench.rows import Finding, Row, figure

FINDING = Finding(
    row=Row(name="a.b", title="something", limit=1, unit="", value=figure("x")), figure=0.5, raw=0.5, low=0.5, high=0.5
)


def test_only_the_table_is_replaced() -> None:
    page = f"before\n{BEGIN}old\n{END}after\n"

    once = with_table(page, [FINDING])
    twice = with_table(once, [FINDING])

    assert once == twice
    assert once.startswith(f"before\n{BEGIN}")
    assert once.endswith(f"\n{END}after\n")
    assert "| a.b | something | ≤ 1 | 0.5 |" in once
    assert "old" not in once


def test_a_page_without_a_place_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="the page lacks the lines"):
        with_table("nothing", [FINDING])


def test_the_page_has_a_place_for_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert text.count(BEGIN) == text.count(END) == 1
