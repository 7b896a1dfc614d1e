"""A completion as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.errors import TypeValidationError
from onion.providers._chat.chunks import ChunkDecoder
from onion.providers._json import objects_in
from onion.providers._tooling import random_call_id
from onion.spec.result import ResponseInfo
from onion.streaming import Collector

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.result import GenerateResult

_SHOWN_KEYS = 8


def to_result(completion: JsonValue, *, name: str, generate_id: Callable[[], str] = random_call_id) -> GenerateResult:
    """The result that *completion* holds.

    Args:
        completion: The parsed body of an answer.
        name: Key of the provider metadata.
        generate_id: Gives ids to calls that come without.

    Raises:
        TypeValidationError: When it is no completion.
        StreamProviderError: When it reports a failure.
    """
    if not isinstance(completion, dict) or not (objects_in(completion, "choices") or completion.get("error")):
        keys = ", ".join(list(completion)[:_SHOWN_KEYS]) if isinstance(completion, Mapping) else ""
        shown = f"an object with {keys or 'no members'}" if isinstance(completion, Mapping) else repr(completion)[:80]
        msg = f"the answer is no chat completion but {shown}: check base_url"
        raise TypeValidationError(msg, value=completion)
    decoder = ChunkDecoder(name=name, generate_id=generate_id)
    collector = Collector()
    for part in decoder.feed(completion, is_whole=True):
        collector.feed(part)
    decoder.done()
    for part in decoder.end():
        collector.feed(part)
    result = collector.result()
    return replace(result, response=replace(result.response or ResponseInfo(), body=completion))
