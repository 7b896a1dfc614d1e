"""A run that is waited for by its own tools and callbacks, or from elsewhere: an error instead of a hang."""

from __future__ import annotations

import asyncio
import threading

import pytest

from onion import StreamTextResult, Tool, is_step_count, stream_text, tool
from onion.errors import AbortedError, StreamMisuseError
from onion.testing import ScriptedModel, Wait, answer, call, parts, text, tool_call

pytestmark = pytest.mark.timeout(10)


def run_with(look: Tool, *, calls: int = 1) -> StreamTextResult[str]:
    """A run that calls the tool so many times at once."""
    asked = [call("look", {}, id=str(number)) for number in range(calls)]
    model = ScriptedModel([answer(*asked), text("done")])
    return stream_text(model=model, prompt="p", tools=[look], stop_when=is_step_count(2))


@pytest.mark.parametrize("calls", [1, 2], ids=["in the reading task", "in a task of its own"])
async def test_a_tool_that_waits_for_its_own_run_is_told_so(calls: int) -> None:
    @tool
    async def look() -> str:
        """Wait for what waits for this."""
        return await result.text

    result = run_with(look, calls=calls)

    steps = await result.steps

    assert await result.text == "done"
    assert "waits for that run" in str(steps[0].response_messages[1])


@pytest.mark.parametrize("calls", [1, 2], ids=["in the reading task", "in a task of its own"])
async def test_a_tool_of_a_sub_run_that_waits_for_the_outer_run_is_told_so(calls: int) -> None:
    @tool
    async def deep() -> str:
        """Wait for the outer run."""
        return await result.text

    @tool
    async def look() -> str:
        """Run the loop."""
        model = ScriptedModel([tool_call("deep", {}), text("inner")])
        inner = stream_text(model=model, prompt="p", tools=[deep], stop_when=is_step_count(2))
        return str((await inner.steps)[0].response_messages[1])

    result = run_with(look, calls=calls)

    assert "waits for that run" in str((await result.steps)[0].tool_results[0].output)


async def test_a_callback_that_waits_for_its_own_run_is_told_so() -> None:
    async def on_end(_: object) -> None:
        await result.text

    result = stream_text(model=ScriptedModel([text("done")]), prompt="p", on_end=on_end)

    assert await result.text == "done"
    assert [type(error) for error in await result.callback_errors] == [StreamMisuseError]


async def test_a_callback_may_close_its_own_run() -> None:
    async def on_end(_: object) -> None:
        await result.aclose()

    result = stream_text(model=ScriptedModel([text("done")]), prompt="p", on_end=on_end)

    assert await result.text == "done"
    assert await result.callback_errors == ()


async def test_a_tool_may_close_its_own_run() -> None:
    @tool
    async def look() -> str:
        """End the run."""
        await result.aclose()
        return "ended"

    result = run_with(look)

    with pytest.raises(AbortedError):
        await result.text


async def test_a_run_that_is_read_in_another_event_loop_is_not_waited_for() -> None:
    release = asyncio.Event()
    result = stream_text(model=ScriptedModel([parts("a", Wait(release), "b")]), prompt="p")
    view = result.text_stream
    first = await anext(view)
    reading = asyncio.ensure_future(anext(view))
    await asyncio.sleep(0)
    failures: list[BaseException] = []

    def elsewhere() -> None:
        async def wait() -> None:
            await result.text

        try:
            asyncio.run(wait())
        except StreamMisuseError as error:
            failures.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    await asyncio.to_thread(thread.join)
    release.set()

    assert (first, await reading) == ("a", "b")
    assert "another event loop" in str(failures[0])
    await result.aclose()
