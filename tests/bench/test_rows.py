"""How figures become findings."""

from bench.jobs import Job
from bench.rows import CALIBRATION, CALIBRATION_MICROSECONDS, Finding, Row, difference, figure, finding, jobs_for, ratio
from bench.table import markdown, number, plain


def row(*, limit: float = 2.0, is_scaled: bool = False, is_lowest: bool = False, is_optional: bool = False) -> Row:
    return Row(
        name="group.row",
        title="something",
        limit=limit,
        unit="x",
        value=ratio("subject", "base"),
        is_scaled=is_scaled,
        is_lowest=is_lowest,
        is_optional=is_optional,
    )


ROUNDS = [{"subject": 3.0, "base": 1.0}, {"subject": 8.0, "base": 2.0}, {"subject": 1.0, "base": 1.0}]


def test_the_figure_is_the_median_of_what_each_round_gives() -> None:
    found = finding(row(), ROUNDS, {})

    assert (found.figure, found.raw, found.low, found.high) == (3.0, 3.0, 1.0, 4.0)
    assert not found.is_met


def test_the_best_round_counts_where_disturbance_can_only_add() -> None:
    found = finding(row(is_lowest=True), ROUNDS, {})

    assert found.figure == 1.0
    assert found.is_met


def test_microseconds_are_scaled_by_the_calibration_of_the_same_round() -> None:
    rounds = [{"subject": 6.0, "base": 1.0, CALIBRATION: CALIBRATION_MICROSECONDS * speed} for speed in (2.0, 3.0, 6.0)]

    found = finding(row(is_scaled=True), rounds, {})

    figures = (found.figure, found.raw, found.low, found.high)
    assert [round(figure or 0.0, 9) for figure in figures] == [2.0, 6.0, 1.0, 3.0]


def test_a_row_whose_job_failed_says_why_and_is_missed_unless_its_peer_is_not_there() -> None:
    found = finding(row(), [{"base": 1.0}], {"subject": "it broke"})
    optional = finding(row(is_optional=True), [{"base": 1.0}], {"subject": "it broke"})
    absent = finding(row(is_optional=True), [{"base": 1.0}], {})

    assert (found.figure, found.why, found.is_met) == (None, "it broke", False)
    assert (optional.why, optional.is_met) == ("it broke", False)
    assert (absent.why, absent.is_met) == ("subject was not measured", True)


def test_a_round_without_the_figure_is_left_out() -> None:
    found = finding(row(), [{"base": 1.0}, {"subject": 2.0, "base": 1.0}], {})

    assert found.figure == 2.0


def test_only_jobs_that_the_rows_need_are_run() -> None:
    jobs = {name: Job(adapter="a", workload=name) for name in ("subject", "base", "other", CALIBRATION)}

    assert list(jobs_for([row()], jobs)) == ["subject", "base"]
    assert list(jobs_for([row(is_scaled=True)], jobs)) == ["subject", "base", CALIBRATION]


def test_values_are_made_of_figures() -> None:
    figures = {"a": 9.0, "b": 3.0}

    assert [figure("a", per=2)(figures), ratio("a", "b")(figures), difference("a", "b")(figures)] == [4.5, 3.0, 6.0]


def test_the_table_tells_what_is_met_and_what_is_not() -> None:
    findings = [
        Finding(row=row(), figure=1.5, raw=1.5, low=1.0, high=1.75),
        Finding(row=row(), figure=1234.5, raw=1234.5, low=1000.0, high=2000.0),
        Finding(row=row(), why="it broke"),
    ]

    text, page = plain(findings), markdown(findings)

    assert [line.split("  ")[-1].strip() for line in text.splitlines()] == [
        "met",
        "yes",
        "NO",
        "not measured (NO): it broke",
    ]
    assert page.splitlines()[3] == "| group.row | something | ≤ 2 × | 1,234 × |  | 1,000 to 2,000 | NO |"  # noqa: RUF001 -- as the table writes it


def test_numbers_have_three_digits_or_so() -> None:
    assert [number(found) for found in (None, 0.03125, 9.876, 12.34, 1234.5)] == [
        "-",
        "0.0312",
        "9.88",
        "12.3",
        "1,234",
    ]
