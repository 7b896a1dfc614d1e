"""An answer of the Gemini API as a result: the answer in one piece goes the way of the answer in many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.errors import TypeValidationError
from onion.providers.google.chunks import ChunkDecoder
from onion.spec.result import ResponseInfo
from onion.streaming import Collector

if TYPE_CHECKING:
    from onion.providers.google.toolbox import Toolbox
    from onion.spec.base import JsonValue
    from onion.spec.result import GenerateResult

_MEMBERS = ("candidates", "promptFeedback", "usageMetadata", "error")
_SHOWN_KEYS = 8


def to_result(body: JsonValue, toolbox: Toolbox) -> GenerateResult:
    """The result that *body* holds: an answer, or a list with the chunks of one.

    Raises:
        TypeValidationError: When it is no answer.
        StreamProviderError: When it reports a failure.
    """
    chunks = body if isinstance(body, list) else [body]
    decoder = ChunkDecoder(toolbox, is_whole=True)
    collector = Collector()
    for chunk in chunks or [None]:
        if not isinstance(chunk, dict) or chunk.keys().isdisjoint(_MEMBERS):
            raise _no_answer(chunk)
        if not decoder.is_over:
            for part in decoder.feed(chunk):
                collector.feed(part)
    for part in decoder.end():
        collector.feed(part)
    result = collector.result()
    return replace(result, response=replace(result.response or ResponseInfo(), body=body))


def _no_answer(chunk: JsonValue) -> TypeValidationError:
    keys = ", ".join(list(chunk)[:_SHOWN_KEYS]) if isinstance(chunk, Mapping) else ""
    shown = f"an object with {keys or 'no members'}" if isinstance(chunk, Mapping) else repr(chunk)[:80]
    return TypeValidationError(f"the answer has no candidates but is {shown}: check base_url", value=chunk)
