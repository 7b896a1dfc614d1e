from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Literal

import pytest
from opentelemetry import trace

from onion import Tool, ToolLoopAgent, generate_text, is_step_count, stream_text, tool
from onion.errors import OnionError
from onion.middleware import Tracing
from onion.middleware.tracing.attributes import value_text
from onion.testing import Raise, ScriptedModel, Wait, answer, call, parts, text, usage
from onion.wrap import wrap_language_model
from tests.middleware.stacks import BAD_REQUEST
from tests.middleware.tracing.exporting import Telemetry, is_child, is_error, said

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from onion.spec import LanguageModel, ToolCall


Mode = Literal["generate", "stream"]
both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])
USER = contextvars.ContextVar("user", default="nobody")


def two_steps(*calls: ToolCall) -> ScriptedModel:
    return ScriptedModel([answer(*calls, used=usage(10, 2)), answer("done", used=usage(20, 3))])


async def run(model: LanguageModel, mode: Mode, layers: list[Tracing], *tools: Tool) -> None:
    stop = is_step_count(5)
    if mode == "generate":
        await generate_text(model=model, prompt="go", tools=tools, middleware=layers, stop_when=stop)
        return
    async with stream_text(model=model, prompt="go", tools=tools, middleware=layers, stop_when=stop) as result:
        async for _ in result.full_stream:
            pass


@both_modes
async def test_with_metrics_alone_a_run_and_its_tools_are_left_alone(mode: Mode) -> None:
    telemetry = Telemetry()

    @tool
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    await run(two_steps(call("double", {"n": 2})), mode, [Tracing(None, telemetry.meters)], double)

    assert telemetry.spans == []
    assert sum(point.count for point in telemetry.points("gen_ai.client.operation.duration")) == 2


@both_modes
async def test_a_run_holds_its_calls_and_tools_as_siblings(mode: Mode) -> None:
    telemetry = Telemetry()

    @tool
    async def double(n: int) -> int:
        """Double it."""
        await asyncio.sleep(0)
        return 2 * n

    calls = [call("double", {"n": number}, id=f"c{number}") for number in range(3)]
    await run(two_steps(*calls), mode, [telemetry.layer()], double)

    agent = telemetry.span("invoke_agent")
    chats = [span for span in telemetry.spans if span.name == "chat scripted-model"]
    tools = [span for span in telemetry.spans if span.name == "execute_tool double"]
    assert (len(chats), len(tools), len(telemetry.spans)) == (2, 3, 6)
    assert all(is_child(span, agent) for span in (*chats, *tools))
    assert {said(span)["gen_ai.tool.call.id"] for span in tools} == {"c0", "c1", "c2"}
    assert agent.parent is None


@both_modes
async def test_only_chat_spans_carry_usage_and_it_adds_up(mode: Mode) -> None:
    telemetry = Telemetry()

    @tool
    def ping() -> str:
        """Ping."""
        return "pong"

    await run(two_steps(call("ping")), mode, [telemetry.layer(), telemetry.layer()], ping)

    used = [said(span).get("gen_ai.usage.input_tokens", 0) for span in telemetry.spans]
    assert sum(number for number in used if isinstance(number, int)) == 30
    agents = [span for span in telemetry.spans if span.name == "invoke_agent"]
    assert {said(span)["onion.total_usage.input_tokens"] for span in agents} == {30}
    assert {said(span)["onion.total_usage.output_tokens"] for span in agents} == {5}
    assert {said(span)["onion.steps"] for span in agents} == {2}


@both_modes
async def test_one_layer_around_the_run_and_the_model_makes_a_call_within_a_call(mode: Mode) -> None:
    telemetry = Telemetry()
    layer = telemetry.layer()
    model = wrap_language_model(ScriptedModel([text("hi")]), layer)

    await run(model, mode, [layer])

    inner, outer, agent = telemetry.spans
    assert is_child(inner, outer)
    assert is_child(outer, agent)
    assert "gen_ai.usage.input_tokens" not in said(inner)


