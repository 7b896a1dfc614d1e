"""Cases of usage: sums over steps, and what servers write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onion import is_step_count, tool
from onion.errors import OnionError
from onion.providers._json import object_in
from onion.testing import ScriptedModel, answer, call
from tests.cases.behaviours import ANYTHING
from tests.cases.case import Case, WaitingError, rows
from tests.cases.expectations import differences
from tests.cases.models import ASK, model_over
from tests.cases.observing import of_parts, of_result, read
from tests.cases.playback import Playback
from tests.cases.runs import MODES, Mode, ran
from tests.cases.scripts import usage_of

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.step import LanguageModelUsage
    from onion.testing import ScriptItem

PROVIDER = "openai-chat"
"""Whose words the rows are in."""


async def run(case: Case) -> list[str]:
    """The faults of every row, in both modes."""
    faults: list[str] = []
    expected = rows(case.data.get("expect"))
    for number, (row, expect) in enumerate(zip(case.calls, expected, strict=True)):
        for mode in MODES:
            if "steps" in row:
                found = await _sum(row, expect, mode)
            elif "server_usage" in row:
                found = differences(expect, await _served(row["server_usage"], mode))
            else:
                raise WaitingError(f"a row with {sorted(row)}")
            faults += [f"{fault} (row {number}, {mode})" for fault in found]
    return faults


async def _sum(row: JsonObject, expect: JsonObject, mode: Mode) -> list[str]:
    """A run with one call of a tool for every step but the last; its total is added again, and then looked at."""
    *before, last = [usage_of(used) for used in rows(row.get("steps"))]
    script: list[ScriptItem] = [answer(call("t", id=f"c{number}"), used=used) for number, used in enumerate(before)]
    script.append(answer("done", used=last))
    tools = [tool(name="t", input_schema=ANYTHING, execute=lambda: "ok")]
    stop = is_step_count(len(script))
    told = await ran({"model": ScriptedModel(script), "prompt": "go", "tools": tools, "stop_when": stop}, mode)
    if told.result is None:
        return [f"the run failed: {told.error!r}"]
    total, first = told.result.usage, told.result.steps[0].usage
    _ = total + total + first
    observed: dict[str, JsonValue] = {"total": _json(total), "step0": _json(first)}
    unknown: JsonObject = {"total": {"reasoning": None}, "step0": {"reasoning": None}}
    return differences(expect, observed) + differences(unknown, observed)


def _json(used: LanguageModelUsage) -> JsonObject:
    return {
        "input": used.input_tokens,
        "output": used.output_tokens,
        "cached_input": used.input_token_details.cache_read_tokens,
        "reasoning": used.output_token_details.reasoning_tokens,
    }


async def _served(used: JsonValue, mode: Mode) -> JsonObject:
    """The usage in an answer of a server that writes it so."""
    finish: JsonObject = {"finish_reason": "stop"}
    said: JsonObject = {"content": "x"}
    whole: JsonObject = {"body": {"choices": [{"message": said, **finish}], "usage": used}}
    chunk = json.dumps({"choices": [{"delta": said, **finish}], "usage": used})
    streamed: JsonObject = {"sse": f"data: {chunk}\n\ndata: [DONE]\n\n"}
    async with Playback([whole if mode == "generate" else streamed]).client() as client:
        model = model_over(PROVIDER, client)
        try:
            if mode == "generate":
                observed = of_result(await model.do_generate(ASK))
            else:
                observed = of_parts(await read(await model.do_stream(ASK)))
        except OnionError as error:
            return {"raised": repr(error)}
    return object_in(observed, "usage")
