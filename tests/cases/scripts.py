"""What the scripted model of a case says, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.spec.content import ToolCall, ToolResult
from onion.spec.json import from_json
from onion.spec.parts import ReasoningDelta, ReasoningEnd, ReasoningStart
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, Usage
from onion.testing import parts
from tests.cases.case import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.usage import UnifiedFinishReason
    from onion.testing import ScriptPart


def answer_of(step: JsonObject) -> tuple[ScriptPart, ...]:
    """The stream of one step."""
    return parts(*_pieces(step), finish_reason=finish_of(step), used=usage_of(object_in(step, "usage")))


def _pieces(step: JsonObject) -> Iterator[ScriptPart | str]:
    if "reasoning" in step:
        yield ReasoningStart(id="r")
        yield ReasoningDelta(id="r", delta=text_in(step, "reasoning"))
        yield ReasoningEnd(id="r")
    deltas = step.get("text_deltas", [step["text"]] if "text" in step else [])
    for delta in deltas if isinstance(deltas, list) else []:
        yield str(delta)
    for call in rows(step.get("tool_calls")):
        yield ToolCall(
            tool_call_id=text_in(call, "id"),
            tool_name=text_in(call, "name"),
            input=text_in(call, "input"),
            provider_executed=call.get("provider_executed") is True or None,
        )
    for failure in rows(step.get("tool_errors")):
        yield ToolResult(
            tool_call_id=text_in(failure, "id"),
            tool_name=text_in(failure, "name"),
            result=failure.get("error"),
            is_error=True,
        )


def finish_of(step: JsonObject) -> UnifiedFinishReason:
    """The finish reason that a case writes."""
    return from_json(FinishReason, {"unified": text_in(step, "finish") or "stop"}).unified


def usage_of(given: JsonObject) -> Usage:
    """The usage that a case writes: totals, and what was cached; all is unknown that is not written."""
    return Usage(
        input_tokens=InputTokens(total=_count(given.get("input")), cache_read=_count(given.get("cached_input"))),
        output_tokens=OutputTokens(total=_count(given.get("output"))),
    )


def _count(number: JsonValue) -> int | None:
    return number if isinstance(number, int) else None
