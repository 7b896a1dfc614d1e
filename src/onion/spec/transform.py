"""Part transforms: synchronous functions over the parts of one stream, fused so that many cost one async hop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from onion.errors import StreamInterruptedError
from onion.spec.parts import ErrorPart, FinishPart, StreamPart

Outcome: TypeAlias = Literal["finished", "error", "closed", "cancelled"]
"""How a stream ended: with its finish, with a failure, closed early by its reader, or by cancellation."""


class PartTransform:
    """Changes, drops, adds or watches the parts of one stream. Override what you need.

    One object serves one stream, so it may keep state. It is synchronous: consecutive transforms share one async hop.
    """

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...] | None:
        """What takes the place of *part*: itself, another, nothing (None), or several."""
        return part

    def flush(self) -> tuple[StreamPart, ...]:
        """What was held back. Called before a finish, an error or a raise passes, so perhaps more than once."""
        return ()

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        """Told exactly once how the stream ended."""


TransformFactory: TypeAlias = Callable[[], PartTransform]


def push(transforms: Sequence[PartTransform], parts: Iterable[StreamPart]) -> Iterable[StreamPart]:
    """Send *parts* through *transforms*; what each holds back goes out before a finish or an error passes it."""
    for transform in transforms:
        passed: list[StreamPart] = []
        for part in parts:
            if isinstance(part, FinishPart | ErrorPart):
                passed.extend(transform.flush())
            fed = transform.feed(part)
            if isinstance(fed, tuple):
                passed.extend(fed)
            elif fed is not None:
                passed.append(fed)
        parts = passed
    return parts


def flush(transforms: Sequence[PartTransform]) -> Iterable[StreamPart]:
    """What *transforms* hold back, each part sent through the transforms after its own."""
    held: list[StreamPart] = []
    for transform in transforms:
        held = [*push((transform,), held), *transform.flush()]
    return held


class Ending:
    """Notes how a stream ends, and tells its transforms once."""

    __slots__ = ("error", "outcome", "transforms")

    def __init__(self, transforms: Sequence[PartTransform]) -> None:
        self.transforms = transforms
        self.outcome: Outcome | None = None
        self.error: BaseException | None = None

    def note_part(self, part: FinishPart | ErrorPart) -> None:
        """A finish after an error does not make the stream a good one."""
        if isinstance(part, ErrorPart):
            self.outcome = "error"
            self.error = part.error if isinstance(part.error, BaseException) else None
        elif self.outcome is None:
            self.outcome = "finished"

    def note_failure(self, error: BaseException) -> None:
        """Reading raised *error*."""
        self.outcome = "cancelled" if isinstance(error, asyncio.CancelledError) and is_being_cancelled() else "error"
        self.error = error

    def tell(self) -> None:
        """Close the transforms, innermost first; one that raises does not keep the others from it."""
        outcome = self.outcome or ("cancelled" if is_being_cancelled() else "closed")
        with contextlib.ExitStack() as stack:
            for transform in reversed(self.transforms):
                stack.callback(transform.close, outcome, self.error)


def is_being_cancelled() -> bool:
    """Whether the running task was asked to stop; false for a CancelledError that somebody raised by himself."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


async def fuse(
    head: Sequence[StreamPart],
    parts: AsyncIterator[StreamPart],
    transforms: Sequence[PartTransform],
    ending: Ending,
) -> AsyncGenerator[StreamPart, None]:
    """*head*, then *parts*, after all *transforms*, in one async hop. Closing *parts* is left to the caller."""
    feeds = [transform.feed for transform in transforms]
    try:
        for part in head:
            if isinstance(part, FinishPart | ErrorPart):
                ending.note_part(part)
            for out in push(transforms, (part,)):
                yield out
        async for part in parts:
            if isinstance(part, FinishPart | ErrorPart):
                ending.note_part(part)
                for out in push(transforms, (part,)):
                    yield out
                continue
            passing = part
            position = 0
            for feed in feeds:
                position += 1
                fed = feed(passing)
                if fed is None:
                    break
                if isinstance(fed, tuple):
                    for out in push(transforms[position:], fed):
                        yield out
                    break
                passing = fed
            else:
                yield passing
        if ending.outcome is None:
            ending.note_failure(StreamInterruptedError("the stream ended without a finish part"))
            for out in flush(transforms):
                yield out
    except GeneratorExit:
        raise
    except BaseException as error:
        ending.note_failure(error)
        for out in flush(transforms):
            yield out
        raise
