"""Cases of spans: how often they end, what they hang under, and what they count."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from onion import ToolLoopAgent, generate_text, is_step_count, tool
from onion.middleware import SHARED, Cache, MemoryStore, Retry
from onion.providers._json import object_in
from onion.spec import ErrorPart
from onion.testing import ScriptedModel, Wait, answer, call, parts, text, usage
from onion.wrap import wrap_language_model
from tests.cases.case import WaitingError, rows
from tests.middleware.stacks import ASK, UNAVAILABLE
from tests.middleware.tracing.exporting import Telemetry, is_child, is_error, said

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from onion.spec import JsonValue, LanguageModel
    from onion.testing import ScriptItem
    from tests.cases.case import Case

USER = contextvars.ContextVar("user", default="nobody")


async def run(case: Case) -> list[str]:
    """The case by what it asks for."""
    if isinstance(case.data.get("calls"), list):
        return await _endings(case)
    calls = object_in(case.data, "calls")
    if "tools" in calls:
        return await _parents(case)
    if "steps_usage" in calls:
        return await _tokens(case)
    raise WaitingError(case.kind)


async def _endings(case: Case) -> list[str]:
    """Each way in which a stream can end."""
    ways = case.data.get("calls")
    spans, errors = case.expect.get("finished_model_spans"), case.expect.get("status_error")
    faults: list[str] = []
    for index, way in enumerate(ways if isinstance(ways, list) else []):
        telemetry = Telemetry()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            await _end(str(way), telemetry)
            gc.collect()
            await asyncio.sleep(0)
        wanted = spans[index] if isinstance(spans, list) else None
        allowed = wanted if isinstance(wanted, list) else [wanted]
        status = errors[index] if isinstance(errors, list) else None
        if len(telemetry.spans) not in allowed:
            faults.append(f"{way}: {len(telemetry.spans)} spans instead of {wanted}")
        if status is not None and any(is_error(span) is not status for span in telemetry.spans):
            faults.append(f"{way}: an error status is {not status}")
        if any("ended span" in str(warning.message) for warning in caught):
            faults.append(f"{way}: a span was ended twice")
    return faults


async def _end(way: str, telemetry: Telemetry) -> None:
    """Stream once, and end it in that *way*."""
    script: dict[str, ScriptItem] = {
        "cancel": parts("a", Wait(asyncio.Event())),
        "provider error mid-stream": parts("a", ErrorPart(error=UNAVAILABLE), finish_reason="error"),
        "do_stream raises": UNAVAILABLE,
    }
    model = wrap_language_model(ScriptedModel([script.get(way, parts("a", "b"))]), telemetry.layer())
    if way == "drop and gc":
        await model.do_stream(ASK)
    elif way == "aclose at once":
        await (await model.do_stream(ASK)).aclose()
    elif way == "cancel":
        task = asyncio.ensure_future(_read(model, ""))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    elif way in ("read all", "break after 1", "consumer raises", "provider error mid-stream", "do_stream raises"):
        with suppress(LookupError, type(UNAVAILABLE)):
            await _read(model, way)
    else:
        raise WaitingError(way)


async def _read(model: LanguageModel, way: str) -> None:
    async with await model.do_stream(ASK) as stream:
        async for _ in stream:
            if way == "break after 1":
                break
            if way == "consumer raises":
                raise LookupError


async def _parents(case: Case) -> list[str]:
    """A run with a tool in a thread, one that runs an agent, and one that gives preliminary results."""
    telemetry, users = Telemetry(), list[str]()
    layer, tracer = telemetry.layer(), telemetry.tracers.get_tracer("case")

    @tool
    def thread_tool() -> str:
        """Works in a thread."""
        users.append(USER.get())
        tracer.start_span("work").end()
        return "a"

    @tool
    async def agent_tool() -> str:
        """Runs an agent."""
        users.append(USER.get())
        return (
            await ToolLoopAgent[object, str](model=ScriptedModel([text("b")]), middleware=[layer]).generate(prompt="b")
        ).text

    @tool
    async def generator_tool() -> AsyncIterator[str]:
        """Gives preliminary results."""
        users.append(USER.get())
        yield "c"

    tools = (thread_tool, agent_tool, generator_tool)
    model = ScriptedModel([answer(*(call(found.name, id=found.name) for found in tools)), text("done")])
    user = str(object_in(object_in(case.data, "calls"), "contextvar").get("user"))
    token = USER.set(user)
    await generate_text(model=model, prompt="go", tools=tools, middleware=[layer], stop_when=is_step_count(3))
    USER.reset(token)
    runs = sorted(
        (span for span in telemetry.spans if span.name == "invoke_agent"), key=lambda span: span.start_time or 0
    )
    found = {
        "one trace": len({span.context.trace_id for span in telemetry.spans if span.context}) == 1,
        "tools are siblings": all(is_child(telemetry.span(f"execute_tool {made.name}"), runs[0]) for made in tools),
        "work hangs under its tool": is_child(telemetry.span("work"), telemetry.span("execute_tool thread_tool")),
        "the agent hangs under its tool": is_child(runs[1], telemetry.span("execute_tool agent_tool")),
        "the context is the caller's": set(users) == {user},
    }
    return [f"{name}: no" for name, holds in found.items() if not holds]


async def _tokens(case: Case) -> list[str]:
    """A run of several steps with retries and a cache; then the same from the cache."""
    telemetry = Telemetry()
    used = [_counts(row) for row in rows(object_in(case.data, "calls").get("steps_usage"))]
    last = len(used) - 1
    script: list[ScriptItem] = [
        item
        for number, (given, made) in enumerate(used)
        for item in (
            UNAVAILABLE,
            answer("done" if number == last else call("ping", id=str(number)), used=usage(given, made)),
        )
    ]

    async def sleep(_seconds: float) -> None:
        pass

    @tool
    def ping() -> str:
        """Answer."""
        return "pong"

    model = wrap_language_model(ScriptedModel(script), [Cache(MemoryStore(), scope=SHARED), Retry(sleep=sleep)])
    totals: list[JsonValue] = []
    for _ in range(2):
        result = await generate_text(
            model=model, prompt="go", tools=[ping], middleware=[telemetry.layer()], stop_when=is_step_count(9)
        )
        totals.append({"input": result.usage.input_tokens, "output": result.usage.output_tokens})
    seen = {
        "total_usage": totals[0],
        "sum_over_model_spans": {kind: _sum(telemetry, f"gen_ai.usage.{kind}_tokens") for kind in ("input", "output")},
    }
    return [
        f"{key}: {seen.get(key)!r} instead of {right!r}" for key, right in case.expect.items() if seen.get(key) != right
    ]


def _counts(row: JsonValue) -> Sequence[int]:
    assert isinstance(row, dict)
    return [found if isinstance(found, int) else 0 for found in (row.get("input"), row.get("output"))]


def _sum(telemetry: Telemetry, name: str) -> int:
    return sum(found for span in telemetry.spans if isinstance(found := said(span).get(name), int))
