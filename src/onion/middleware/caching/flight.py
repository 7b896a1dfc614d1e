"""One call of a model that everybody who asks the same at the same time reads."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.middleware.caching.entry import Mark, marked
from onion.spec.content import ToolCall
from onion.spec.parts import ErrorPart, FinishPart, RawPart, ReasoningDelta, StreamPart, TextDelta, ToolInputDelta
from onion.streaming import Collector, replay_parts

if TYPE_CHECKING:
    from types import TracebackType

    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.result import GenerateResult, RequestInfo, ResponseInfo

LANDING_SECONDS = 5.0  # how long the last reader waits for a cancelled call to let go of its connection

KeepPart = Callable[[StreamPart], Awaitable[None]]
KeepResult = Callable[["GenerateResult"], Awaitable[None]]


class Flight:
    """A call that runs in a task of its own, in the context of who started it, as long as somebody reads.

    A stream is read no faster than its fastest reader asks for. What was read stays until the last reader left.

    Args:
        on_end: Called when nobody may join any more.
        release: Awaited once, when the call is over.
    """

    def __init__(self, on_end: Callable[[Flight], None], release: Callable[[], Awaitable[object]]) -> None:
        self.parts: list[StreamPart] = []
        self.result: GenerateResult | None = None
        self.request: RequestInfo | None = None
        self.response: ResponseInfo | None = None
        self.is_open = False
        self.is_over = False
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None
        self._on_end = on_end
        self._release = release
        self._readers = 0
        self._wanted = 0
        self._demand = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None

    def generate(self, model: LanguageModel, params: CallOptions, keep: KeepResult) -> None:
        """Start a whole-answer call; *keep* is awaited before anybody sees the answer."""

        async def call() -> None:
            result = await model.do_generate(params)
            await keep(result)
            self.request, self.response = result.request, result.response
            self.parts.extend(replay_parts(result))
            self.result = result

        self._start(call)

    def stream(self, model: LanguageModel, params: CallOptions, keep: KeepPart) -> None:
        """Start a streaming call; *keep* is awaited with each part before anybody sees it."""

        async def call() -> None:
            async with await model.do_stream(params) as stream:
                self.request, self.response = stream.request, stream.response
                self.is_open = True
                self._tell_readers()
                reader = aiter(stream)
                while True:
                    await self._until_wanted()
                    try:
                        part = await anext(reader)
                    except StopAsyncIteration:
                        return
                    await keep(part)
                    self.parts.append(part)
                    self._tell_readers()

        self._start(call)

    def _start(self, call: Callable[[], Awaitable[None]]) -> None:
        async def fly() -> None:
            try:
                await call()
            except Exception as error:  # noqa: BLE001 - every reader raises it
                self._fail(error)
            except BaseException as error:
                self._fail(error)
                raise
            finally:
                try:
                    await self._release()
                finally:
                    self.is_over = True
                    self._on_end(self)
                    self._tell_readers()

        self._task = asyncio.get_running_loop().create_task(fly(), name="onion cache flight")

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._traceback = error.__traceback__

    def raise_failure(self) -> None:
        """Raise what the call raised, if it did, as if nobody had raised it before: tracebacks would grow."""
        if self._error is not None:
            raise self._error.with_traceback(self._traceback)

    async def _until_wanted(self) -> None:
        while self._wanted <= len(self.parts):
            self._demand.clear()
            await self._demand.wait()

    def _tell_readers(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    def want(self, count: int) -> None:
        """Ask for the first *count* parts."""
        if count > self._wanted:
            self._wanted = count
            self._demand.set()

    async def progress(self) -> None:
        """Wait until there is something new to see."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def board(self) -> None:
        """One reader more."""
        self._readers += 1

    async def leave(self) -> None:
        """One reader less; the last one ends the call, and waits until it has let go of what it held."""
        self._readers -= 1
        if self._readers or self._task is None or self._task.done():
            return
        self._on_end(self)
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=LANDING_SECONDS)


class Reader:
    """One caller's view of a flight, from its first part.

    Args:
        mark: What to say of the answer in its metadata; None for the caller who pays for it.
        wants_raw: Whether to pass on raw parts.
    """

    def __init__(self, flight: Flight, *, mark: Mark | None, wants_raw: bool) -> None:
        self._flight = flight
        self._mark = mark
        self._wants_raw = wants_raw
        flight.board()

    @property
    def request(self) -> RequestInfo | None:
        """What was sent."""
        return self._flight.request

    @property
    def response(self) -> ResponseInfo | None:
        """What the provider said beside the answer."""
        return self._flight.response

    async def opened(self) -> None:
        """Wait until the call has something to read.

        Raises:
            Exception: Whatever the call raised instead.
        """
        flight = self._flight
        while not flight.is_open and not flight.is_over:
            await flight.progress()
        if not flight.is_open:
            flight.raise_failure()

    async def whole(self) -> GenerateResult:
        """The whole answer.

        Raises:
            Exception: What the call raised, or what an error part carried.
        """
        await self.opened()
        result = self._flight.result
        if result is None:
            collector = Collector()
            async for part in self.parts():
                collector.feed(part)
            return collector.result(request=self.request, response=self.response)
        if self._mark is None:
            return result
        copied = copy.deepcopy(replace(result, request=None, response=None))
        return marked(replace(copied, request=result.request, response=result.response), self._mark)

    async def parts(self) -> AsyncGenerator[StreamPart, None]:
        """The parts from the first, as they come."""
        flight, index = self._flight, 0
        while True:
            while index < len(flight.parts):
                part = flight.parts[index]
                index += 1
                if self._wants_raw or not isinstance(part, RawPart):
                    yield self._own(part)
            if flight.is_over:
                break
            flight.want(index + 1)
            await flight.progress()
        flight.raise_failure()

    async def leave(self) -> None:
        """Be done with it. Called once."""
        await self._flight.leave()

    def _own(self, part: StreamPart) -> StreamPart:
        """The part itself for the caller who pays, a copy for all others, so that none can change another's."""
        if self._mark is None:
            return part
        if isinstance(part, FinishPart):
            return marked(copy.deepcopy(part), self._mark)
        if isinstance(part, TextDelta | ReasoningDelta | ToolInputDelta) and part.provider_metadata is None:
            return replace(part)
        if isinstance(part, ErrorPart) or (isinstance(part, ToolCall) and part.error is not None):
            return part  # exceptions cannot be copied in general
        return copy.deepcopy(part)
