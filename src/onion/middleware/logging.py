"""Logging: one event when a model call starts and one when it ends, however it ends.

Goes outside of Cache, so that hits are seen, or inside of Retry, so that each try is. A stream's second event comes
when the stream ends or is closed, not when it was opened; its parts are only looked at.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from onion.errors import APICallError, InvalidArgumentError, StreamProviderError
from onion.middleware._masking import LOOKAHEAD_CHARACTERS, mask_text
from onion.spec.content import ToolCall
from onion.spec.parts import (
    FinishPart,
    RawPart,
    ReasoningDelta,
    ResponseMetadata,
    StreamStart,
    TextDelta,
    ToolInputDelta,
)
from onion.spec.prompt import (
    CustomPart,
    FilePart,
    ReasoningFilePart,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from onion.spec.transform import Outcome, PartTransform, is_being_cancelled
from onion.streaming import replay_parts
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.call import CallOptions, RunInfo
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.spec.prompt import AssistantPart, Message, ToolMessagePart, UserPart
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.wrap import DoGenerate, DoStream, Mode

MAX_CONTENT_LENGTH = 1_000
MAX_ERROR_LENGTH = 500
EVENTS: dict[Outcome, str] = {
    "finished": "model call finished",
    "error": "model call failed",
    "closed": "model call closed early",
    "cancelled": "model call cancelled",
}

BEFORE_CONTENT = frozenset({StreamStart, ResponseMetadata, RawPart})
DELTAS: frozenset[type] = frozenset({TextDelta, ReasoningDelta, ToolInputDelta})  # their start came before them

logger: logging.Logger = logging.getLogger("onion")


class EventLogger(Protocol):
    """What `Logging` writes to: a structlog logger, or anything with these two methods."""

    def info(self, event: str, /, **fields: object) -> object:
        """Write an event of a call that goes well, or was stopped on purpose."""
        ...

    def error(self, event: str, /, **fields: object) -> object:
        """Write the event of a call that failed."""
        ...


def describe_message(message: Message, limit: int) -> str:
    """Role and content of *message* as one masked line of at most about *limit* characters."""
    if isinstance(message, SystemMessage):
        return f"system: {mask_text(message.content, limit)}"
    shown = " ".join(_describe_part(part) for part in message.content)
    return f"{message.role}: {mask_text(shown, limit)}"


def _describe_part(part: UserPart | AssistantPart | ToolMessagePart) -> str:
    match part:
        case TextPart() | ReasoningPart():
            return part.text
        case FilePart() | ReasoningFilePart():
            return f"<file {part.media_type}>"
        case CustomPart():
            return f"<{part.kind}>"
        case ToolCallPart():
            return f"<call {part.tool_name}>"
        case ToolResultPart():
            return f"<result of {part.tool_name}>"
        case _:
            return f"<{part.type}>"


class Logging(Middleware):
    """Writes one event when a model call starts and one when it finishes, fails, is cancelled or closed early.

    The second event tells the duration, the time to the first part, the finish reason, the usage and whether a cache
    answered. In a run both name it, the step, and which call of the step this is (`attempt`). Content is written only
    if asked for; keys, tokens, signatures and data URLs never are. A logger that raises does not disturb the call.

    Args:
        logger: Takes the events; without it ``structlog.get_logger("onion")``, got when first used.
        content: Whether to write the prompt, and the text and tool calls of the answer.
        max_content_length: Longest text to write, in characters.
        clock: Seconds on a clock that only goes forward.
        new_id: Makes the id that the two events of a call share.

    Raises:
        InvalidArgumentError: For a length below 1.
    """

    def __init__(
        self,
        logger: EventLogger | None = None,
        *,
        content: bool = False,
        max_content_length: int = MAX_CONTENT_LENGTH,
        clock: Callable[[], float] = time.perf_counter,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        if max_content_length < 1:
            msg = f"max_content_length must be at least 1, got {max_content_length!r}"
            raise InvalidArgumentError(msg, parameter="max_content_length", value=max_content_length)
        self.content = content
        self.max_content_length = max_content_length
        self._logger = logger
        self._clock = clock
        self._new_id = new_id

    def __repr__(self) -> str:
        return "Logging(content=True)" if self.content else "Logging()"

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole, between two events."""
        watch = self._start(params, model, "generate")
        try:
            result = await do_generate()
        except BaseException as error:
            watch.fail(error)
            raise
        for part in replay_parts(result):
            watch.see(part)
        watch.close("finished", None)
        return result

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Open the stream; the second event comes when it ends."""
        watch = self._start(params, model, "stream")
        try:
            stream = await do_stream()
        except BaseException as error:
            watch.fail(error)
            raise
        return stream.pipe(lambda: watch)

    def write(self, level: str, event: str, fields: Mapping[str, object]) -> None:
        """Write an event; a logger that raises is reported and does not disturb the call."""
        try:
            if self._logger is None:
                import structlog

                self._logger = structlog.get_logger("onion")
            (self._logger.error if level == "error" else self._logger.info)(event, **fields)
        except Exception:
            logger.exception("the logger of %r raised while it wrote %r", self, event)

    def _start(self, params: CallOptions, model: LanguageModel, mode: Mode) -> _Watch:
        fields: dict[str, object] = {
            "call_id": self._new_id(),
            "provider": model.provider,
            "model_id": model.model_id,
            "mode": mode,
        }
        if params.run is not None:
            run = params.run
            fields |= {"run_id": run.run_id, "step": run.step_number, "attempt": self._count(run)}
        watch = _Watch(self, fields, self._clock)
        started: dict[str, object] = {"messages": len(params.prompt), "tools": len(params.tools or ())}
        if self.content:
            started["prompt"] = [describe_message(message, self.max_content_length) for message in params.prompt]
        self.write("info", "model call started", fields | started)
        return watch

    def _count(self, run: RunInfo) -> int:
        """Which call of its step this is, as seen from here; counted in the run, since a Retry may be outside."""
        key = (self, run.step_number)
        seen = run.state.get(key)
        count = seen + 1 if isinstance(seen, int) else 1
        run.state[key] = count
        return count


class _Watch(PartTransform):
    """Looks at the parts of one call, and writes its last event."""

    def __init__(self, layer: Logging, fields: Mapping[str, object], clock: Callable[[], float]) -> None:
        self._layer = layer
        self._fields = dict(fields)
        self._clock = clock
        self._started = clock()
        self._first_part: float | None = None
        self._texts: list[str] = []
        self._room = layer.max_content_length + LOOKAHEAD_CHARACTERS if layer.content else 0
        self._calls: list[str] = []
        self.ignores = frozenset() if layer.content else DELTAS

    def feed(self, part: StreamPart) -> StreamPart:
        kind = type(part)
        if self._first_part is None and kind not in BEFORE_CONTENT:
            self._first_part = self._clock()
            self._fields["time_to_first_part_ms"] = _milliseconds(self._first_part - self._started)
        self.see(part)
        return part

    def see(self, part: StreamPart) -> None:
        """Keep what the last event tells of *part*."""
        if isinstance(part, TextDelta):
            if self._room > 0:
                self._texts.append(part.delta)
                self._room -= len(part.delta)
        elif isinstance(part, ToolCall):
            self._calls.append(f"{part.tool_name}({part.input})" if self._layer.content else part.tool_name)
        elif isinstance(part, FinishPart):
            cache = ((part.provider_metadata or {}).get("onion") or {}).get("cache")
            self._fields |= {
                "finish_reason": part.finish_reason.unified,
                "input_tokens": part.usage.input_tokens.total,
                "output_tokens": part.usage.output_tokens.total,
                "cache_hit": isinstance(cache, Mapping) and cache.get("hit") is True,
            }

    def fail(self, error: BaseException) -> None:
        """The call raised *error*."""
        is_cancelled = isinstance(error, asyncio.CancelledError) and is_being_cancelled()
        self.close("cancelled" if is_cancelled else "error", error)

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        fields = self._fields | {"duration_ms": _milliseconds(self._clock() - self._started)}
        if outcome == "error":
            fields["error"] = "unknown" if error is None else type(error).__name__
            fields["error_message"] = mask_text(str(error or ""), MAX_ERROR_LENGTH)
            fields["status_code"] = error.status_code if isinstance(error, APICallError | StreamProviderError) else None
        limit = self._layer.max_content_length
        if self._calls:
            fields["tool_calls"] = [mask_text(call, limit) for call in self._calls]
        if self._layer.content:
            fields["text"] = mask_text("".join(self._texts), limit)
        self._layer.write("error" if outcome == "error" else "info", EVENTS[outcome], fields)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
