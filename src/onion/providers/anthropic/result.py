"""An answer of the Messages API as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._model import UNKNOWN, no_answer, whole_answer
from onion.providers.anthropic.events import EventReader

if TYPE_CHECKING:
    from onion.providers._model import Exchange
    from onion.providers.anthropic.context import AnswerContext
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.result import GenerateResult


def to_result(message: JsonValue, context: AnswerContext, exchange: Exchange = UNKNOWN) -> GenerateResult:
    """The result that *message* holds, with what is known of the *exchange*.

    Raises:
        TypeValidationError: When it is no message.
        StreamProviderError: When it reports a failure.
    """
    is_failure = isinstance(message, dict) and bool(message.get("error"))
    if not isinstance(message, dict) or not (isinstance(message.get("content"), list) or is_failure):
        raise no_answer("message", message)
    events: list[JsonObject] = (
        [message] if is_failure else [{"type": "message_start", "message": message}, {"type": "message_stop"}]
    )
    return whole_answer(EventReader(context), events, message, exchange)
