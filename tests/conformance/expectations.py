"""What is expected of Onion: the reference, or what was decided where Onion means to differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from tests.conformance.compare import compare, is_list

if TYPE_CHECKING:
    from onion.spec import JsonValue
    from tests.conformance.data import Record, Scenario

SCENARIOS = Path(__file__).parent / "scenarios"
OWN = Path(__file__).parent / "onion"


class OwnExpectation(TypedDict):
    """One file of `onion/`: what differs from the reference, and the decisions that say so.

    Attributes:
        decisions: Numbers of DECISIONS.md.
        why: What differs, in a sentence.
        expect: The keys that differ, each whole; null where Onion has nothing to record.
        texts: Texts of the reference, wherever they stand, and what stands there instead.
    """

    decisions: list[int]
    why: str
    expect: NotRequired[Record]
    texts: NotRequired[dict[str, str]]


Verdict = Literal["reference", "onion", "failing"]


def own_expectation(scenario_id: str) -> OwnExpectation | None:
    """Onion's own expectation of a scenario, if there is one."""
    path = OWN / f"{scenario_id}.json"
    if not path.exists():
        return None
    own: OwnExpectation = json.loads(path.read_text(encoding="utf-8"))
    return own


def judge(scenario: Scenario, record: Record) -> tuple[Verdict, list[str]]:
    """Which expectation *record* meets, and the differences if it is none.

    An own expectation that the reference meets as well has lost its reason, and fails.
    """
    tags, only = scenario["tags"], scenario.get("expectOnly")
    of_reference = compare(scenario["expect"], record, tags=tags, only=only)
    own = own_expectation(scenario["id"])
    if own is None:
        return ("failing", of_reference) if of_reference else ("reference", [])
    if not of_reference:
        return "failing", ["equal to the reference, so the file of its own expectation has to go"]
    texts = own.get("texts", {})
    expected = {key: _with_texts(member, texts) for key, member in scenario["expect"].items()}
    of_own = compare(expected | own.get("expect", {}), record, tags=tags, only=only)
    return ("failing", of_own) if of_own else ("onion", [])


def _with_texts(value: JsonValue, texts: dict[str, str]) -> JsonValue:
    if isinstance(value, Mapping):
        return {key: _with_texts(member, texts) for key, member in value.items()}
    if is_list(value):
        return [_with_texts(item, texts) for item in value]
    return texts.get(value, value) if isinstance(value, str) else value
