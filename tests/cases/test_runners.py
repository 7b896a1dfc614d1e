"""The runners of the loop's cases notice what is wrong, and wait for words that they do not know."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.cases.case import INPUTS, Case, WaitingError, load_case
from tests.cases.run import faults_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onion.spec.base import JsonValue


def changed(name: str, path: str, wrong: JsonValue) -> Case:
    """The case of that name with another value at *path*."""
    case = load_case(INPUTS / f"{name}.json")
    return replace(case, data=_with(case.data, path.split("."), wrong))


def _with(data: Mapping[str, JsonValue], path: Sequence[str], wrong: JsonValue) -> dict[str, JsonValue]:
    name, *rest = path
    inner = data.get(name)
    made = dict(copy.deepcopy(data))
    made[name] = _with(inner, rest, wrong) if rest and isinstance(inner, dict) else wrong
    return made


@pytest.mark.parametrize(
    ("name", "path", "wrong", "fault"),
    [
        ("C20", "expect.executed_tools", ["wether"], "executed_tools"),
        ("C20", "expect.ui_parts_per_call_id", 2, "ui_parts_per_call_id"),
        ("C21", "expect.any_of", [{"executed_with": {"note": [1, 2]}}], "none of 1 alternatives"),
        ("C32", "expect.result_texts.r0", "{}", "r0: 'null'"),
        ("C32", "expect.result_texts.r4_contains", "ValueError", "r4_contains"),
        ("C32", "expect.blank_contents_except", [], "blank results: ['r3']"),
        ("C33", "expect.tool_result_order", ["cb", "ca"], "tool_result_order"),
        ("C35", "expect.open_calls", [], "open_calls"),
        ("C36", "expect.model_calls", 3, "model_calls"),
        ("C37", "expect.model_calls", 2, "model_calls"),
        ("C38", "expect.last_message_role", "assistant", "last_message_role"),
        ("C39", "expect.executed_tools_completed", ["ok1"], "executed_tools_completed"),
        ("C40", "expect.b", "executed once", "b: 'rejected'"),
        ("C41", "expect.b.executions", 0, "executions: 1"),
        ("C42", "expect.executions", 1, "executions: 0"),
        ("C43", "expect.executions", 1, "executions: 0"),
        ("C44", "expect.denied_result_contains", "too little", "denied_result_contains"),
        ("C61", "expect.any_of", [{"text": "ab"}], "none of 1 alternatives"),
        ("C65", "calls.keys", ["vendor", "vendor", "vendor"], "occurrences"),
        ("C66", "expect", [{"t": "x"}] * 7, "stands for"),
        ("C68", "expect.final.n", 1, "final"),
        ("C69", "expect.input_unchanged", False, "input_unchanged"),
        ("C70", "expect.validator_calls", 2, "validator_calls"),
        ("C76", "expect.error_results", ["s1"], "error_results"),
        ("C77", "expect.hangs", 1, "hangs: 0"),
        ("C79", "expect", [{"total": {"input": 3}}, {}, {}, {}, {}], "total"),
    ],
)
async def test_a_wrong_result_is_noticed(name: str, path: str, wrong: JsonValue, fault: str) -> None:
    faults = await faults_of(changed(name, path, wrong))

    assert any(fault in found for found in faults), faults


async def test_an_input_that_breaks_the_rule_of_its_case_is_noticed() -> None:
    given = '{"tags":["a"],"note":[1,2]}'
    schema: JsonValue = {"type": "object"}
    step: JsonValue = {"tool_calls": [{"id": "s1", "name": "save", "input": given}], "finish": "tool-calls"}
    calls: JsonValue = {"tools": ["save"], "tool_schema": schema, "steps": [step, {"text": "ok"}]}

    faults = await faults_of(changed("C21", "calls", calls))

    assert any("must not be: note is a list" in fault for fault in faults)


@pytest.mark.parametrize(
    ("name", "path", "unknown"),
    [
        ("C21", "expect.must_not", ["note is blue"]),
        ("C32", "calls.tool_behaviour.boom", "explode"),
        ("C37", "calls.tool_behaviour.slow", "wait for rain"),
        ("C40", "calls.variants.a", "no history"),
        ("C41", "calls.variants.a", "forget everything"),
        ("C42", "calls.variants.call_only", ["moon"]),
        ("C43", "calls.variants.a", "pay is broke"),
        ("C61", "calls.callbacks.on_chunk", "raise at dawn"),
        ("C65", "calls.surfaces", ["the moon"]),
        ("C69", "body.mode", "poem"),
        ("C70", "calls.output.validator", "shout"),
        ("C72", "server.endless", False),
        ("C72", "calls", ["walk away"] * 5),
        ("C73", "calls", [{"id": "a", "server": "sleepy"}]),
        ("C74", "calls.tool", "sleep well"),
        ("C75", "calls", ["on a ship"]),
        ("C77", "calls", ["nobody knows"]),
        ("C79", "calls", [{"guess": 1}] * 5),
    ],
)
async def test_words_that_no_runner_knows_wait(name: str, path: str, unknown: JsonValue) -> None:
    with pytest.raises(WaitingError):
        await faults_of(changed(name, path, unknown))


async def test_a_wrong_answer_of_a_sequence_is_found() -> None:
    case = changed("C14", "expect", [{"finish": "stop"}, {"finish": "content-filter"}, {"mentions": "SPII"}])

    faults = await faults_of(case)

    assert [fault.partition(" (")[0] for fault in faults] == [
        *["finish: 'error' instead of 'stop'"] * 2,
        *["nothing says 'SPII': PROHIBITED_CONTENT "] * 2,
    ]
