from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from onion.errors import (
    InvalidToolInputError,
    NoSuchToolError,
    ToolCallRepairError,
    TypeValidationError,
)
from onion.spec import (
    RunInfo,
    SystemMessage,
    ToolCall,
)
from onion.testing import ScriptedModel, answer
from tests.middleware.stacks import ASK, under_test
from tests.middleware.tool_call_repair.test_layer import (
    FIND,
    TOOLS,
    Ask,
    both_modes,
    called,
    note_of,
    only_call,
    repaired_by,
)

if TYPE_CHECKING:
    from onion.middleware import BrokenToolCall


@both_modes
@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_a_function_repairs_and_is_told_what_is_wrong(ask: Ask, kind: str) -> None:
    told: list[BrokenToolCall] = []

    def repair(broken: BrokenToolCall) -> ToolCall:
        told.append(broken)
        return replace(broken.tool_call, tool_name="add", input='{"a":2,"b":3}')

    async def repair_later(broken: BrokenToolCall) -> ToolCall:
        return repair(broken)

    prompt = (SystemMessage(content="be brief"), *ASK.prompt)
    run = RunInfo(run_id="r", messages=ASK.prompt)
    inner = ScriptedModel([answer(called("find_it", '{"q":2}'))])
    layer = repaired_by(repair_later if kind == "async" else repair)

    found = only_call(await ask(under_test(inner, layer), TOOLS.replace(prompt=prompt, run=run)))

    assert (found.tool_call_id, found.tool_name, found.input) == ("c1", "add", '{"a":2,"b":3}')
    assert note_of(found) == {"by": "function", "toolName": "find_it", "input": '{"q":2}'}
    (broken,) = told
    assert broken.tool_call.input == '{"q":2}'
    assert isinstance(broken.error, InvalidToolInputError)
    assert isinstance(broken.error.__cause__, TypeValidationError)
    assert list(broken.tools) == ["add", "find_it", "search"]
    assert broken.input_schema == FIND.input_schema
    assert (broken.messages, broken.instructions, broken.run) == (ASK.prompt, "be brief", run)


@both_modes
async def test_outside_of_a_run_a_function_is_told_the_prompt(ask: Ask) -> None:
    told: list[BrokenToolCall] = []
    inner = ScriptedModel([answer(called("nope", "{}"))])

    await ask(under_test(inner, repaired_by(told.append)), TOOLS)

    assert told[0].messages == ASK.prompt
    assert told[0].instructions is None
    assert told[0].input_schema is None


@both_modes
async def test_a_function_that_gives_up_leaves_the_first_error(ask: Ask) -> None:
    inner = ScriptedModel([answer(called("fnid", '{"q":"a"}'))])

    found = only_call(await ask(under_test(inner, repaired_by(lambda _: None)), TOOLS))

    assert isinstance(found.error, NoSuchToolError)
    assert found.tool_name == "fnid"


@both_modes
async def test_a_function_that_raises_gives_a_repair_error_with_both_causes(ask: Ask) -> None:
    failure = LookupError("no budget")

    def repair(_: BrokenToolCall) -> ToolCall:
        raise failure

    inner = ScriptedModel([answer(called("nope", "{}"))])

    found = only_call(await ask(under_test(inner, repaired_by(repair)), TOOLS))

    assert isinstance(found.error, ToolCallRepairError)
    assert isinstance(found.error.original_error, NoSuchToolError)
    assert found.error.__cause__ is failure


@both_modes
async def test_a_repaired_call_that_is_still_wrong_is_not_repaired_again(ask: Ask) -> None:
    told: list[BrokenToolCall] = []

    def repair(broken: BrokenToolCall) -> ToolCall:
        told.append(broken)
        return replace(broken.tool_call, input='{"a":"still"}')

    inner = ScriptedModel([answer(called("add", '{"a":"one"}'))])

    found = only_call(await ask(under_test(inner, repaired_by(repair)), TOOLS))

    assert len(told) == 1
    assert found.input == '{"a":"one"}'
    assert isinstance(found.error, InvalidToolInputError)
    assert found.error.tool_input == '{"a":"still"}'


@both_modes
async def test_of_several_calls_each_is_looked_at(ask: Ask) -> None:
    broken = [called("add", "x", id="1"), called("find_it", "y", id="2"), called("find_it", '{"q":"c"}', id="3")]
    answers = iter([None, replace(broken[1], input='{"q":"b"}')])
    inner = ScriptedModel([answer("first", *broken)])

    result = await ask(under_test(inner, repaired_by(lambda _: next(answers))), TOOLS)

    calls = [part for part in result.content if isinstance(part, ToolCall)]
    assert [call.input for call in calls] == ["x", '{"q":"b"}', '{"q":"c"}']
    assert [call.error is None for call in calls] == [False, True, True]