@both_modes
async def test_threads_agents_and_generators_nest_right_and_keep_the_callers_context(mode: Mode) -> None:
    telemetry = Telemetry()
    layer = telemetry.layer()
    tracer = telemetry.tracers.get_tracer("test")
    users: list[str] = []

    @tool
    def in_thread() -> str:
        """Runs in a thread."""
        users.append(USER.get())
        tracer.start_span("work in a thread").end()
        return "t"

    @tool
    async def sub_agent() -> str:
        """Runs an agent of its own."""
        users.append(USER.get())
        agent: ToolLoopAgent[object, str] = ToolLoopAgent[object, str](
            model=ScriptedModel([text("inner")]), middleware=[layer]
        )
        return (await agent.generate(prompt="sub")).text

    @tool
    async def growing() -> AsyncIterator[str]:
        """Gives preliminary results."""
        for piece in ("a", "b"):
            users.append(USER.get())
            tracer.start_span("work in a generator").end()
            yield piece

    model = two_steps(call("in_thread", id="1"), call("sub_agent", id="2"), call("growing", id="3"))
    USER.set("u1")
    await run(model, mode, [layer], in_thread, sub_agent, growing)

    outer, inner = sorted(
        (span for span in telemetry.spans if span.name == "invoke_agent"), key=lambda span: span.start_time or 0
    )
    assert is_child(telemetry.span("work in a thread"), telemetry.span("execute_tool in_thread"))
    assert is_child(inner, telemetry.span("execute_tool sub_agent"))
    works = [span for span in telemetry.spans if span.name == "work in a generator"]
    assert all(is_child(span, telemetry.span("execute_tool growing")) for span in works)
    for name in ("in_thread", "sub_agent", "growing"):
        assert is_child(telemetry.span(f"execute_tool {name}"), outer)
    assert {span.context.trace_id for span in telemetry.spans if span.context} == {_trace_of(outer)}
    assert set(users) == {"u1"}
    inner_usage = [said(span) for span in telemetry.spans if is_child(span, inner)]
    assert [found["gen_ai.usage.input_tokens"] for found in inner_usage] == [10]


def _trace_of(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.trace_id)


@both_modes
async def test_a_tool_that_raises_ends_its_span_with_the_error_and_the_run_goes_on(mode: Mode) -> None:
    telemetry = Telemetry()

    @tool
    async def broken() -> str:
        """Fails."""
        raise LookupError("password=hunter2-secret")

    await run(two_steps(call("broken")), mode, [telemetry.layer()], broken)

    span = telemetry.span("execute_tool broken")
    assert is_error(span)
    assert said(span)["error.type"] == "LookupError"
    assert "hunter2" not in str([event.attributes for event in span.events])
    assert not is_error(telemetry.span("invoke_agent"))


@both_modes
async def test_a_run_that_fails_ends_its_span_with_the_error(mode: Mode) -> None:
    telemetry = Telemetry()

    with pytest.raises(OnionError):
        await run(ScriptedModel([BAD_REQUEST]), mode, [telemetry.layer()])

    agent = telemetry.span("invoke_agent")
    assert is_error(agent)
    assert said(agent)["error.type"] == "APICallError"


async def test_a_run_that_is_given_up_ends_all_spans_without_an_error() -> None:
    telemetry = Telemetry()
    waiting = asyncio.Event()

    @tool
    async def forever() -> str:
        """Never ends."""
        waiting.set()
        await asyncio.Event().wait()
        return ""

    task = asyncio.ensure_future(run(two_steps(call("forever")), "stream", [telemetry.layer()], forever))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    outcomes = {span.name: said(span)["onion.outcome"] for span in telemetry.spans}
    assert outcomes["execute_tool forever"] == outcomes["invoke_agent"] == "cancelled"
    assert not any(is_error(span) for span in telemetry.spans)


