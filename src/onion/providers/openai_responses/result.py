"""A response as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.errors import TypeValidationError
from onion.providers._json import text_in
from onion.providers._tooling import random_call_id
from onion.providers.openai_responses.events import EventDecoder
from onion.spec.result import ResponseInfo
from onion.streaming import Collector

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult

_SHOWN_KEYS = 8


def to_result(
    response: JsonValue,
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
        name: Key of the provider metadata.
        tool_names: By provider tool, the caller's name for it.
        generate_id: Gives ids to calls that come without.

    Raises:
        TypeValidationError: When it is no response.
        StreamProviderError: When it reports a failure.
    """
    if not isinstance(response, dict) or not (isinstance(response.get("output"), list) or response.get("error")):
        keys = ", ".join(list(response)[:_SHOWN_KEYS]) if isinstance(response, Mapping) else ""
        shown = f"an object with {keys or 'no members'}" if isinstance(response, Mapping) else repr(response)[:80]
        msg = f"the answer is no response but {shown}: check base_url"
        raise TypeValidationError(msg, value=response)
    decoder = EventDecoder(name=name, tool_names=tool_names, generate_id=generate_id)
    collector = Collector()
    parts: list[StreamPart] = []
    status = text_in(response, "status")
    failed = status == "failed" or bool(response.get("error"))
    decoder.read(response, parts, status="failed" if failed else "completed")
    for part in (*parts, *decoder.end()):
        collector.feed(part)
    result = collector.result()
    return replace(result, response=replace(result.response or ResponseInfo(), body=response))
