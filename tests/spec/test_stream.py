"""Who owns a stream, and how it is closed: by reading, closing, breaking, cancelling, failing or dropping it."""

import asyncio
import gc
import sys
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Callable

import pytest

from onion.errors import StreamMisuseError
from onion.spec import (
    FinishPart,
    FinishReason,
    Outcome,
    PartTransform,
    RequestInfo,
    ResponseInfo,
    StreamPart,
    StreamResult,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    Usage,
)
from tests.reading import read

PARTS: tuple[StreamPart, ...] = (
    StreamStart(),
    TextStart(id="1"),
    TextDelta(id="1", delta="a"),
    TextEnd(id="1"),
    FinishPart(finish_reason=FinishReason(unified="stop"), usage=Usage()),
)


class Connection:
    """What lies behind a stream: parts that come one by one, and a record of how it was closed."""

    def __init__(self, *, error: Exception | None = None, is_stuck: bool = False) -> None:
        self.error = error
        self.is_stuck = is_stuck
        self.generator_closed = 0
        self.closed = 0
        self.waiting = asyncio.Event()

    async def parts(self) -> AsyncGenerator[StreamPart, None]:
        try:
            for part in PARTS[:3]:
                await asyncio.sleep(0)
                yield part
            if self.is_stuck:
                self.waiting.set()
                await asyncio.Event().wait()
            if self.error is not None:
                raise self.error
            for part in PARTS[3:]:
                yield part
        finally:
            self.generator_closed += 1

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1

    def stream(self) -> StreamResult:
        return StreamResult(self.parts(), close=self.close)


class Watch(PartTransform):
    """Notes how often and how it was closed."""

    def __init__(self) -> None:
        self.endings: list[tuple[Outcome, BaseException | None]] = []

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        self.endings.append((outcome, error))


async def passing(parts: AsyncIterator[StreamPart]) -> AsyncIterator[StreamPart]:
    async for part in parts:
        yield part


SHAPES: dict[str, Callable[[StreamResult, Watch], StreamResult]] = {
    "plain": lambda stream, watch: stream.pipe(lambda: watch),
    "piped twice": lambda stream, watch: stream.pipe(lambda: watch).pipe(PartTransform),
    "through a layer": lambda stream, watch: stream.pipe(lambda: watch).through(passing),
    "through two layers": lambda stream, watch: (
        stream.through(passing).pipe(lambda: watch).through(passing).pipe(PartTransform)
    ),
}


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> Callable[[StreamResult, Watch], StreamResult]:
    return SHAPES[str(request.param)]


async def settle() -> None:
    """Let what garbage collection started come to its end."""
    gc.collect()
    for _ in range(20):
        await asyncio.sleep(0)


async def read_one(stream: StreamResult) -> None:
    """Read one part, break, and let everything go."""
    async for _ in stream:
        break


async def test_reading_to_the_end_closes_once(shape: Callable[[StreamResult, Watch], StreamResult]) -> None:
    connection, watch = Connection(), Watch()

    seen = [part async for part in shape(connection.stream(), watch)]

    assert tuple(seen) == PARTS
    assert (connection.generator_closed, connection.closed) == (1, 1)
    assert watch.endings == [("finished", None)]


@pytest.mark.parametrize("count", range(len(PARTS) + 1))
async def test_closing_after_any_part_closes_once(
    shape: Callable[[StreamResult, Watch], StreamResult], count: int
) -> None:
    connection, watch = Connection(), Watch()
    stream = shape(connection.stream(), watch)

    if count:
        iterator = aiter(stream)
        for _ in range(count):
            await anext(iterator)
    await stream.aclose()
    await stream.aclose()

    assert connection.closed == 1
    assert connection.generator_closed == (1 if count else 0)
    assert watch.endings == [("finished" if count == len(PARTS) else "closed", None)]


async def test_after_closing_the_reader_is_at_its_end(shape: Callable[[StreamResult, Watch], StreamResult]) -> None:
    stream = shape(Connection().stream(), Watch())
    iterator = aiter(stream)
    await anext(iterator)

    await stream.aclose()

    assert [part async for part in iterator] == []


async def test_leaving_the_block_closes(shape: Callable[[StreamResult, Watch], StreamResult]) -> None:
    connection, watch = Connection(), Watch()

    async def fail_while_reading() -> None:
        async with shape(connection.stream(), watch) as stream:
            async for _ in stream:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_while_reading()

    assert (connection.generator_closed, connection.closed) == (1, 1)
    assert watch.endings == [("closed", None)]


