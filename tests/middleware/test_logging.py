from __future__ import annotations

import asyncio
import gc
import itertools
import subprocess
import sys
from dataclasses import replace

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import LogCapture

from onion.errors import APICallError, InvalidArgumentError, StreamInterruptedError
from onion.middleware.logging import Logging, describe_message
from onion.spec import (
    AssistantMessage,
    CustomPart,
    ErrorPart,
    FileData,
    FilePart,
    FunctionTool,
    Message,
    ReasoningPart,
    ResponseMetadata,
    RunInfo,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.streaming import collect
from onion.testing import Raise, ScriptedModel, Wait, answer, call, parts, text
from tests.middleware.stacks import ASK, RATE_LIMITED, parts_of, under_test

Event = dict[str, object]


class Sink:
    """A logger that keeps its events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def info(self, event: str, /, **fields: object) -> None:
        self.events.append({"event": event, "level": "info", **fields})

    def error(self, event: str, /, **fields: object) -> None:
        self.events.append({"event": event, "level": "error", **fields})

    @property
    def last(self) -> Event:
        return self.events[-1]


def logging_to(sink: Sink, *, content: bool = False, max_content_length: int = 1000) -> Logging:
    ticks = itertools.count()
    ids = itertools.count(1)
    return Logging(
        sink,
        content=content,
        max_content_length=max_content_length,
        clock=lambda: float(next(ticks)),
        new_id=lambda: f"call-{next(ids)}",
    )


async def test_a_whole_answer_is_one_event_before_and_one_after() -> None:
    sink = Sink()
    model = under_test(ScriptedModel([text("hi")]), logging_to(sink))

    await model.do_generate(ASK)

    common = {"level": "info", "call_id": "call-1", "provider": "scripted", "model_id": "scripted-model"}
    assert sink.events == [
        {"event": "model call started", **common, "mode": "generate", "messages": 1, "tools": 0},
        {
            "event": "model call finished",
            **common,
            "mode": "generate",
            "duration_ms": 1000.0,
            "finish_reason": "stop",
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_hit": False,
        },
    ]


async def test_a_streams_second_event_comes_at_its_end_and_tells_the_time_to_the_first_part() -> None:
    sink = Sink()
    model = under_test(ScriptedModel([parts(ResponseMetadata(id="r"), "hi", " you")]), logging_to(sink))

    async with await model.do_stream(ASK) as stream:
        opened = len(sink.events)
        async for _ in stream:
            pass

    assert opened == 1
    assert sink.last["event"] == "model call finished"
    assert sink.last["time_to_first_part_ms"] == 1000
    assert sink.last["duration_ms"] == 2000
    assert sink.last["finish_reason"] == "stop"


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_a_call_that_fails_is_an_error_event_with_its_status(mode: str) -> None:
    sink = Sink()
    model = under_test(ScriptedModel([RATE_LIMITED]), logging_to(sink))

    with pytest.raises(APICallError):
        await (model.do_generate(ASK) if mode == "generate" else model.do_stream(ASK))

    assert [event["event"] for event in sink.events] == ["model call started", "model call failed"]
    assert sink.last["level"] == "error"
    assert sink.last["error"] == "APICallError"
    assert sink.last["error_message"] == "slow down"
    assert sink.last["status_code"] == 429


@pytest.mark.parametrize(
    ("failure", "name"),
    [(ErrorPart(error=StreamInterruptedError("cut")), "StreamInterruptedError"), (ErrorPart(error="cut"), "unknown")],
    ids=["an exception", "something else"],
)
async def test_an_error_part_makes_the_call_a_failed_one(failure: ErrorPart, name: str) -> None:
    sink = Sink()
    model = under_test(ScriptedModel([parts("hi", failure, finish_reason="error")]), logging_to(sink))

    await parts_of(model)

    assert [event["event"] for event in sink.events] == ["model call started", "model call failed"]
    assert sink.last["error"] == name
    assert sink.last["finish_reason"] == "error"


async def test_an_iterator_that_raises_makes_the_call_a_failed_one() -> None:
    sink = Sink()
    model = under_test(ScriptedModel([parts("hi", Raise(ConnectionError("gone")))]), logging_to(sink))

    with pytest.raises(ConnectionError):
        await parts_of(model)

    assert sink.last["event"] == "model call failed"
    assert sink.last["error_message"] == "gone"


async def test_a_stream_that_is_closed_early_says_so() -> None:
    sink = Sink()
    inner = ScriptedModel([parts("a", "b", "c")])

    async with await under_test(inner, logging_to(sink)).do_stream(ASK) as stream:
        async for _ in stream:
            break

    assert [event["event"] for event in sink.events] == ["model call started", "model call closed early"]
    assert inner.open_streams == 0


@pytest.mark.filterwarnings("ignore:a StreamResult was dropped unread:ResourceWarning")
async def test_a_stream_that_is_dropped_unread_says_so_too() -> None:
    sink = Sink()

    await under_test(ScriptedModel([text("a")]), logging_to(sink)).do_stream(ASK)
    gc.collect()
    await asyncio.sleep(0)  # the closing is handed to the loop
    await asyncio.sleep(0)  # and runs

    assert [event["event"] for event in sink.events] == ["model call started", "model call closed early"]


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_a_cancelled_call_says_so_and_is_no_error(mode: str) -> None:
    sink = Sink()
    model = under_test(ScriptedModel([parts("a", Wait(asyncio.Event()), "b")]), logging_to(sink))

    task = asyncio.ensure_future(parts_of(model) if mode == "stream" else model.do_generate(ASK))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert sink.last["event"] == "model call cancelled"
    assert sink.last["level"] == "info"


async def test_a_cancelled_error_that_a_model_raises_by_itself_is_a_failure() -> None:
    sink = Sink()
    model = under_test(ScriptedModel([asyncio.CancelledError()]), logging_to(sink))

    with pytest.raises(asyncio.CancelledError):
        await model.do_generate(ASK)

    assert sink.last["event"] == "model call failed"


async def test_a_cached_answer_is_named_so() -> None:
    sink = Sink()
    hit = replace(text("hi"), provider_metadata={"onion": {"cache": {"hit": True}}})
    model = under_test(ScriptedModel([hit]), logging_to(sink))

    await model.do_generate(ASK)

    assert sink.last["cache_hit"] is True


async def test_in_a_run_events_name_run_step_and_which_call_of_the_step_it_is() -> None:
    sink = Sink()
    model = under_test(ScriptedModel([text("a"), text("b"), text("c")]), logging_to(sink))
    state: dict[object, object] = {}

    for step in (0, 0, 1):
        await model.do_generate(ASK.replace(run=RunInfo(run_id="run-1", step_number=step, state=state)))

    seen = [(event["run_id"], event["step"], event["attempt"]) for event in sink.events[1::2]]
    assert seen == [("run-1", 0, 1), ("run-1", 0, 2), ("run-1", 1, 1)]


async def test_names_of_tools_are_told_but_no_content_unless_asked() -> None:
    sink = Sink()
    tools = (FunctionTool(name="weather", input_schema={"type": "object"}),)
    model = under_test(ScriptedModel([answer("private", call("weather", {"city": "Oslo"}))]), logging_to(sink))

    await model.do_generate(ASK.replace(tools=tools))

    assert sink.events[0]["tools"] == 1
    assert sink.last["tool_calls"] == ["weather"]
    assert "private" not in str(sink.events)
    assert "hello" not in str(sink.events)
    assert "Oslo" not in str(sink.events)


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_content_is_written_if_asked_and_bounded_in_length(mode: str) -> None:
    sink = Sink()
    said = answer("x" * 100, call("weather", {"city": "y" * 100}))
    model = under_test(ScriptedModel([said]), logging_to(sink, content=True, max_content_length=10))

    await (parts_of(model) if mode == "stream" else model.do_generate(ASK))

    assert sink.events[0]["prompt"] == ["user: hello"]
    assert sink.last["text"] == "xxxxxxxxxx…"
    assert sink.last["tool_calls"] == ['weather({"…']


async def test_a_long_text_is_not_kept_beyond_what_is_shown() -> None:
    sink = Sink()
    model = under_test(
        ScriptedModel([parts(*("z " * 50 for _ in range(200)))]),
        logging_to(sink, content=True, max_content_length=10),
    )

    await parts_of(model)

    assert sink.last["text"] == "z z z z z …"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (SystemMessage(content="be brief"), "system: be brief"),
        (
            UserMessage(content=(TextPart(text="see"), FilePart(media_type="image/png", data=FileData(data="iVBOR")))),
            "user: see <file image/png>",
        ),
        (
            AssistantMessage(
                content=(
                    ReasoningPart(text="hm"),
                    CustomPart(kind="openai.item"),
                    ToolCallPart(tool_call_id="1", tool_name="f", input={}),
                    ToolApprovalRequestPart(approval_id="1", tool_call_id="1"),
                )
            ),
            "assistant: hm <openai.item> <call f> <tool-approval-request>",
        ),
        (
            ToolMessage(content=(ToolResultPart(tool_call_id="1", tool_name="f", output=TextOutput(value="9")),)),
            "tool: <result of f>",
        ),
    ],
    ids=["system", "user", "assistant", "tool"],
)
def test_a_message_is_described_in_one_line(message: Message, shown: str) -> None:
    assert describe_message(message, 100) == shown


async def test_it_writes_to_structlog_unless_told_otherwise() -> None:
    capture = LogCapture()
    structlog.configure(processors=[capture])

    await under_test(ScriptedModel([text("hi")]), Logging()).do_generate(ASK)
    structlog.reset_defaults()

    assert [entry["event"] for entry in capture.entries] == ["model call started", "model call finished"]


async def test_a_logger_that_raises_does_not_disturb_the_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Sink):
        def info(self, event: str, /, **fields: object) -> None:
            raise OSError("disk full")

    result = await collect(await under_test(ScriptedModel([text("hi")]), Logging(Broken())).do_stream(ASK))

    assert result.text == "hi"
    assert [record.getMessage() for record in caplog.records] == [
        "the logger of Logging() raised while it wrote 'model call started'",
        "the logger of Logging() raised while it wrote 'model call finished'",
    ]


@given(pieces=st.lists(st.text(), max_size=6))
def test_the_text_is_the_same_however_it_is_cut(pieces: list[str]) -> None:
    sink = Sink()
    model = under_test(ScriptedModel([parts(*pieces), text("".join(pieces))]), logging_to(sink, content=True))

    async def both() -> None:
        await parts_of(model)
        await model.do_generate(ASK)

    asyncio.run(both())

    assert sink.events[1]["text"] == sink.events[3]["text"]


async def test_calls_at_once_keep_their_events_apart() -> None:
    sink = Sink()
    layer = logging_to(sink)
    models = [under_test(ScriptedModel([text(str(number))]), layer) for number in range(20)]

    await asyncio.gather(*(parts_of(model) for model in models))

    ids = [event["call_id"] for event in sink.events]
    assert sorted(map(str, ids)) == sorted(f"call-{number}" for number in range(1, 21) for _ in range(2))


def test_a_length_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="max_content_length must be at least 1, got 0"):
        Logging(max_content_length=0)


def test_it_shows_its_settings() -> None:
    assert repr(Logging()) == "Logging()"
    assert repr(Logging(content=True)) == "Logging(content=True)"


def test_the_package_loads_no_logger_before_the_first_event() -> None:
    program = (
        "import sys, onion.middleware; onion.middleware.Logging(); "
        "print([name for name in ('structlog', 'diskcache', 'redis', 'opentelemetry') if name in sys.modules])"
    )

    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout

    assert output.strip() == "[]"
