from __future__ import annotations

import asyncio

import pytest

from onion.middleware import ToolCallRepair
from onion.spec import (
    ErrorPart,
    FinishPart,
    StreamPart,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from onion.testing import Raise, ScriptedModel, Wait, parts
from tests.middleware.stacks import UNAVAILABLE, parts_of, under_test
from tests.middleware.tool_call_repair.test_layer import (
    TOOLS,
    called,
)


async def test_deltas_pass_as_they_come_and_what_follows_a_broken_call_waits_for_the_finish() -> None:
    go = asyncio.Event()
    script = parts(
        ToolInputStart(id="c1", tool_name="add"),
        ToolInputDelta(id="c1", delta='{"a":1,"b":2,}'),
        ToolInputEnd(id="c1"),
        called("add", '{"a":1,"b":2,}'),
        "after",
        Wait(go),
        finish_reason="tool-calls",
    )
    seen: list[StreamPart] = []

    async def read() -> None:
        async with await under_test(ScriptedModel([script]), ToolCallRepair()).do_stream(TOOLS) as opened:
            async for part in opened:
                seen.append(part)  # noqa: PERF401 - the test looks while it grows

    task = asyncio.ensure_future(read())
    for _ in range(20):
        await asyncio.sleep(0)
    before = [part.type for part in seen]
    go.set()
    await task

    assert before == ["stream-start", "tool-input-start", "tool-input-delta", "tool-input-end"]
    after = [part.type for part in seen[len(before) :]]
    assert after == ["tool-call", "text-start", "text-delta", "text-end", "finish"]
    assert isinstance(seen[4], ToolCall)
    assert seen[4].input == '{"a":1,"b":2}'


async def test_what_waits_comes_before_a_failure() -> None:
    broken = called("add", "x")
    model = under_test(ScriptedModel([parts(broken, "after", Raise(UNAVAILABLE))]), ToolCallRepair())
    seen: list[StreamPart] = []

    async def read() -> None:
        async with await model.do_stream(TOOLS) as opened:
            async for part in opened:
                seen.append(part)  # noqa: PERF401 - the test looks at what came before the failure

    with pytest.raises(type(UNAVAILABLE)):
        await read()

    assert broken in seen
    assert any(isinstance(part, TextDelta) for part in seen)


async def test_after_an_error_part_nothing_is_repaired() -> None:
    broken = called("find_it", '{"q":"a"')
    script = parts(broken, ErrorPart(error=UNAVAILABLE), finish_reason="error")

    seen = await parts_of(under_test(ScriptedModel([script]), ToolCallRepair()), TOOLS)

    assert broken in seen
    assert isinstance(seen[-1], FinishPart)


async def test_closing_early_while_parts_wait_closes_the_model() -> None:
    inner = ScriptedModel([parts("a", called("add", "x"), "b", Wait(asyncio.Event()))])

    async with await under_test(inner, ToolCallRepair()).do_stream(TOOLS) as opened:
        async for part in opened:
            if isinstance(part, TextDelta):
                break

    assert inner.open_streams == 0
