"""One loop for both modes: equal answers give equal steps, whichever way they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.compare import compare
from tests.conformance.data import load
from tests.conformance.expectations import SCENARIOS
from tests.conformance.runner import run_scenario
from tests.conformance.twins import twin, without_generated
from tests.conformance.waiting import WAITING

if TYPE_CHECKING:
    from tests.conformance.data import Record, Scenario

COMPARED = (
    "text", "finishReason", "rawFinishReason", "reasoningText", "totalUsage", "steps", "responseMessages", "aggregate",
    "output", "toolExecutions", "prepareStepCalls", "repairCalls", "retryDelaysMs",
)  # fmt: skip
OF_A_FAILURE = ("toolExecutions", "prepareStepCalls", "repairCalls", "retryDelaysMs")
FEWEST_PAIRS = 150

PAIRS = {
    path.stem: (scenario, other)
    for path in sorted(SCENARIOS.glob("*.json"))
    if path.stem not in WAITING and (other := twin(scenario := load(path))) is not None
}


async def observed(scenario: Scenario) -> Record:
    """What a run is compared by; of one without an output, why: generate raises that, a stream keeps its steps."""
    record = without_generated(await run_scenario(scenario))
    failure = record.get("outputError") or record.get("error")
    keys = COMPARED if failure is None else OF_A_FAILURE
    return {"failure": failure, **{key: record.get(key) for key in keys}}


@pytest.mark.parametrize(("scenario", "other"), PAIRS.values(), ids=PAIRS)
async def test_equal_answers_give_equal_steps_in_both_modes(scenario: Scenario, other: Scenario) -> None:
    here = await observed(scenario)
    there = await observed(other)

    assert compare(here, there) == []


def test_most_scenarios_have_a_twin() -> None:
    assert len(PAIRS) >= FEWEST_PAIRS
