"""Views: each sees everything, one reader pulls, and whoever goes away early ends the run."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import TYPE_CHECKING

import pytest

from onion import is_step_count, stream_text, tool
from onion.errors import AbortedError
from onion.testing import ScriptedModel, Wait, parts, text, tool_call

if TYPE_CHECKING:
    from onion import StreamTextResult
    from onion.spec.events import AbortEvent, EndEvent


def endless() -> ScriptedModel:
    """A stream that never ends after its second piece."""
    return ScriptedModel([parts("one ", "two ", Wait(asyncio.Event()))])


async def settled() -> None:
    """Let tasks that are done with everything end."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_views_made_before_the_first_read_each_see_everything() -> None:
    result = stream_text(model=ScriptedModel([parts("a", "b")]), prompt="p")
    first, second, full = result.text_stream, result.text_stream, result.full_stream

    texts = [piece async for piece in first]
    again = [piece async for piece in second]
    types = [part.type async for part in full]

    assert texts == again == ["a", "b"]
    assert types == [
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
    ]


async def test_a_view_made_after_the_first_read_is_refused() -> None:
    result = stream_text(model=ScriptedModel([text("a")]), prompt="p")
    await result.text

    with pytest.raises(RuntimeError, match="before the first read"):
        _ = result.text_stream


async def test_an_ended_view_stays_ended() -> None:
    result = stream_text(model=ScriptedModel([text("a")]), prompt="p")
    view = result.text_stream

    first = [piece async for piece in view]
    second = [piece async for piece in view]

    assert (first, second) == (["a"], [])


async def test_two_tasks_read_at_once_and_one_of_them_pulls() -> None:
    go = asyncio.Event()
    result = stream_text(model=ScriptedModel([parts("a", Wait(go), "b")]), prompt="p")
    views = [result.text_stream, result.text_stream]

    async def read(index: int) -> list[str]:
        return [piece async for piece in views[index]]

    tasks = [asyncio.create_task(read(index)) for index in range(2)]
    await settled()
    go.set()

    assert await asyncio.gather(*tasks) == [["a", "b"], ["a", "b"]]


async def test_one_of_two_readers_stops_and_the_other_gets_everything() -> None:
    model = ScriptedModel([parts("a", "b", "c")])
    result = stream_text(model=model, prompt="p")
    stopping, staying = result.text_stream, result.text_stream

    async for _ in stopping:
        break
    await stopping.aclose()
    del stopping

    assert [piece async for piece in staying] == ["a", "b", "c"]
    assert await result.text == "abc"


async def test_a_view_that_nobody_reads_does_not_keep_the_run_open() -> None:
    model = endless()
    result = stream_text(model=model, prompt="p")
    assert result.full_stream is not result.full_stream

    async for _ in result.text_stream:
        break
    await settled()

    assert model.open_calls == 0


async def test_leaving_the_only_view_early_ends_the_run() -> None:
    model = endless()
    aborts: list[AbortEvent] = []
    result = stream_text(model=model, prompt="p", on_abort=aborts.append)

    async for _ in result.text_stream:
        break
    await settled()

    assert model.open_streams == 0
    assert len(aborts) == 1
    with pytest.raises(AbortedError, match="reader"):
        await result.text


async def test_closing_the_only_view_ends_the_run() -> None:
    model = endless()
    result = stream_text(model=model, prompt="p")
    view = result.text_stream

    await anext(view)
    await view.aclose()
    await view.aclose()

    assert model.open_streams == 0
    assert [piece async for piece in view] == []


async def test_an_exception_in_the_consumer_closes_the_stream() -> None:
    model = endless()

    async def consume() -> None:
        async for _ in stream_text(model=model, prompt="p").text_stream:
            raise ValueError("consumer")

    with pytest.raises(ValueError, match="consumer"):
        await consume()
    gc.collect()
    await settled()

    assert model.open_streams == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_garbage_collection_closes_the_stream() -> None:
    model = endless()

    async def start() -> None:
        result = stream_text(model=model, prompt="p")
        full = result.full_stream
        text_view = result.text_stream
        await anext(full)
        await anext(text_view)

    await start()
    gc.collect()
    await settled()

    assert model.open_streams == 0


async def test_cancelling_the_puller_cancels_the_run_for_everybody() -> None:
    model = endless()
    aborts: list[AbortEvent] = []
    result = stream_text(model=model, prompt="p", on_abort=aborts.append)
    pulled, waited = result.text_stream, result.full_stream

    async def read_text() -> None:
        async for _ in pulled:
            pass

    async def read_full() -> list[str]:
        return [part.type async for part in waited]

    puller = asyncio.create_task(read_text())
    waiter = asyncio.create_task(read_full())
    await settled()
    puller.cancel()

    with pytest.raises(asyncio.CancelledError):
        await puller
    with pytest.raises(AbortedError, match="cancelled"):
        await waiter
    assert [event.kind for event in aborts] == ["cancel"]
    assert model.open_streams == 0


