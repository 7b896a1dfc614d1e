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

    Attributes:
        ignores: Classes of parts that it need not see; where no transform needs to, they go past and cost next to
            nothing. A finish and an error never do. Read once, when the transform is put around a stream.
    """

    ignores: frozenset[type] = frozenset()

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...] | None:
        """What takes the place of *part*: itself, another, nothing (None), or several."""
        return part

    def flush(self) -> tuple[StreamPart, ...]:
        """What was held back. Called before a finish, an error or a raise passes, so perhaps more than once."""
        return ()

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        """Told exactly once how the stream ended."""


TransformFactory: TypeAlias = Callable[[], PartTransform]

_ENDINGS = (FinishPart, ErrorPart)


def push(transforms: Sequence[PartTransform], parts: Iterable[StreamPart]) -> Iterable[StreamPart]:
    """Send *parts* through *transforms*; what each holds back goes out before a finish or an error passes it."""
    for transform in transforms:
        passed: list[StreamPart] = []
        for part in parts:
            if isinstance(part, _ENDINGS):
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


class Fusion:
    """The transforms of one stream as one function over its parts; notes how the stream ends and tells them once."""

    __slots__ = ("_feeds", "error", "ignored", "outcome", "transforms")

    def __init__(self) -> None:
        self.ignored: frozenset[type] = frozenset()
        self.transforms: list[PartTransform] = []
        self.outcome: Outcome | None = None
        self.error: BaseException | None = None
        self._feeds: list[Callable[[StreamPart], StreamPart | tuple[StreamPart, ...] | None]] = []

    def add(self, transform: PartTransform) -> None:
        """Put *transform* around those that are there."""
        ignored = transform.ignores.difference(_ENDINGS)
        self.ignored = self.ignored & ignored if self.transforms else ignored
        self.transforms.append(transform)
        self._feeds.append(transform.feed)

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...]:
        """What takes the place of *part* after all transforms."""
        if isinstance(part, _ENDINGS):
            self._note(part)
            return self._push(0, (part,))
        for position, feed in enumerate(self._feeds, 1):
            fed = feed(part)
            if fed is part:
                continue
            if fed is None:
                return ()
            if isinstance(fed, tuple):
                return self._push(position, fed)
            if isinstance(fed, _ENDINGS):  # the transforms after this one must flush first
                return self._push(position, (fed,))
            part = fed
        return part

    def fail(self, error: BaseException) -> Iterable[StreamPart]:
        """Note that reading raised *error*; what was held back until now.

        Nothing comes out between a cancellation (or an exit) and the task that it is to stop.
        """
        is_cancellation = isinstance(error, asyncio.CancelledError)
        self.outcome = "cancelled" if is_cancellation and is_being_cancelled() else "error"
        self.error = error
        stops = self.outcome == "cancelled" or not (is_cancellation or isinstance(error, Exception))
        return () if stops else flush(self.transforms)

    def close(self) -> None:
        """Close the transforms, innermost first; one that raises does not keep the others from it."""
        outcome = self.outcome or ("cancelled" if is_being_cancelled() else "closed")
        with contextlib.ExitStack() as stack:
            for transform in reversed(self.transforms):
                stack.callback(transform.close, outcome, self.error)

    def _push(self, position: int, parts: tuple[StreamPart, ...]) -> tuple[StreamPart, ...]:
        """*parts* after the transforms from *position* on; an error or a finish that one of them put in counts."""
        pushed = tuple(push(self.transforms[position:], parts))
        for part in pushed:
            if isinstance(part, _ENDINGS):
                self._note(part)
        return pushed

    def _note(self, part: FinishPart | ErrorPart) -> None:
        if isinstance(part, ErrorPart):
            self.outcome = "error"
            self.error = part.error if isinstance(part.error, BaseException) else None
        elif self.outcome is None:
            self.outcome = "finished"


def is_being_cancelled() -> bool:
    """Whether the running task was asked to stop; false for a CancelledError that somebody raised by himself."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


async def fuse(
    head: Iterable[StreamPart], parts: AsyncIterator[StreamPart], fusion: Fusion
) -> AsyncGenerator[StreamPart, None]:
    """*head*, then *parts*, after all transforms, in one async hop. Closing *parts* is left to the caller."""
    try:
        for part in head:
            fed = fusion.feed(part)
            for out in fed if isinstance(fed, tuple) else (fed,):
                yield out
        feed, ignored = fusion.feed, fusion.ignored
        async for part in parts:
            if type(part) in ignored:
                yield part
                continue
            fed = feed(part)
            if isinstance(fed, tuple):
                for out in fed:
                    yield out
            else:
                yield fed
        if fusion.outcome is None:
            for out in fusion.fail(StreamInterruptedError("the stream ended without a finish part")):
                yield out
    except GeneratorExit:
        raise
    except BaseException as error:
        for out in fusion.fail(error):
            yield out
        raise
