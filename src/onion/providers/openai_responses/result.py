"""A response as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import text_in
from onion.providers._model import UNKNOWN, no_answer, whole_answer
from onion.providers._tooling import random_call_id
from onion.providers.openai_responses.events import EventReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.providers._model import Exchange
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.result import GenerateResult


def to_result(
    response: JsonValue,
    exchange: Exchange = UNKNOWN,
    *,
    name: str,
    tool_names: Mapping[str, str] | None = None,
    generate_id: Callable[[], str] = random_call_id,
) -> GenerateResult:
    """The result that *response* holds.

    An answer that is not there yet (``queued``, ``in_progress``) has no content and the finish reason ``other``, with
    the status as the raw one.

    Args:
        response: The parsed body of an answer.
        exchange: What the result says of the call.
        name: Key of the provider metadata.
        tool_names: By provider tool, the caller's name for it.
        generate_id: Gives ids to calls that come without.

    Raises:
        TypeValidationError: When it is no response.
        StreamProviderError: When it reports a failure.
    """
    if not isinstance(response, dict) or not (isinstance(response.get("output"), list) or response.get("error")):
        raise no_answer("response", response)
    failed = text_in(response, "status") == "failed" or bool(response.get("error"))
    last: JsonObject = {"type": f"response.{'failed' if failed else 'completed'}", "response": response}
    reader = EventReader(name, tool_names=tool_names, generate_id=generate_id)
    return whole_answer(reader, [last], response, exchange)