async def test_a_cancelled_waiter_leaves_the_puller_alone() -> None:
    go = asyncio.Event()
    result = stream_text(model=ScriptedModel([parts("a", Wait(go), "b")]), prompt="p")
    views = [result.text_stream, result.text_stream]

    async def read(index: int) -> list[str]:
        return [piece async for piece in views[index]]

    puller, waiter = (asyncio.create_task(read(index)) for index in range(2))
    await settled()
    waiter.cancel()
    go.set()

    assert await puller == ["a", "b"]
    assert waiter.cancelled()


async def test_abort_interrupts_a_waiting_pull() -> None:
    model = endless()
    aborts: list[AbortEvent] = []
    result = stream_text(model=model, prompt="p", on_abort=aborts.append)
    full, texts = result.full_stream, result.text_stream

    async def read() -> list[str]:
        return [part.type async for part in full]

    reader = asyncio.create_task(read())
    await settled()
    result.abort("enough")
    result.abort("not heard")

    assert (await reader)[-1] == "abort"
    assert reader.cancelling() == 0
    assert [await anext(texts), await anext(texts)] == ["one ", "two "]
    with pytest.raises(AbortedError, match="enough") as caught:
        await anext(texts)
    assert caught.value.reason == "enough"
    assert [(event.reason, event.kind) for event in aborts] == [("enough", "abort")]
    assert model.open_streams == 0


async def test_abort_between_two_reads_ends_the_run_at_the_next() -> None:
    model = endless()
    result = stream_text(model=model, prompt="p")
    full = result.full_stream
    await anext(full)

    result.abort("enough")
    rest = [part.type async for part in full]

    assert rest == ["abort"]


async def test_abort_before_the_first_read_sends_nothing() -> None:
    model = endless()
    aborts: list[AbortEvent] = []
    result = stream_text(model=model, prompt="p", on_abort=aborts.append)

    result.abort()
    types = [part.type async for part in result.full_stream]

    assert types == ["start", "abort"]
    assert (len(model.calls), aborts) == (0, [])


async def test_abort_out_of_the_model_itself_is_heard_at_the_next_read() -> None:
    box: list[StreamTextResult[str]] = []

    async def abort() -> None:
        box[0].abort("by the model")

    box.append(stream_text(model=ScriptedModel([parts("a", Wait(abort), "b", "c")]), prompt="p"))
    types = [part.type async for part in box[0].full_stream]
    await asyncio.sleep(0)

    assert types == ["start", "start-step", "text-start", "text-delta", "text-delta", "abort"]


async def test_abort_from_a_thread_is_heard() -> None:
    result = stream_text(model=endless(), prompt="p")
    full = result.full_stream
    await anext(full)
    thread = threading.Thread(target=result.abort, args=("thread",))

    thread.start()
    with pytest.raises(AbortedError, match="thread"):
        await result.text
    thread.join()

    assert [part.type async for part in full][-1] == "abort"


async def test_abort_after_the_end_does_nothing() -> None:
    ended: list[EndEvent] = []
    result = stream_text(model=ScriptedModel([text("a")]), prompt="p", on_end=ended.append)

    await result.text
    result.abort("late")

    assert await result.text == "a"
    assert len(ended) == 1


async def test_a_tool_aborts_its_own_run_and_no_further_call_is_made() -> None:
    model = ScriptedModel([tool_call("stop"), text("never")])
    box: list[StreamTextResult[str]] = []

    @tool
    async def stop() -> str:
        """Abort, and ignore it."""
        box[0].abort("by the tool")
        return "partial"

    box.append(stream_text(model=model, prompt="p", tools=[stop], stop_when=is_step_count(3)))
    types = [part.type async for part in box[0].full_stream]
    await asyncio.sleep(0)

    assert types[-1] == "abort"
    assert len(model.calls) == 1


async def test_closing_ends_a_run_that_another_task_waits_for() -> None:
    model = endless()
    result = stream_text(model=model, prompt="p")
    full = result.full_stream

    async def read() -> list[str]:
        return [part.type async for part in full]

    reader = asyncio.create_task(read())
    await settled()
    await result.aclose()

    assert model.open_streams == 0
    assert (await reader)[:2] == ["start", "start-step"]


async def test_closing_an_unread_stream_sends_nothing() -> None:
    model = endless()
    result = stream_text(model=model, prompt="p")

    await result.aclose()
    await result.aclose()

    assert not model.calls
    with pytest.raises(AbortedError, match="closed"):
        await result.text
    with pytest.raises(RuntimeError):
        _ = result.full_stream