async def test_a_break_without_closing_closes_when_it_is_collected(
    shape: Callable[[StreamResult, Watch], StreamResult],
) -> None:
    connection, watch = Connection(), Watch()

    await read_one(shape(connection.stream(), watch))
    await settle()

    assert (connection.generator_closed, connection.closed) == (1, 1)
    assert watch.endings == [("closed", None)]


async def test_dropped_unread_it_warns_and_closes(shape: Callable[[StreamResult, Watch], StreamResult]) -> None:
    connection, watch = Connection(), Watch()
    stream = shape(connection.stream(), watch)

    with pytest.warns(ResourceWarning, match="dropped unread") as caught:
        del stream
    await settle()

    assert len(caught) == 1
    assert connection.closed == 1
    assert watch.endings == [("closed", None)]


def test_dropped_unread_without_a_loop_it_warns_and_tells_its_transforms() -> None:
    watch = Watch()

    async def make() -> StreamResult:
        return Connection().stream().pipe(lambda: watch)

    stream = asyncio.run(make())
    with pytest.warns(ResourceWarning, match="dropped unread"):
        del stream

    assert watch.endings == [("closed", None)]


async def test_a_closed_or_read_stream_is_dropped_in_silence() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        closed = Connection().stream()
        await closed.aclose()
        del closed
        await read(Connection().stream())
        await settle()

    assert caught == []


async def test_a_failure_passes_and_closes(shape: Callable[[StreamResult, Watch], StreamResult]) -> None:
    error = ValueError("broken")
    connection, watch = Connection(error=error), Watch()
    seen: list[StreamPart] = []
    stream = shape(connection.stream(), watch)

    with pytest.raises(ValueError, match="broken") as caught:
        await read(stream, seen)

    assert caught.value is error
    assert tuple(seen) == PARTS[:3]
    assert (connection.generator_closed, connection.closed) == (1, 1)
    assert watch.endings == [("error", error)]


async def test_cancelling_the_reader_passes_and_closes(shape: Callable[[StreamResult, Watch], StreamResult]) -> None:
    connection, watch = Connection(is_stuck=True), Watch()
    task = asyncio.create_task(read(shape(connection.stream(), watch)))
    await connection.waiting.wait()

    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert (connection.generator_closed, connection.closed) == (1, 1)
    ((outcome, error),) = watch.endings
    assert (outcome, type(error)) == ("cancelled", asyncio.CancelledError)


async def test_cancelling_the_consumer_between_two_parts_counts_as_cancelled(
    shape: Callable[[StreamResult, Watch], StreamResult],
) -> None:
    connection, watch = Connection(), Watch()

    async def consume() -> None:
        async with shape(connection.stream(), watch) as stream:
            async for _ in stream:
                connection.waiting.set()
                await asyncio.Event().wait()

    task = asyncio.create_task(consume())
    await connection.waiting.wait()
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert (connection.generator_closed, connection.closed) == (1, 1)
    assert watch.endings == [("cancelled", None)]


async def test_a_cancellation_that_a_model_raises_by_itself_is_a_failure() -> None:
    error = asyncio.CancelledError()
    watch = Watch()

    async def parts() -> AsyncIterator[StreamPart]:
        yield StreamStart()
        raise error

    with pytest.raises(asyncio.CancelledError):
        await read(StreamResult(parts()).pipe(lambda: watch))

    assert watch.endings == [("error", error)]


async def test_another_task_may_close_while_the_reader_waits() -> None:
    connection, watch = Connection(is_stuck=True), Watch()
    stream = connection.stream().pipe(lambda: watch)
    task = asyncio.create_task(read(stream))
    await connection.waiting.wait()

    await stream.aclose()
    closed = connection.closed
    task.cancel()
    await asyncio.wait([task])

    assert closed == connection.closed == 1
    assert connection.generator_closed == 1
    assert watch.endings == [("closed", None)]


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


async def test_releasing_what_was_handed_on_closes_it_nevertheless(
    shape: Callable[[StreamResult, Watch], StreamResult],
) -> None:
    connection, watch = Connection(), Watch()
    inner = connection.stream()
    outer = shape(inner, watch)
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
