"""A model that plays a script, so that a test decides what the provider says and sees what it was asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard

from onion.spec.base import value
from onion.spec.call import CallOptions
from onion.spec.parts import StreamPart
from onion.spec.result import GenerateResult, RequestInfo, ResponseInfo
from onion.spec.stream import StreamResult
from onion.streaming import collect, replay_parts

if TYPE_CHECKING:
    from onion.spec.model import SupportedURLs


class ScriptError(AssertionError):
    """The model was called more often than its script has answers."""


@dataclass(frozen=True, slots=True)
class Raise:
    """In a list of parts: the iterator raises here."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Wait:
    """In a list of parts: the next part comes when the event is set, or when what the function returns is done."""

    until: asyncio.Event | Callable[[], Awaitable[object]]


ScriptPart: TypeAlias = StreamPart | Raise | Wait


@value
class ScriptedStream:
    """Parts, with what else a stream carries."""

    parts: Sequence[ScriptPart]
    request: RequestInfo | None = None
    response: ResponseInfo | None = None


@dataclass(frozen=True, slots=True)
class After:
    """An item that the call itself waits for: `do_stream` does not return before."""

    until: asyncio.Event | Callable[[], Awaitable[object]]
    item: ScriptItem


Answer: TypeAlias = GenerateResult | ScriptedStream | Sequence[ScriptPart]
ScriptItem: TypeAlias = "Answer | BaseException | type[BaseException] | After | Callable[[CallOptions], ScriptItem]"
"""What one call gets: a whole answer, parts, a failure of the call, or a function from the params to one of them."""


@dataclass(slots=True)
class Call:
    """One call that the model got.

    Attributes:
        is_open: The call runs, or its stream is not closed yet.
        parts_sent: How many parts of the stream were read.
    """

    mode: Literal["generate", "stream"]
    params: CallOptions
    is_open: bool = True
    parts_sent: int = 0


class ScriptedModel:
    """A model that answers its calls with the items of *script*, in order. Either mode takes every item.

    Parts are handed out as they stand, the grammar is not looked at: a script may play a broken provider.

    Args:
        script: One item per call; may be endless, such as ``itertools.repeat(text("hello"))``.
        provider: As in `LanguageModel`.
        model_id: As in `LanguageModel`.
        supported_urls: As in `LanguageModel`.

    Attributes:
        calls: The calls so far, in the order in which they came.
    """

    def __init__(
        self,
        script: Iterable[ScriptItem],
        *,
        provider: str = "scripted",
        model_id: str = "scripted-model",
        supported_urls: SupportedURLs | None = None,
    ) -> None:
        self.provider = provider
        self.model_id = model_id
        self.supported_urls: SupportedURLs = supported_urls or {}
        self.calls: list[Call] = []
        self._script = iter(script)
        self._lock = threading.Lock()

    @property
    def params(self) -> list[CallOptions]:
        """The params of the calls so far."""
        return [call.params for call in self.calls]

    @property
    def open_calls(self) -> int:
        """How many calls run or have streams that nobody closed."""
        return sum(call.is_open for call in self.calls)

    @property
    def open_streams(self) -> int:
        """How many streams nobody closed."""
        return sum(call.is_open for call in self.calls if call.mode == "stream")

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        """Answer whole; parts are collected."""
        call = self._begin("generate", params)
        try:
            answer = await self._answer(params)
            if isinstance(answer, GenerateResult):
                return answer
            return await collect(self._stream(call, answer))
        finally:
            call.is_open = False

    async def do_stream(self, params: CallOptions) -> StreamResult:
        """Answer as a stream; a whole answer is replayed."""
        call = self._begin("stream", params)
        try:
            answer = await self._answer(params)
        except BaseException:
            call.is_open = False
            raise
        if isinstance(answer, GenerateResult):
            parts = tuple(replay_parts(answer))
            answer = ScriptedStream(parts=parts, request=answer.request, response=answer.response)
        return self._stream(call, answer)

    def __repr__(self) -> str:
        return f"ScriptedModel({self.provider!r}, {self.model_id!r})"

    def _begin(self, mode: Literal["generate", "stream"], params: CallOptions) -> Call:
        call = Call(mode, params)
        self.calls.append(call)
        return call

    async def _answer(self, params: CallOptions) -> GenerateResult | ScriptedStream:
        with self._lock:
            item = next(self._script, None)
        if item is None:
            count = len(self.calls)
            msg = f"this is call {count} of the scripted model, but its script has fewer items: add one, or call less"
            raise ScriptError(msg)
        while True:
            if isinstance(item, BaseException) or _is_failure_class(item):
                raise item
            if isinstance(item, After):
                await _wait(item.until)
                item = item.item
            elif callable(item):
                item = item(params)
            elif isinstance(item, GenerateResult | ScriptedStream):
                return item
            else:
                return ScriptedStream(parts=item)

    def _stream(self, call: Call, script: ScriptedStream) -> StreamResult:
        async def close() -> None:
            call.is_open = False

        return StreamResult(_play(call, script.parts), close=close, request=script.request, response=script.response)


async def _play(call: Call, script: Sequence[ScriptPart]) -> AsyncGenerator[StreamPart, None]:
    for part in script:
        if isinstance(part, Raise):
            raise part.error
        if isinstance(part, Wait):
            await _wait(part.until)
        else:
            call.parts_sent += 1
            yield part


def _is_failure_class(item: ScriptItem) -> TypeGuard[type[BaseException]]:
    return isinstance(item, type)


async def _wait(until: asyncio.Event | Callable[[], Awaitable[object]]) -> None:
    await (until.wait() if isinstance(until, asyncio.Event) else until())
