"""A streamed run, read by a program that is not async."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from onion.sync.worker import Worker, stop

if TYPE_CHECKING:
    from types import TracebackType

    from onion.loop.results import GenerateTextResult
    from onion.loop.stream_result import StreamTextResult as AsyncResult
    from onion.loop.views import View as AsyncView
    from onion.spec.full_stream import FullStreamPart

T = TypeVar("T")
OutputT = TypeVar("OutputT")


class View(Iterator[T]):
    """One way of reading a run, blocking; see `onion.loop.views.View`."""

    def __init__(self, result: StreamTextResult[OutputT], view: AsyncView[T]) -> None:
        self._result = result
        self._view = view

    def __next__(self) -> T:
        """The next item; waits for it."""
        try:
            return self._result.wait_for(self._view.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        """Stop reading; if this was the last view, the run ends."""
        self._result.wait_for(self._view.aclose)


class StreamTextResult(Generic[OutputT]):
    """A run that advances as it is read, blocking; see `onion.StreamTextResult`.

    The values of the run are those of `result`, which drives it to its end.
    """

    def __init__(self, result: AsyncResult[OutputT]) -> None:
        self._async = result
        self._worker = Worker()
        self._close = weakref.finalize(self, stop, self._worker.loop, self._worker.requests, result.aclose)

    def wait_for(self, call: Callable[[], Awaitable[T]]) -> T:
        """What *call* gives, made where the run is read."""
        return self._worker.do(call, interrupt=lambda: self._async.abort("the reader was interrupted"))

    @property
    def full_stream(self) -> View[FullStreamPart]:
        """Every part of the run, failures included."""
        return View(self, self._async.full_stream)

    @property
    def text_stream(self) -> View[str]:
        """The pieces of text of all steps."""
        return View(self, self._async.text_stream)

    @property
    def partial_output_stream(self) -> View[object]:
        """The output as far as it has come, each time that it grows."""
        return View(self, self._async.partial_output_stream)

    @property
    def element_stream(self) -> View[object]:
        """The elements of an array output."""
        return View(self, self._async.element_stream)

    @property
    def result(self) -> GenerateTextResult[OutputT]:
        """All that the run gave: `result.text`, `result.steps` and so on.

        Raises:
            Exception: What ended the run.
        """
        return self.wait_for(self._async.consume)

    def abort(self, reason: object = None) -> None:
        """End the run; from any thread."""
        self._async.abort(reason)

    def close(self) -> None:
        """End the run and release what it holds."""
        self.wait_for(self._async.aclose)
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.wait_for(lambda: self._async.__aexit__(kind, error, traceback))
        finally:
            self._close()
