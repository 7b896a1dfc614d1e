"""Token counts in every form that chat servers give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in
from onion.spec.usage import InputTokens, OutputTokens, Usage

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

UNKNOWN = Usage()


def usage_in(source: JsonObject) -> JsonObject | None:
    """The account that a chunk, a completion or one of its choices carries; Groq has one more place for it."""
    for found in (source.get("usage"), object_in(source, "x_groq").get("usage")):
        if isinstance(found, Mapping) and found:
            return found
    return None


def to_usage(account: JsonObject | None) -> Usage:
    """The counts of *account*; what the server does not say is None, not zero."""
    if account is None:
        return UNKNOWN
    return Usage(input_tokens=_input(account), output_tokens=_output(account), raw=account)


def _input(account: JsonObject) -> InputTokens:
    total = count_in(account, "prompt_tokens")
    details = object_in(account, "prompt_tokens_details")
    read = _first(
        count_in(details, "cached_tokens"),
        count_in(account, "prompt_cache_hit_tokens"),  # DeepSeek
        count_in(account, "cached_tokens"),  # Moonshot
        count_in(account, "num_cached_tokens"),  # Mistral
    )
    written = _first(count_in(details, "cache_write_tokens"), count_in(details, "cache_creation_tokens"))
    no_cache = None if total is None or read is None else max(0, total - read - (written or 0))
    return InputTokens(total=total, no_cache=no_cache, cache_read=read, cache_write=written)


def _output(account: JsonObject) -> OutputTokens:
    total = count_in(account, "completion_tokens")
    details = object_in(account, "completion_tokens_details")
    reasoning = _first(count_in(details, "reasoning_tokens"), count_in(account, "reasoning_tokens"))
    prompt, both = count_in(account, "prompt_tokens"), count_in(account, "total_tokens")
    if total is not None and prompt is not None and both is not None and both > prompt + total:
        # xAI and Gemini's endpoint count reasoning in `total_tokens` only.
        hidden = both - prompt - total
        if reasoning in (None, 0, hidden):
            return OutputTokens(total=total + hidden, text=total, reasoning=hidden)
    text = None if total is None or reasoning is None else max(0, total - reasoning)
    return OutputTokens(total=total, text=text, reasoning=reasoning)


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)