async def test_a_reader_that_leaves_a_run_ends_all_spans() -> None:
    telemetry = Telemetry()
    model = ScriptedModel([parts("a", Wait(asyncio.Event()), Raise(LookupError()))])

    async with stream_text(model=model, prompt="go", middleware=[telemetry.layer()]) as result:
        async for part in result.full_stream:
            if part.type == "text-delta":
                break

    outcomes = {span.name: said(span)["onion.outcome"] for span in telemetry.spans}
    assert set(outcomes) == {"invoke_agent", "chat scripted-model"}
    assert outcomes["invoke_agent"] == "cancelled"


async def test_a_named_agent_is_in_the_name_of_its_span() -> None:
    telemetry = Telemetry()
    agent: ToolLoopAgent[object, str] = ToolLoopAgent[object, str](
        model=ScriptedModel([text("hi")]), name="helper", middleware=[telemetry.layer()]
    )

    await agent.generate(prompt="go")

    assert said(telemetry.span("invoke_agent helper"))["gen_ai.agent.name"] == "helper"


@both_modes
async def test_inputs_and_outputs_of_tools_are_shown_only_if_asked(mode: Mode) -> None:
    silent, shown = Telemetry(), Telemetry()

    @tool
    async def login(password: str) -> dict[str, str]:
        """Log in."""
        return {"token": "abc", "user": f"u{len(password)}"}

    layers = [silent.layer(), shown.layer(capture_content=True)]
    await run(two_steps(call("login", {"password": "x"})), mode, layers, login)

    assert "gen_ai.tool.call.arguments" not in said(silent.span("execute_tool login"))
    found = said(shown.span("execute_tool login"))
    assert json.loads(str(found["gen_ai.tool.call.arguments"])) == {"password": "***"}
    assert json.loads(str(found["gen_ai.tool.call.result"])) == {"token": "***", "user": "u1"}


def test_what_has_no_json_form_is_shown_as_text() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd, password=hunter2-secret"

    assert value_text(Odd()) == "odd, password=***"


async def test_a_hundred_runs_at_once_keep_their_spans_apart() -> None:
    telemetry = Telemetry()
    layer = telemetry.layer()

    @tool
    async def ping() -> str:
        """Ping."""
        await asyncio.sleep(0)
        return "pong"

    await asyncio.gather(*(run(two_steps(call("ping")), "stream", [layer], ping) for _ in range(100)))

    agents = [span for span in telemetry.spans if span.name == "invoke_agent"]
    assert len(agents) == len({_trace_of(span) for span in agents}) == 100
    for agent in agents:
        assert sum(is_child(span, agent) for span in telemetry.spans) == 3


@both_modes
async def test_an_agent_as_a_tool_hangs_under_the_call_of_its_tool(mode: Mode) -> None:
    telemetry = Telemetry()
    layer = telemetry.layer()
    agent = ToolLoopAgent(model=ScriptedModel([answer("inner", used=usage(7, 1))]), name="helper", middleware=[layer])

    await run(two_steps(call("ask", {"prompt": "sub"})), mode, [layer], agent.as_tool("ask", "Asks."))

    inner, outer = telemetry.span("invoke_agent helper"), telemetry.span("invoke_agent")
    assert is_child(telemetry.span("execute_tool ask"), outer)
    assert is_child(inner, telemetry.span("execute_tool ask"))
    chats = {said(span)["gen_ai.usage.input_tokens"]: span for span in telemetry.spans if span.name[:4] == "chat"}
    assert {tokens: is_child(span, inner) for tokens, span in chats.items()} == {7: True, 10: False, 20: False}
    assert all(is_child(chats[tokens], outer) for tokens in (10, 20))
    assert len(telemetry.spans) == 6


@both_modes
async def test_without_an_sdk_a_run_runs(mode: Mode) -> None:
    @tool
    def ping() -> str:
        """Ping."""
        return "pong"

    model = two_steps(call("ping"))

    await run(model, mode, [Tracing()], ping)

    assert len(model.calls) == 2
    assert not trace.get_current_span().get_span_context().is_valid
