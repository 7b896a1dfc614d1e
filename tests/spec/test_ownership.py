"""Who may use a stream, what it may be made of, and what happens when releasing it fails."""

import asyncio
import gc
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable

import pytest

from onion.errors import StreamMisuseError
from onion.spec import (
    PartTransform,
    RequestInfo,
    ResponseInfo,
    StreamPart,
    StreamResult,
)
from tests.reading import read
from tests.spec.connections import PARTS, Connection, Watch, settle


async def passing(parts: AsyncIterator[StreamPart]) -> AsyncIterator[StreamPart]:
    async for part in parts:
        yield part


USES: dict[str, Callable[[StreamResult], object]] = {
    "read": aiter,
    "handed on": lambda stream: stream.pipe(PartTransform),
    "handed on through a layer": lambda stream: stream.through(passing),
}


@pytest.mark.parametrize("first", USES)
@pytest.mark.parametrize("second", USES)
async def test_a_stream_is_used_once(first: str, second: str) -> None:
    stream = Connection().stream()
    outer = USES[first](stream)

    with pytest.raises(StreamMisuseError, match=f"already {first[:9].strip()}"):
        USES[second](stream)

    if isinstance(outer, StreamResult):
        await outer.aclose()


async def test_a_closed_stream_is_not_read() -> None:
    stream = Connection().stream()
    await stream.aclose()

    with pytest.raises(StreamMisuseError, match="already closed"):
        aiter(stream)

    assert repr(stream) == "StreamResult(closed)"


async def test_closing_what_was_handed_on_leaves_it_to_its_owner() -> None:
    connection = Connection()
    inner = connection.stream()
    outer = inner.pipe(PartTransform)

    await inner.aclose()
    before = connection.closed
    seen = await read(outer)

    assert before == 0
    assert tuple(seen) == PARTS


async def test_releasing_what_was_handed_on_closes_it_nevertheless() -> None:
    connection, watch = Connection(), Watch()
    inner = connection.stream()
    outer = inner.pipe(lambda: watch).through(passing)
    await anext(aiter(outer))

    await inner.release()
    closed = connection.closed
    await outer.aclose()

    assert closed == connection.closed == 1
    assert watch.endings == [("closed", None)]


async def test_a_factory_that_fails_leaves_the_stream_with_its_owner() -> None:
    def broken() -> PartTransform:
        raise ZeroDivisionError

    def broken_layer(_: AsyncIterator[StreamPart]) -> AsyncIterator[StreamPart]:
        raise ZeroDivisionError

    stream = Connection().stream()

    with pytest.raises(ZeroDivisionError):
        stream.pipe(broken)
    with pytest.raises(ZeroDivisionError):
        stream.through(broken_layer)

    assert tuple(await read(stream)) == PARTS


async def test_dropped_unread_where_warnings_are_errors_it_closes_nevertheless() -> None:
    connection = Connection()
    stream = connection.stream()
    unraisable: list[object] = []
    hook, sys.unraisablehook = sys.unraisablehook, unraisable.append

    del stream
    gc.collect()
    sys.unraisablehook = hook
    await settle()

    assert len(unraisable) == 1
    assert connection.closed == 1


async def test_request_and_response_stay_with_the_stream() -> None:
    request, response = RequestInfo(body={}), ResponseInfo(id="r1")
    connection = Connection()
    stream = StreamResult(connection.parts(), head=(), request=request, response=response)

    outer = stream.pipe(PartTransform).through(passing)

    assert (outer.request, outer.response) == (request, response)
    await outer.aclose()


async def test_parts_that_were_read_before_come_first() -> None:
    async def rest() -> AsyncIterator[StreamPart]:
        for part in PARTS[2:]:
            yield part

    assert tuple(await read(StreamResult(rest(), head=PARTS[:2]))) == PARTS
    assert tuple(await read(StreamResult(rest(), head=PARTS[:2]).pipe(PartTransform))) == PARTS


class PlainIterator:
    """An iterator that is no generator, so has nothing to close."""

    def __init__(self) -> None:
        self.rest = list(PARTS)

    def __aiter__(self) -> AsyncIterator[StreamPart]:
        return self

    async def __anext__(self) -> StreamPart:
        if not self.rest:
            raise StopAsyncIteration
        return self.rest.pop(0)


async def test_any_async_iterator_will_do() -> None:
    assert tuple(await read(StreamResult(PlainIterator()))) == PARTS


class ClosingIterator(PlainIterator):
    """An iterator that is no generator, but has something to close."""

    closed = 0

    async def aclose(self) -> None:
        self.closed += 1


async def test_an_iterator_that_can_be_closed_is_closed() -> None:
    parts = ClosingIterator()
    stream = StreamResult(parts)

    await stream.aclose()

    assert parts.closed == 1


async def test_a_close_that_fails_does_not_keep_the_transforms_from_knowing() -> None:
    async def broken_close() -> None:
        raise OSError

    watch = Watch()
    stream = StreamResult(PlainIterator(), close=broken_close).pipe(lambda: watch)

    with pytest.raises(OSError, match=r"^$"):
        await stream.aclose()

    assert watch.endings == [("closed", None)]


async def test_a_generator_that_fails_to_close_does_not_keep_the_connection_open() -> None:
    async def stubborn() -> AsyncGenerator[StreamPart, None]:
        try:
            yield PARTS[0]
        finally:
            raise ZeroDivisionError

    connection = Connection()
    stream = StreamResult(stubborn(), close=connection.close)
    await anext(aiter(stream))

    with pytest.raises(ZeroDivisionError):
        await stream.aclose()

    assert connection.closed == 1


async def test_a_stream_that_another_thread_drops_unread_is_closed_where_it_was_opened() -> None:
    connection = Connection()
    box = [connection.stream()]

    with pytest.warns(ResourceWarning, match="dropped unread"):
        await asyncio.to_thread(box.clear)
    await settle()

    assert connection.closed == 1


async def test_a_stream_that_another_loop_drops_unread_is_closed_where_it_was_opened() -> None:
    connection = Connection()
    box = [connection.stream()]

    async def drop() -> None:
        box.clear()
        await settle()

    with pytest.warns(ResourceWarning, match="dropped unread"):
        await asyncio.to_thread(asyncio.run, drop())
    await settle()

    assert connection.closed == 1
    assert box == []


async def test_an_iterator_that_is_no_generator_is_closed_if_it_can_be() -> None:
    class Parts:
        """Gives the parts one by one, and notes that it was closed."""

        def __init__(self) -> None:
            self.left = list(PARTS)
            self.closed = 0

        def __aiter__(self) -> AsyncIterator[StreamPart]:
            return self

        async def __anext__(self) -> StreamPart:
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop(0)

        async def aclose(self) -> None:
            self.closed += 1

    closeable = Parts()

    read_parts = [part async for part in StreamResult(closeable)]

    assert read_parts == list(PARTS)
    assert closeable.closed == 1


async def test_an_iterator_that_cannot_be_closed_is_left_alone() -> None:
    class Parts:
        """Gives nothing."""

        def __aiter__(self) -> AsyncIterator[StreamPart]:
            return self

        async def __anext__(self) -> StreamPart:
            raise StopAsyncIteration

    assert [part async for part in StreamResult(Parts())] == []


def test_a_stream_may_be_made_before_there_is_an_event_loop() -> None:
    async def parts() -> AsyncGenerator[StreamPart, None]:
        for part in PARTS:
            yield part

    async def read_all(stream: StreamResult) -> list[StreamPart]:
        return [part async for part in stream]

    stream = StreamResult(parts())

    assert asyncio.run(read_all(stream)) == list(PARTS)
