"""Who owns a stream, and how it is closed: by reading, closing, breaking, cancelling, failing or dropping it."""

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable

import pytest

from onion.spec import (
    PartTransform,
    StreamPart,
    StreamResult,
    StreamStart,
)
from tests.reading import read
from tests.spec.connections import PARTS, Connection, Watch, settle


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
