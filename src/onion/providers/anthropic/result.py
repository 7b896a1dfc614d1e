"""An answer of the Messages API as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.errors import TypeValidationError
from onion.providers.anthropic.events import EventDecoder
from onion.spec.result import ResponseInfo
from onion.streaming import Collector

if TYPE_CHECKING:
    from onion.providers.anthropic.context import AnswerContext
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.result import GenerateResult

_SHOWN_KEYS = 8


def to_result(message: JsonValue, context: AnswerContext) -> GenerateResult:
    """The result that *message* holds.

    Raises:
        TypeValidationError: When it is no message.
        StreamProviderError: When it reports a failure.
    """
    is_failure = isinstance(message, Mapping) and bool(message.get("error"))
    if not isinstance(message, dict) or not (isinstance(message.get("content"), list) or is_failure):
        keys = ", ".join(list(message)[:_SHOWN_KEYS]) if isinstance(message, Mapping) else ""
        shown = f"an object with {keys or 'no members'}" if isinstance(message, Mapping) else repr(message)[:80]
        msg = f"the answer is no message but {shown}: check base_url"
        raise TypeValidationError(msg, value=message)
    decoder = EventDecoder(context)
    collector = Collector()
    events: list[JsonObject] = (
        [message] if is_failure else [{"type": "message_start", "message": message}, {"type": "message_stop"}]
    )
    for event in events:
        for part in decoder.feed(event):
            collector.feed(part)
    for part in decoder.end():
        collector.feed(part)
    result = collector.result()
    return replace(result, response=replace(result.response or ResponseInfo(), body=message))
