"""From the parts of a run's full stream to pieces of text; without I/O, so that it looks the same everywhere.

The answer and what is told about it are kept apart: only `Kind.ANSWER` belongs to the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from onion.errors import TypeValidationError
from onion.spec.content import DocumentSource, URLSource
from onion.spec.full_stream import (
    Abort,
    Finish,
    FinishStep,
    ReasoningDeltaOutput,
    StartStep,
    StepRestart,
    TextDeltaOutput,
)
from onion.spec.json import to_json
from onion.spec.tools import (
    FileOutput,
    ToolApprovalRequestOutput,
    ToolOutputDenied,
    TypedToolCall,
    TypedToolError,
    TypedToolResult,
)
from onion.spec.usage import DeprecatedWarning, OtherWarning

if TYPE_CHECKING:
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.step import LanguageModelUsage, StepPerformance
    from onion.spec.usage import CallWarning

MAX_VALUE_LENGTH = 400
_MS_PER_SECOND = 1000


class Kind(StrEnum):
    """What a piece of the transcript is; the terminal chooses place and colour by it."""

    ANSWER = "answer"
    REASONING = "reasoning"
    TOOL = "tool"
    NOTE = "note"
    FIGURES = "figures"
    ERROR = "error"


class Piece(NamedTuple):
    """Text of one kind. What is no delta of answer or reasoning is whole lines."""

    kind: Kind
    text: str


class Transcript:
    """Turns the parts of one run, in their order, into pieces that stand under each other in whole lines.

    The failure of a run is not among them: whoever runs it says so, once.
    """

    def __init__(self) -> None:
        self._open: Kind | None = None
        self._steps = 0

    def feed(self, part: FullStreamPart) -> tuple[Piece, ...]:
        """The pieces that *part* adds."""
        if isinstance(part, TextDeltaOutput):
            return self._delta(Kind.ANSWER, part.text)
        if isinstance(part, ReasoningDeltaOutput):
            return self._delta(Kind.REASONING, part.text)
        if isinstance(part, FinishStep):
            self._steps += 1
        lines = tuple(Piece(kind, f"{text}\n") for kind, text in _lines(part, self._steps))
        return (*self.end_line(), *lines) if lines else ()

    def end_line(self) -> tuple[Piece, ...]:
        """What ends the line of an answer or a reasoning that has been streamed so far; nothing at a line's start."""
        kind, self._open = self._open, None
        return () if kind is None else (Piece(kind, "\n"),)

    def _delta(self, kind: Kind, text: str) -> tuple[Piece, ...]:
        if not text:
            return ()
        before = self.end_line() if self._open is not kind else ()
        self._open = None if text.endswith("\n") else kind
        return (*before, Piece(kind, text))


def _lines(part: FullStreamPart, step: int) -> Iterator[tuple[Kind, str]]:
    match part:
        case StartStep():
            yield from ((Kind.NOTE, f"! {warning_text(warning)}") for warning in part.warnings)
        case FileOutput():
            yield Kind.NOTE, f"! a file of type {part.file.media_type}, {len(part.file.data)} bytes"
        case URLSource():
            yield Kind.NOTE, f"! source: {part.url}"
        case DocumentSource():
            yield Kind.NOTE, f"! source: {part.title}"
        case StepRestart():
            yield Kind.NOTE, f"! the step begins again (attempt {part.attempt}): {error_text(part.error)}"
        case FinishStep():
            yield Kind.FIGURES, step_figures(part, step)
        case Finish() if step > 1:
            yield Kind.FIGURES, f"── {step} steps: {usage_figures(part.total_usage)}"
        case Abort():
            yield Kind.NOTE, "! aborted" if part.reason is None else f"! aborted: {part.reason}"
        case _:
            yield from _tool_lines(part)


def _tool_lines(part: FullStreamPart) -> Iterator[tuple[Kind, str]]:
    match part:
        case TypedToolCall():
            yield Kind.TOOL, f"→ {part.tool_name}({shown(part.input)})"
        case TypedToolResult():
            yield Kind.TOOL, f"{'…' if part.preliminary else '←'} {part.tool_name}: {shown(part.output)}"
        case TypedToolError():
            yield Kind.ERROR, f"✗ {part.tool_name}: {error_text(part.error)}"
        case ToolOutputDenied():
            yield Kind.NOTE, f"! {part.tool_name} was denied and did not run"
        case ToolApprovalRequestOutput() if not part.is_automatic:
            yield Kind.NOTE, f"! {part.tool_call.tool_name} waits for an approval"
        case _:
            pass


def step_figures(part: FinishStep, number: int) -> str:
    """One line about a step: why it ended, its tokens and times."""
    figures = [part.finish_reason, usage_figures(part.usage)]
    if part.performance is not None:
        figures += _time_figures(part.performance)
    return f"── step {number}: {' · '.join(figures)}"


def usage_figures(usage: LanguageModelUsage) -> str:
    """Tokens in and out; a figure that the provider does not give is a question mark."""
    given, made = ("?" if tokens is None else str(tokens) for tokens in (usage.input_tokens, usage.output_tokens))
    return f"{given} tokens in, {made} out"


def _time_figures(performance: StepPerformance) -> Iterator[str]:
    yield f"{performance.step_time_ms / _MS_PER_SECOND:.2f} s"
    if performance.time_to_first_output_ms is not None:
        yield f"first output after {performance.time_to_first_output_ms / _MS_PER_SECOND:.2f} s"
    if performance.output_tokens_per_second is not None:
        yield f"{performance.output_tokens_per_second:.0f} tokens/s"


def warning_text(warning: CallWarning) -> str:
    """A warning of a call in one line."""
    match warning:
        case OtherWarning():
            return warning.message
        case DeprecatedWarning():
            return f"{warning.setting} is deprecated: {warning.message}"
        case _:
            return f"{warning.feature} ({warning.type}){f': {warning.details}' if warning.details else ''}"


def error_text(error: object) -> str:
    """An error in one line: its message, and its class where that says more."""
    if isinstance(error, str):
        return " ".join(error.split())
    if not isinstance(error, BaseException):
        return shown(error)
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def shown(value: object) -> str:
    """A tool's input or output in one line of JSON, shortened."""
    try:
        text = json.dumps(to_json(value), ensure_ascii=False)
    except TypeValidationError:
        text = " ".join(repr(value).split())
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"
