"""Every recorded scenario: Onion does what the reference did, or what was decided instead."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.conformance.compare import compare
from tests.conformance.data import load
from tests.conformance.expectations import OWN, SCENARIOS, judge, own_expectation
from tests.conformance.run import main
from tests.conformance.runner import run_scenario
from tests.conformance.waiting import WAITING

if TYPE_CHECKING:
    from pathlib import Path

PATHS = sorted(SCENARIOS.glob("*.json"))
LAST_DECISION = 42


def _case(path: Path) -> object:
    reason = WAITING.get(path.stem)
    marks = () if reason is None else (pytest.mark.xfail(reason=f"waits for {reason}", strict=True),)
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", [_case(path) for path in PATHS])
async def test_onion_does_what_is_expected(path: Path) -> None:
    scenario = load(path)

    record = await run_scenario(scenario)

    _, differences = judge(scenario, record)
    assert differences == []


@pytest.mark.parametrize("path", sorted(OWN.glob("*.json")), ids=lambda path: str(path.stem))
def test_every_expectation_of_onions_own_rests_on_a_decision(path: Path) -> None:
    own = own_expectation(path.stem)

    assert own is not None
    assert own["decisions"]
    assert all(1 <= number <= LAST_DECISION for number in own["decisions"])
    assert own["why"].endswith(".")
    assert own.get("expect") or own.get("texts")
    assert (SCENARIOS / path.name).exists()


def test_an_expectation_of_its_own_that_the_reference_meets_is_a_failure() -> None:
    path = next(iter(sorted(OWN.glob("*.json"))))
    scenario = load(SCENARIOS / path.name)

    verdict, differences = judge(scenario, scenario["expect"])

    assert verdict == "failing"
    assert "has to go" in differences[0]


def test_the_command_prints_the_three_counts_and_what_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = load(SCENARIOS / "gen-text-single-a.json"), load(SCENARIOS / "gen-text-single-a.json")
    bad["expect"]["text"] = "something else"
    bad["id"] = "bad"
    broken = good.copy()
    broken["model"] = [{"stream": []}]
    for name, scenario in (("good", good), ("bad", bad), ("broken", broken)):
        (tmp_path / f"{name}.json").write_text(json.dumps(scenario), encoding="utf-8")

    status = main([str(tmp_path)])

    printed = capsys.readouterr().out
    assert status == 1
    assert re.search(r"reference: 1\n.*own expectation: 0\nfailing: 2\nfailing ids: bad broken\n", printed)
    assert main([str(tmp_path / "good.json")]) == 0


def test_a_folder_without_scenarios_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main([str(tmp_path)])

    assert status == 2
    assert "no scenarios" in capsys.readouterr().err


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.stem))
def test_an_expectation_matches_itself(path: Path) -> None:
    scenario = load(path)

    assert compare(scenario["expect"], scenario["expect"], tags=scenario["tags"]) == []
