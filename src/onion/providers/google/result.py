"""An answer of the Gemini API as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._model import UNKNOWN, no_answer, whole_answer
from onion.providers.google.chunks import ChunkReader

if TYPE_CHECKING:
    from onion.providers._model import Exchange
    from onion.providers.google.toolbox import Toolbox
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.result import GenerateResult

_MEMBERS = ("candidates", "promptFeedback", "usageMetadata", "error")


def to_result(body: JsonValue, toolbox: Toolbox, exchange: Exchange = UNKNOWN) -> GenerateResult:
    """The result that *body* holds, an answer or a list with the chunks of one, with what is known of the *exchange*.

    Raises:
        TypeValidationError: When it is no answer.
        StreamProviderError: When it reports a failure.
    """
    chunks: list[JsonObject] = []
    for chunk in (body if isinstance(body, list) else [body]) or [None]:
        if not isinstance(chunk, dict) or chunk.keys().isdisjoint(_MEMBERS):
            raise no_answer("list of candidates", chunk)
        chunks.append(chunk)
    return whole_answer(ChunkReader(toolbox, is_whole=True), chunks, body, exchange)
