"""StreamResult: the one value of the contract with behaviour, because it owns a connection."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Protocol, Self, TypeGuard, runtime_checkable

from onion.errors import InvalidArgumentError, StreamMisuseError
from onion.spec.transform import Fusion, TransformFactory, fuse

if TYPE_CHECKING:
    from types import TracebackType

    from onion.spec.parts import StreamPart
    from onion.spec.result import RequestInfo, ResponseInfo


def _is_generator(parts: AsyncIterator[StreamPart]) -> TypeGuard[AsyncGeneratorType[StreamPart, None]]:
    return isinstance(parts, AsyncGeneratorType)


async def _close(parts: AsyncIterator[StreamPart]) -> None:
    """Close *parts* if they are a generator, unless some task waits inside of it right now: that one closes it."""
    if _is_generator(parts):
        if not parts.ag_running:
            await parts.aclose()
    elif isinstance(parts, Closeable):
        await parts.aclose()


async def _chained(head: tuple[StreamPart, ...], parts: AsyncIterator[StreamPart]) -> AsyncGenerator[StreamPart, None]:
    for part in head:
        yield part
    async for part in parts:
        yield part


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


@runtime_checkable
class Closeable(Protocol):
    """An iterator that holds something to release."""

    async def aclose(self) -> None:
        """Release it."""
        ...


class _Source:
    """What a stream reads and must release; shared by its owners and its reader, so that none keeps another alive."""

    __slots__ = ("close", "fusion", "head", "is_released", "loop", "parts")

    def __init__(
        self,
        head: tuple[StreamPart, ...],
        parts: AsyncIterator[StreamPart],
        close: Callable[[], Awaitable[object]] | None,
    ) -> None:
        self.head = head
        self.parts = parts
        self.close = close
        self.fusion = Fusion()
        self.loop = _running_loop()
        self.is_released = False

    async def release(self) -> None:
        """Close the inner stream, then tell the transforms, innermost first. Does nothing the second time."""
        if self.is_released:
            return
        self.is_released = True
        try:
            await _close(self.parts)
        finally:
            try:
                if self.close is not None:
                    await self.close()
            finally:
                self.fusion.close()

    def release_soon(self) -> None:
        """Release in the loop where the stream was opened, from any thread; without it, tell the transforms only."""
        loop = self.loop or _running_loop()
        if loop is None or not loop.is_running():
            self.fusion.close()
        else:
            loop.call_soon_threadsafe(lambda: loop.create_task(self.release()))

    def bare(self) -> AsyncGenerator[StreamPart, None]:
        """The parts, transformed, through as few generators as can be."""
        if self.fusion.transforms:
            return fuse(self.head, self.parts, self.fusion)
        if not self.head and _is_generator(self.parts):
            return self.parts
        return _chained(self.head, self.parts)

    async def read(self) -> AsyncGenerator[StreamPart, None]:
        """As `bare`; what was opened is released at the end, however it comes."""
        try:
            async with aclosing(self.bare()) as parts:
                async for part in parts:
                    yield part
        finally:
            await self.release()


def _require_callable(factory: object) -> None:
    if not callable(factory):
        msg = f"pipe() takes what makes a transform when called, such as the class of one, got {factory!r}"
        raise InvalidArgumentError(msg, parameter="factory", value=factory)


class StreamResult:
    """A streamed answer. Iterate it once, best inside ``async with``.

    Whoever receives a StreamResult owns it. `pipe` and `through` hand the ownership on: closing the outer closes the
    inner. Dropped unread it warns (ResourceWarning) and still closes.

    Args:
        parts: The parts, in the order of the grammar. An async generator is closed together with the stream.
        close: Awaited once when the stream ends or is closed, after *parts*; releases what a generator that was
            never started cannot.
        head: Parts that were read already; they come first.
        request: What was sent.
        response: What the provider said beside the answer; headers are known from the start.

    Raises:
        StreamMisuseError: When iterated a second time, after it was closed, or after it was handed on.
    """

    __slots__ = ("__weakref__", "_reader", "_source", "_state", "request", "response")

    def __init__(
        self,
        parts: AsyncIterator[StreamPart],
        *,
        close: Callable[[], Awaitable[object]] | None = None,
        head: tuple[StreamPart, ...] = (),
        request: RequestInfo | None = None,
        response: ResponseInfo | None = None,
    ) -> None:
        self._source = _Source(head, parts, close)
        self._reader: AsyncGenerator[StreamPart, None] | None = None
        self._state = "unread"
        self.request: RequestInfo | None = request
        self.response: ResponseInfo | None = response

    def pipe(self, factory: TransformFactory) -> StreamResult:
        """The same stream with one more transform around it; this one must not be used any more.

        Raises:
            InvalidArgumentError: When *factory* cannot be called.
        """
        _require_callable(factory)
        self._require_unread()
        self._source.fusion.add(factory())
        outer = self._heir()
        self._state = "handed on"
        return outer

    def through(self, layer: Callable[[AsyncIterator[StreamPart]], AsyncIterator[StreamPart]]) -> StreamResult:
        """The parts after an asynchronous *layer*, in a stream that closes this one with itself."""
        self._require_unread()
        inner = self._heir()
        parts = layer(aiter(inner))
        self._state = "handed on"
        return StreamResult(parts, close=inner.aclose, request=self.request, response=self.response)

    def __aiter__(self) -> AsyncGenerator[StreamPart, None]:
        """Start reading."""
        self._require_unread()
        self._state = "read"
        self._reader = self._source.read()
        return self._reader

    def bare(self) -> AsyncGenerator[StreamPart, None]:
        """Start reading without the generator that releases the stream at its end: a quarter of a microsecond a part.

        For who is inside ``async with`` anyway, or calls `aclose`; that has to follow however the reading ends.
        """
        self._require_unread()
        self._state = "read"
        self._reader = self._source.bare()
        return self._reader

    async def aclose(self) -> None:
        """Release the connection; does nothing the second time, or after the stream was handed on."""
        if self._state == "handed on":
            return
        self._state = "closed"
        if self._reader is not None:
            await _close(self._reader)
        await self._source.release()

    async def release(self) -> None:
        """Release the connection even if the stream was handed on, to an owner that failed and cannot do it."""
        await self.aclose()
        await self._source.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"StreamResult({self._state})"

    def __del__(self) -> None:
        if self._state != "unread" or self._source.is_released:
            return
        try:
            warnings.warn(
                "a StreamResult was dropped unread: iterate it, or close it with aclose() or `async with`",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )
        finally:  # where warnings are errors, too
            self._source.release_soon()

    def _heir(self) -> StreamResult:
        heir = StreamResult(self._source.parts, request=self.request, response=self.response)
        heir._source = self._source
        return heir

    def _require_unread(self) -> None:
        if self._state != "unread":
            msg = f"this stream was already {self._state}: a StreamResult is read once, by its last owner"
            raise StreamMisuseError(msg)
