"""Between whole and streamed answers: collect, replay, and what serves both with one transform."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, get_args

from onion.errors import InvalidStreamPartError, StreamInterruptedError
from onion.spec.content import Content, Reasoning, Text, ToolResult
from onion.spec.failures import reported_error
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    RawPart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from onion.spec.result import GenerateResult, ResponseInfo
from onion.spec.stream import StreamResult
from onion.spec.transform import Fusion, TransformFactory

if TYPE_CHECKING:
    from onion.spec.base import ProviderMetadata
    from onion.spec.result import RequestInfo
    from onion.spec.usage import CallWarning

BEFORE_CONTENT = (StreamStart, ResponseMetadata, RawPart, TextStart, ReasoningStart, ToolInputStart)
"""What may come before the first content: nothing of it is worth keeping if the call fails."""


def to_exception(error: object) -> Exception:
    """The exception in an error part; what is none becomes a StreamProviderError that shows it."""
    if isinstance(error, Exception):
        return error
    return reported_error(error)


T = TypeVar("T")
_PARTS: tuple[type[object], ...] = get_args(StreamPart)


class _Block:
    """Text or reasoning that is still growing."""

    __slots__ = ("is_text", "metadata", "pieces")

    def __init__(self, metadata: ProviderMetadata | None, *, is_text: bool) -> None:
        self.is_text = is_text
        self.metadata = metadata
        self.pieces: list[str] = []

    def finished(self) -> Text | Reasoning:
        kind = Text if self.is_text else Reasoning
        return kind(text="".join(self.pieces), provider_metadata=self.metadata)


def _known(part: T) -> T:
    if not isinstance(part, _PARTS):
        msg = f"a stream is made of the parts of onion.spec; this one gave a {type(part).__name__}"
        raise InvalidStreamPartError(msg)
    return part


class Collector:
    """Builds the whole answer from the parts of a stream; blocks stand where they started.

    Provider metadata of a block is the latest that its start, deltas or end carried. Preliminary results of
    provider-executed tools are left out.
    """

    def __init__(self) -> None:
        self._content: list[Content | _Block] = []
        self._blocks: dict[tuple[bool, str], _Block] = {}
        self._warnings: tuple[CallWarning, ...] = ()
        self._metadata: ResponseMetadata | None = None
        self._finish: FinishPart | None = None

    def feed(self, part: StreamPart) -> None:
        """Take the next part.

        Raises:
            InvalidStreamPartError: For a delta or an end of a block that is not open.
            Exception: What an error part carries.
        """
        if isinstance(part, TextDelta):  # most parts are
            block = self._blocks.get((True, part.id)) or self._open_block(part)
            block.pieces.append(part.delta)
            if part.provider_metadata:
                block.metadata = part.provider_metadata
            return
        match part:
            case ReasoningDelta():
                block = self._open_block(part)
                block.pieces.append(part.delta)
                block.metadata = part.provider_metadata or block.metadata
            case TextStart() | ReasoningStart():
                block = _Block(part.provider_metadata, is_text=isinstance(part, TextStart))
                self._blocks[block.is_text, part.id] = block
                self._content.append(block)
            case TextEnd() | ReasoningEnd():
                block = self._open_block(part)
                block.metadata = part.provider_metadata or block.metadata
                del self._blocks[block.is_text, part.id]
            case ToolInputStart() | ToolInputDelta() | ToolInputEnd() | RawPart():
                pass
            case StreamStart():
                self._warnings = part.warnings
            case ResponseMetadata():
                self._metadata = part
            case FinishPart():
                self._finish = part
            case ErrorPart():
                raise to_exception(part.error)
            case ToolResult() if part.preliminary:
                pass
            case _:
                self._content.append(_known(part))

    def result(self, *, request: RequestInfo | None = None, response: ResponseInfo | None = None) -> GenerateResult:
        """The whole answer.

        Raises:
            StreamInterruptedError: When no finish part came.
        """
        finish = self._finish
        if finish is None:
            msg = "the stream ended without a finish part, so nobody knows whether the answer is whole"
            raise StreamInterruptedError(msg)
        return GenerateResult(
            content=tuple(part.finished() if isinstance(part, _Block) else part for part in self._content),
            finish_reason=finish.finish_reason,
            usage=finish.usage,
            warnings=self._warnings,
            provider_metadata=finish.provider_metadata,
            request=request,
            response=self._response(response),
            structured_output_text=finish.structured_output_text,
        )

    def _open_block(self, part: TextDelta | TextEnd | ReasoningDelta | ReasoningEnd) -> _Block:
        block = self._blocks.get((isinstance(part, TextDelta | TextEnd), part.id))
        if block is None:
            msg = f"the model sent a {part.type} part for {part.id!r}, but no block of that id is open"
            raise InvalidStreamPartError(msg)
        return block

    def _response(self, response: ResponseInfo | None) -> ResponseInfo | None:
        found = self._metadata
        if found is None:
            return response
        base = response or ResponseInfo()
        return replace(
            base,
            id=base.id if found.id is None else found.id,
            timestamp=base.timestamp if found.timestamp is None else found.timestamp,
            model_id=base.model_id if found.model_id is None else found.model_id,
        )


async def collect(stream: StreamResult) -> GenerateResult:
    """Read *stream* to its end and give the whole answer. The stream is closed afterwards.

    Raises:
        StreamInterruptedError: When it ended without a finish.
        InvalidStreamPartError: When a part breaks the grammar.
        Exception: What an error part carried, or what the iterator raised.
    """
    collector = Collector()
    async with stream:
        async for part in stream:
            collector.feed(part)
    return collector.result(request=stream.request, response=stream.response)


def replay_parts(result: GenerateResult) -> Iterator[StreamPart]:
    """The parts of a stream that carries *result*: one delta per text, ids ``"0"``, ``"1"`` … in order."""
    yield StreamStart(warnings=result.warnings)
    response = result.response
    if response and (response.id, response.timestamp, response.model_id) != (None, None, None):
        yield ResponseMetadata(id=response.id, timestamp=response.timestamp, model_id=response.model_id)
    for number, part in enumerate(result.content):
        block_id = str(number)
        if isinstance(part, Text):
            yield TextStart(id=block_id, provider_metadata=part.provider_metadata)
            if part.text:
                yield TextDelta(id=block_id, delta=part.text)
            yield TextEnd(id=block_id)
        elif isinstance(part, Reasoning):
            yield ReasoningStart(id=block_id, provider_metadata=part.provider_metadata)
            if part.text:
                yield ReasoningDelta(id=block_id, delta=part.text)
            yield ReasoningEnd(id=block_id)
        else:
            yield part
    yield FinishPart(
        finish_reason=result.finish_reason,
        usage=result.usage,
        provider_metadata=result.provider_metadata,
        structured_output_text=result.structured_output_text,
    )


async def _nothing() -> AsyncIterator[StreamPart]:
    return
    yield


def replay(result: GenerateResult) -> StreamResult:
    """A stream that carries *result*; collecting it gives an equal one."""
    return StreamResult(_nothing(), head=tuple(replay_parts(result)), request=result.request, response=result.response)


def transform_result(result: GenerateResult, factory: TransformFactory) -> GenerateResult:
    """What a stream of *result* through that transform collects to; request and response are kept."""
    fusion = Fusion()
    fusion.add(factory())
    collector = Collector()
    try:
        for part in replay_parts(result):
            fed = fusion.feed(part)
            for out in fed if isinstance(fed, tuple) else (fed,):
                collector.feed(out)
    except BaseException as error:
        fusion.fail(error)
        raise
    finally:
        fusion.close()
    return collector.result(request=result.request, response=result.response)


async def open_stream(
    parts: AsyncGenerator[StreamPart, None],
    *,
    close: Callable[[], Awaitable[object]] | None = None,
    request: RequestInfo | None = None,
    response: ResponseInfo | None = None,
) -> StreamResult:
    """A stream whose first content, or end, was seen to arrive; for the end of a provider's `do_stream`.

    Raises:
        Exception: Whatever failed before the first content, be it raised or sent as an error part. *parts* and
            *close* are done with by then.
    """
    head: list[StreamPart] = []
    try:
        async for part in parts:
            if isinstance(part, ErrorPart):
                raise to_exception(part.error)  # noqa: TRY301 - both ways of failing end here
            head.append(part)
            if not isinstance(part, BEFORE_CONTENT):
                break
        else:
            msg = "the provider's stream ended before any content"
            raise StreamInterruptedError(msg)  # noqa: TRY301 - the connection is released below
    except BaseException:
        async with AsyncExitStack() as stack:
            if close is not None:
                stack.push_async_callback(close)
            await parts.aclose()
        raise
    return StreamResult(parts, close=close, head=tuple(head), request=request, response=response)
