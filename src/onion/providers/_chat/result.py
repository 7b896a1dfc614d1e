"""A completion as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._chat.chunks import ChunkReader
from onion.providers._json import objects_in
from onion.providers._model import UNKNOWN, no_answer, whole_answer
from onion.providers._tooling import random_call_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers._model import Exchange
    from onion.spec.base import JsonValue
    from onion.spec.result import GenerateResult


def to_result(
    completion: JsonValue,
    exchange: Exchange = UNKNOWN,
    *,
    name: str,
    generate_id: Callable[[], str] = random_call_id,
) -> GenerateResult:
    """The result that *completion* holds.

    Args:
        completion: The parsed body of an answer.
        exchange: What the result says of the call.
        name: Key of the provider metadata.
        generate_id: Gives ids to calls that come without.

    Raises:
        TypeValidationError: When it is no completion.
        StreamProviderError: When it reports a failure.
    """
    if not isinstance(completion, dict) or not (objects_in(completion, "choices") or completion.get("error")):
        raise no_answer("chat completion", completion)
    return whole_answer(ChunkReader(name, generate_id=generate_id, is_whole=True), [completion], completion, exchange)
