"""Part transforms: many fused behave as each alone in a row, and what is held back comes out in time."""

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import StreamInterruptedError
from onion.spec import (
    ErrorPart,
    FinishPart,
    FinishReason,
    Outcome,
    PartTransform,
    StreamPart,
    StreamResult,
    TextDelta,
    Usage,
)
from tests.reading import read
from tests.spec.connections import PARTS, Connection, Watch

FINISH = FinishPart(finish_reason=FinishReason(unified="stop"), usage=Usage())
FAULT = ValueError("broken")


def delta(text: str) -> TextDelta:
    return TextDelta(id="1", delta=text)


class Upper(PartTransform):
    def feed(self, part: StreamPart) -> StreamPart:
        return delta(part.delta.upper()) if isinstance(part, TextDelta) else part


class Drop(PartTransform):
    def feed(self, part: StreamPart) -> StreamPart | None:
        return None if isinstance(part, TextDelta) and part.delta == "b" else part


class Double(PartTransform):
    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...]:
        return (part, part) if isinstance(part, TextDelta) else part


class Hold(PartTransform):
    """Holds text back and gives it out in one piece."""

    def __init__(self) -> None:
        self.held = ""

    def feed(self, part: StreamPart) -> StreamPart | None:
        if not isinstance(part, TextDelta):
            return part
        self.held += part.delta
        return None

    def flush(self) -> tuple[StreamPart, ...]:
        held, self.held = self.held, ""
        return (delta(held),) if held else ()


class Guard(PartTransform):
    """Puts an error in the place of a text."""

    def feed(self, part: StreamPart) -> StreamPart:
        return ErrorPart(error=FAULT) if isinstance(part, TextDelta) and "c" in part.delta else part


class Early(PartTransform):
    """Ends the stream before its time, in a tuple with another part."""

    def __init__(self) -> None:
        self.is_over = False

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...] | None:
        if self.is_over:
            return None
        self.is_over = isinstance(part, TextDelta) and part.delta == "d"
        return (part, FINISH) if self.is_over else part


class Fail(PartTransform):
    def feed(self, part: StreamPart) -> StreamPart:
        if isinstance(part, TextDelta) and "e" in part.delta:
            raise FAULT
        return part


