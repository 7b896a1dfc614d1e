"""What becomes of the instructions that callgrind counted."""

import json
from pathlib import Path

import pytest

from bench.counts.__main__ import RECORD, Record, build, compare, version
from bench.counts.calibration import EXPECTED, ROUNDS, calibrate, work
from bench.counts.callgrind import dumps_in, per_operation, ratios
from bench.counts.paths import CALIBRATION, IMPORT_ASYNCIO, IMPORT_ONION, PATHS

MARKED = "desc: Trigger: --dump-before=getpgid\ntotals: {}\n"


def record(*, built: str = "") -> Record:
    return {"python": version(), "build": built or build(), "paths": {"step": 2.0}}


def test_of_two_lengths_the_difference_counts() -> None:
    runs = [("step", 10, 1500), ("step", 30, 3500), (CALIBRATION, 2, 100), (CALIBRATION, 6, 300), ("import", 1, 5000)]

    found = per_operation(runs)

    assert found == {"step": 100.0, CALIBRATION: 50.0, "import": 5000.0}
    assert ratios(found) == {"step": 2.0, "import": 100.0}


def test_dumps_are_read_in_the_order_of_their_numbers_and_the_last_is_nobodys(tmp_path: Path) -> None:
    for number, count in enumerate((11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121), 1):
        (tmp_path / f"counts.{number}").write_text(MARKED.format(count), encoding="utf-8")
    (tmp_path / "counts").write_text("desc: Trigger: Program termination\ntotals: 5\n", encoding="utf-8")

    assert dumps_in(tmp_path) == [11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121]


@pytest.mark.parametrize(
    ("now", "answer", "remark"),
    [(2.19, "fine", "(+9.5%)"), (2.21, "missed", "TOO MANY"), (1.5, "fine", "a gain to record")],
)
def test_a_tenth_more_is_too_many(now: float, answer: str, remark: str, capsys: pytest.CaptureFixture[str]) -> None:
    is_fine = compare(record(), {"step": now})

    assert ("fine" if is_fine else "missed") == answer
    assert remark in capsys.readouterr().out


def test_another_build_of_python_may_take_a_little_more() -> None:
    assert compare(record(built="another"), {"step": 2.4})
    assert not compare(record(built="another"), {"step": 2.43})


def test_a_path_that_is_new_or_gone_must_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert not compare(record(), {"step": 2.0, "new": 1.0})
    assert not compare(record(), {})
    assert "new: 1, not recorded yet" in capsys.readouterr().out


def test_every_path_is_recorded() -> None:
    kept: Record = json.loads(RECORD.read_text(encoding="utf-8"))

    assert set(kept["paths"]) == {IMPORT_ASYNCIO, IMPORT_ONION, *(path.name for path in PATHS)}


def test_the_calibration_always_does_the_same() -> None:
    calibrate(2)

    assert work(ROUNDS) == EXPECTED
