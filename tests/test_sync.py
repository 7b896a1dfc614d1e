"""onion.sync: the same loop, blocking, with and without a running event loop."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import time
from typing import TYPE_CHECKING

import pytest

from onion import GenerateTextResult, is_step_count, sync, tool
from onion.errors import AbortedError, OnionError
from onion.sync import worker
from onion.testing import ScriptedModel, Wait, parts, text, tool_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion import Tool

mood: contextvars.ContextVar[str] = contextvars.ContextVar("mood", default="none")
PATIENCE = 5.0


@tool
async def feel() -> str:
    """Say how it is."""
    return mood.get()


TOOLS: list[Tool] = [feel]


def eventually(condition: object) -> None:
    """Wait until *condition*, a function, holds."""
    assert callable(condition)
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        gc.collect()
        threading.Event().wait(0.005)


def endless() -> ScriptedModel:
    return ScriptedModel([parts("a", "b", Wait(asyncio.Event()))])


def test_generate_text_blocks_and_runs_in_a_copy_of_the_callers_context() -> None:
    mood.set("calm")
    model = ScriptedModel([tool_call("feel"), text("done")])

    result = sync.generate_text(model=model, prompt="p", tools=TOOLS, stop_when=is_step_count(2))

    assert result.text == "done"
    assert [found.output for found in result.tool_results] == ["calm"]


def test_an_output_is_typed_here_as_well() -> None:
    assert sync.generate_text(model=ScriptedModel([text("3")]), prompt="p", output=int).output == 3
    assert sync.stream_text(model=ScriptedModel([text("3")]), prompt="p", output=int).result.output == 3


async def test_it_works_inside_of_a_running_event_loop() -> None:
    assert sync.generate_text(model=ScriptedModel([text("a")]), prompt="p").text == "a"


def test_an_error_is_raised_as_it_is() -> None:
    with pytest.raises(OnionError, match="broken"):
        sync.generate_text(model=ScriptedModel([OnionError("broken")]), prompt="p")


def test_a_stream_is_read_piece_by_piece() -> None:
    with sync.stream_text(model=ScriptedModel([parts("a", "b")]), prompt="p") as stream:
        texts, full = stream.text_stream, stream.full_stream

        assert list(texts) == ["a", "b"]
        assert [part.type for part in full][-1] == "finish"
        assert stream.result.text == "ab"


def test_partial_outputs_and_elements_are_read_as_well() -> None:
    from onion import Output

    model = ScriptedModel([parts('{"elements":[1,', "2]}")])
    stream = sync.stream_text(model=model, prompt="p", output=Output.array(int))
    partials, elements = stream.partial_output_stream, stream.element_stream

    assert list(partials)[-1] == [1, 2]
    assert list(elements) == [1, 2]


def test_the_values_of_a_stream_are_those_of_its_result() -> None:
    stream = sync.stream_text(model=ScriptedModel([parts("a", "b")]), prompt="p")
    whole = stream.result

    assert (stream.text, stream.output, stream.finish_reason) == ("ab", "ab", "stop")
    assert (stream.steps, stream.final_step, stream.content) == (whole.steps, whole.final_step, whole.content)
    assert (stream.reasoning, stream.reasoning_text, stream.files, stream.sources) == ((), None, (), ())
    assert (stream.tool_calls, stream.tool_results, stream.warnings, stream.callback_errors) == ((), (), (), ())
    assert (stream.usage, stream.usage_with_agents, stream.agent_runs) == (whole.usage, whole.usage, ())
    assert (stream.raw_finish_reason, stream.provider_metadata) == (None, None)
    assert (stream.request, stream.response) == (whole.request, whole.response)
    assert stream.response_messages == whole.response_messages


def test_leaving_the_block_closes_the_stream() -> None:
    model = endless()

    with sync.stream_text(model=model, prompt="p") as stream:
        assert next(stream.text_stream) == "a"

    assert model.open_streams == 0


def test_a_failure_that_nobody_was_told_of_is_raised_on_the_way_out() -> None:
    def run() -> None:
        with sync.stream_text(model=ScriptedModel([OnionError("broken")]), prompt="p") as stream:
            list(stream.full_stream)

    with pytest.raises(OnionError, match="broken"):
        run()


def test_abort_and_close_end_the_run() -> None:
    model = endless()
    stream = sync.stream_text(model=model, prompt="p")
    full = stream.full_stream
    next(full)

    stream.abort("enough")

    assert [part.type for part in full] == ["abort"]
    with pytest.raises(AbortedError, match="enough"):
        _ = stream.result
    stream.close()


def test_closing_a_view_ends_the_run() -> None:
    model = endless()
    stream = sync.stream_text(model=model, prompt="p")
    view = stream.text_stream
    next(view)

    view.close()

    assert model.open_streams == 0


def test_a_dropped_stream_is_closed() -> None:
    model = endless()

    def start() -> None:
        stream = sync.stream_text(model=model, prompt="p")
        next(stream.text_stream)

    start()

    eventually(lambda: model.open_streams == 0)


def test_an_agent_blocks_as_well() -> None:
    model = ScriptedModel([tool_call("feel"), text("one"), text("two")])
    agent = sync.ToolLoopAgent(model=model, tools=TOOLS)

    assert agent.generate(prompt="p").text == "one"
    assert agent.stream(prompt="p").result.text == "two"
    assert sync.ToolLoopAgent(model=ScriptedModel([text("3")]), output=int).generate(prompt="p").output == 3


@pytest.mark.parametrize("is_running", [True, False])
def test_an_interrupted_call_is_cancelled_before_the_interruption_goes_on(is_running: bool) -> None:  # noqa: FBT001 - a parameter of the test
    running = threading.Event()
    stopped: list[str] = []

    class Interrupted(BaseException):
        """Like Ctrl-C."""

    busy = worker.Worker()

    async def forever() -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("stopped")

    def interrupt() -> None:
        stopped.append("asked")
        busy.cancel()

    def wait(*_arguments: object) -> None:
        if is_running:
            running.wait(PATIENCE)
        raise Interrupted

    with pytest.raises(Interrupted):
        busy.do(forever, interrupt=interrupt, wait=wait)

    assert stopped[:1] == ["asked"]
    assert running.is_set() is (stopped[1:] == ["stopped"])


def test_a_call_from_the_background_loop_itself_is_refused() -> None:
    @tool
    async def nested() -> str:
        """Call the blocking function where it must not be called."""
        return sync.generate_text(model=ScriptedModel([text("never")]), prompt="p").text

    model = ScriptedModel([tool_call("nested"), text("done")])
    result = sync.generate_text(model=model, prompt="p", tools=[nested], stop_when=is_step_count(2))

    assert "async functions" in str(result.steps[0].content[-1])


def test_a_plain_tool_may_make_blocking_calls() -> None:
    @tool
    def nested() -> str:
        """Call the blocking function from a thread."""
        return sync.generate_text(model=ScriptedModel([text("inner")]), prompt="p").text

    model = ScriptedModel([tool_call("nested"), text("done")])
    result = sync.generate_text(model=model, prompt="p", tools=[nested], stop_when=is_step_count(2))

    assert [found.output for found in result.tool_results] == ["inner"]


def test_a_forked_process_gets_a_loop_of_its_own() -> None:
    processes = iter([1, 1, 2])
    background = worker.Background(process_id=lambda: next(processes))

    first = background.loop()

    assert background.loop() is first
    assert background.loop() is not first


def test_cancelling_an_idle_worker_refuses_what_it_is_asked_next() -> None:
    idle = worker.Worker()

    async def never() -> None:
        raise AssertionError

    idle.cancel()

    with pytest.raises(asyncio.CancelledError):
        idle.do(never, interrupt=idle.cancel)
    idle.stop()


def test_stopping_after_the_loop_is_gone_does_nothing() -> None:
    loop = asyncio.new_event_loop()
    loop.close()

    worker.stop(loop, asyncio.Queue(), None)

    assert loop.is_closed()


def test_an_agent_is_a_tool_of_a_blocking_run_too() -> None:
    helper = sync.ToolLoopAgent[object, str](model=ScriptedModel([text("three")]), name="helper")
    model = ScriptedModel([tool_call("ask", {"prompt": "1 + 2?"}), text("done")])

    result = sync.generate_text(
        model=model, prompt="p", tools=[helper.as_tool("ask", "Asks the helper.")], stop_when=is_step_count(2)
    )

    assert [found.output for found in result.tool_results] == ["three"]
    assert [run.agent for run in result.agent_runs] == [helper.name] == ["helper"]


def test_an_agent_shows_its_name_and_model() -> None:
    assert repr(sync.ToolLoopAgent(model="local", name="helper")) == "ToolLoopAgent(name='helper', model='local')"


def in_time(call: Callable[[], object]) -> object:
    """What *call* gives, in a thread, so that one that never returns is seen."""
    found: list[object] = []

    def keep() -> None:
        found.append(call())

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert found, "it never returned"
    return found[0]


def test_the_values_are_there_after_the_block_too() -> None:
    with sync.stream_text(model=ScriptedModel([parts("a", "b")]), prompt="p") as stream:
        texts = list(stream.text_stream)

    assert texts == ["a", "b"]
    assert in_time(lambda: stream.text) == "ab"


def test_closing_twice_is_closing_once() -> None:
    stream = sync.stream_text(model=ScriptedModel([text("a")]), prompt="p")
    view = stream.text_stream

    def close() -> type[BaseException] | None:
        stream.close()
        stream.close()
        try:
            list(view)
        except AbortedError as error:
            return type(error)
        return None

    assert in_time(close) is AbortedError


def test_what_is_asked_while_another_thread_closes_is_answered() -> None:
    busy = worker.Worker()

    async def late() -> str:
        return "late"

    def ask() -> list[str]:
        busy.stop()
        return [busy.do(late, interrupt=busy.cancel) for _ in range(3)]

    assert in_time(ask) == ["late", "late", "late"]


def test_a_stream_is_not_read_in_the_loop_that_reads_it() -> None:
    stream = sync.stream_text(model=ScriptedModel([text("a")]), prompt="p")

    @tool
    async def read() -> str:
        """Read a stream that somebody else made."""
        return stream.text

    model = ScriptedModel([tool_call("read"), text("done")])

    result = in_time(lambda: sync.generate_text(model=model, prompt="p", tools=[read], stop_when=is_step_count(2)))

    assert isinstance(result, GenerateTextResult)
    assert "its own event loop" in str(result.steps[0].content[-1])
    stream.close()


def test_a_stream_from_before_a_fork_is_refused() -> None:
    processes = iter([1, 2])
    old = worker.Worker(worker.Background(process_id=lambda: next(processes)))

    async def never() -> None:
        raise AssertionError

    with pytest.raises(RuntimeError, match="before the process was forked"):
        old.do(never, interrupt=old.cancel)
    old.stop()