class Ended(PartTransform):
    """Keeps the outcome where the test can see it."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        self.outcomes = outcomes

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        del error
        self.outcomes.append(outcome)


async def passing(parts: AsyncIterator[StreamPart]) -> AsyncIterator[StreamPart]:
    async for part in parts:
        yield part


def source(texts: str, ending: StreamPart | Exception | None) -> StreamResult:
    async def parts() -> AsyncIterator[StreamPart]:
        for text in texts:
            yield delta(text)
        if isinstance(ending, Exception):
            raise ending
        if ending is not None:
            yield ending

    return StreamResult(parts())


async def outcome_of(stream: StreamResult) -> tuple[list[StreamPart], Exception | None]:
    """The parts that came, and what was raised."""
    seen: list[StreamPart] = []
    try:
        await read(stream, seen)
    except ValueError as error:
        return seen, error
    return seen, None


@given(
    st.text("abcde", max_size=6),
    st.sampled_from([FINISH, ErrorPart(error="broken"), FAULT, None]),
    st.lists(st.sampled_from([Upper, Drop, Double, Hold, Guard, Early, PartTransform]), max_size=6),
)
async def test_fused_they_do_what_they_do_one_after_another(
    texts: str, ending: StreamPart | Exception | None, transforms: list[type[PartTransform]]
) -> None:
    fused, staged = source(texts, ending), source(texts, ending)
    for transform in transforms:
        fused, staged = fused.pipe(transform), staged.pipe(transform).through(passing)

    alone = await outcome_of(staged)
    together = await outcome_of(fused)

    assert together == alone


@given(st.text("abcde", max_size=6), st.integers(0, 4))
async def test_a_transform_that_raises_lets_out_what_the_others_hold(texts: str, position: int) -> None:
    transforms: list[type[PartTransform]] = [Hold, Upper, Hold, Double]
    transforms.insert(position, Fail)
    fused, staged = source(texts, FINISH), source(texts, FINISH)
    for transform in transforms:
        fused, staged = fused.pipe(transform), staged.pipe(transform).through(passing)

    assert await outcome_of(fused) == await outcome_of(staged)


async def test_twenty_cost_one_hop() -> None:
    depths: list[int] = []

    class Depth(PartTransform):
        def feed(self, part: StreamPart) -> StreamPart:
            depths.append(len(inspect.stack(0)))
            return part

    stream = source("a", None)
    for _ in range(20):
        stream = stream.pipe(Depth)
    await read(stream)

    assert len(depths) == 20
    assert len(set(depths)) == 1


@pytest.mark.parametrize(
    ("ending", "expected"),
    [(FINISH, "finish"), (ErrorPart(error="broken"), "error"), (FAULT, None), (None, None)],
    ids=["finish", "error part", "raise", "no finish"],
)
async def test_what_was_held_back_comes_out_before_the_end(
    ending: StreamPart | Exception | None, expected: str | None
) -> None:
    seen, error = await outcome_of(source("ab", ending).pipe(Hold).pipe(Upper))

    assert seen[0] == delta("AB")
    assert [part.type for part in seen[1:]] == ([] if expected is None else [expected])
    assert error is (FAULT if ending is FAULT else None)


async def test_what_was_held_back_is_not_put_between_a_cancellation_and_its_task() -> None:
    connection, watch = Connection(is_stuck=True), Watch()
    seen: list[StreamPart] = []
    task = asyncio.create_task(read(connection.stream().pipe(Hold).pipe(lambda: watch), seen))
    await connection.waiting.wait()

    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert tuple(seen) == PARTS[:2]
    assert watch.endings[0][0] == "cancelled"


async def test_a_cancellation_that_a_model_raises_by_itself_lets_out_what_was_held() -> None:
    async def parts() -> AsyncIterator[StreamPart]:
        yield delta("a")
        raise asyncio.CancelledError

    seen: list[StreamPart] = []
    stream = StreamResult(parts()).pipe(Hold)

    with pytest.raises(asyncio.CancelledError):
        await read(stream, seen)

    assert seen == [delta("a")]


@pytest.mark.parametrize(
    ("texts", "ending", "expected"),
    [
        ("a", FINISH, "finished"),
        ("d", FINISH, "finished"),
        ("d", None, "finished"),
        ("a", ErrorPart(error="broken"), "error"),
        ("a", FAULT, "error"),
        ("a", None, "error"),
        ("c", FINISH, "error"),
        ("e", FINISH, "error"),
    ],
    ids=[
        "finish",
        "two finishes",
        "finish put in by another",
        "error part",
        "raise",
        "no finish",
        "error put in by another",
        "another raised",
    ],
)
async def test_each_is_told_once_how_the_stream_ended(
    texts: str, ending: StreamPart | Exception | None, expected: Outcome
) -> None:
    outcomes: list[Outcome] = []
    stream = source(texts, ending).pipe(Early).pipe(Guard).pipe(Fail).pipe(lambda: Ended(outcomes))

    await outcome_of(stream)

    assert outcomes == [expected]


async def test_the_error_of_an_error_part_is_told_if_it_is_one() -> None:
    watch, other = Watch(), Watch()

    await read(source("", ErrorPart(error=FAULT)).pipe(lambda: watch))
    await read(source("", ErrorPart(error="broken")).pipe(lambda: other))

    assert watch.endings == [("error", FAULT)]
    assert other.endings == [("error", None)]


async def test_a_finish_after_an_error_does_not_make_it_good() -> None:
    watch = Watch()

    async def parts() -> AsyncIterator[StreamPart]:
        yield ErrorPart(error=FAULT)
        yield FINISH

    await read(StreamResult(parts()).pipe(lambda: watch))

    assert watch.endings == [("error", FAULT)]


async def test_a_missing_finish_is_told_as_an_interruption() -> None:
    watch = Watch()

    await read(source("a", None).pipe(lambda: watch))

    assert isinstance(watch.endings[0][1], StreamInterruptedError)


async def test_they_are_closed_from_the_inside_out_and_one_that_raises_does_not_keep_the_others() -> None:
    closed: list[str] = []

    class Closing(PartTransform):
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self, outcome: Outcome, error: BaseException | None) -> None:
            closed.append(self.name)
            if self.name == "middle":
                raise ZeroDivisionError

    stream = source("a", FINISH)
    for name in ("inner", "middle", "outer"):
        stream = stream.pipe(functools.partial(Closing, name))

    with pytest.raises(ZeroDivisionError):
        await read(stream)

    assert closed == ["inner", "middle", "outer"]


class Deaf(PartTransform):
    """Notes what it sees, and wants to see no deltas, nor how the stream ends."""

    def __init__(self) -> None:
        self.seen: list[type] = []
        self.ignores = frozenset({TextDelta, FinishPart})

    def feed(self, part: StreamPart) -> StreamPart:
        self.seen.append(type(part))
        return part


async def test_what_all_transforms_ignore_goes_past_them_but_never_the_finish() -> None:
    first, second = Deaf(), Deaf()

    parts = await read(source("a", FINISH).pipe(lambda: first).pipe(lambda: second))

    assert parts == [delta("a"), FINISH]
    assert first.seen == second.seen == [FinishPart]


async def test_what_one_transform_wants_to_see_is_shown_to_all() -> None:
    deaf = Deaf()

    parts = await read(source("a", FINISH).pipe(lambda: deaf).pipe(Upper))

    assert parts == [delta("A"), FINISH]
    assert deaf.seen == [TextDelta, FinishPart]
