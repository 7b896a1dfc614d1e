"""Why the model stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.spec.usage import FinishReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.usage import UnifiedFinishReason

FINISH_REASONS: Mapping[str, UnifiedFinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    # Other servers' words, from their API pages, read 2026-11-30.
    "eos": "stop",  # Together
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_length": "length",  # Mistral
    "tool_use": "tool-calls",
    "sensitive": "content-filter",  # Z.ai
    "safety": "content-filter",
    "error": "error",  # OpenRouter
    "network_error": "error",  # Z.ai
}
"""The API's words (OpenAI, "The chat completion object", read 2026-11-30) and ours."""


def to_finish_reason(raw: str | None, *, has_calls: bool, is_refusal: bool) -> FinishReason:
    """The reason for an answer that is complete.

    Args:
        raw: The server's word, if it said one.
        has_calls: The answer holds calls of the caller's tools.
        is_refusal: The model refused, which the API does not say here.
    """
    if not raw:
        return FinishReason(unified="tool-calls" if has_calls else "stop")
    unified = FINISH_REASONS.get(raw.lower(), "other")
    return FinishReason(unified="content-filter" if is_refusal and unified == "stop" else unified, raw=raw)
