"""Token counts of the Messages API, and why the model stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in, objects_in, text_in
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.base import JsonObject
    from onion.spec.usage import UnifiedFinishReason

FINISH_REASONS: Mapping[str, UnifiedFinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
    "compaction": "other",
}
"""The API's words (Anthropic, "Handling stop reasons", read 2026-12-01) and ours."""

_COMPACTION = "compaction"
"""Iterations of this type are billed beside the totals; those of all other types are in them, or another model's."""


def to_finish_reason(raw: str | None, *, has_calls: bool, is_json_answer: bool) -> FinishReason:
    """The reason for an answer that is complete.

    Args:
        raw: The API's word, if it said one.
        has_calls: The answer holds calls of the caller's tools.
        is_json_answer: The only call was the answer itself.
    """
    if not raw:
        return FinishReason(unified="tool-calls" if has_calls else "stop")
    if raw == "tool_use" and is_json_answer and not has_calls:
        return FinishReason(unified="stop", raw=raw)
    return FinishReason(unified=FINISH_REASONS.get(raw, "other"), raw=raw)


def to_usage(account: JsonObject) -> Usage:
    """The counts of *account*; what the server does not say is None, not zero.

    Tokens that were read from the cache or written to it are no part of the API's ``input_tokens``, but of ours.
    """
    if not account:
        return Usage()
    accounts = [account, *(step for step in objects_in(account, "iterations") if text_in(step, "type") == _COMPACTION)]
    plain = _sum(accounts, "input_tokens")
    read = _sum(accounts, "cache_read_input_tokens")
    written = _sum(accounts, "cache_creation_input_tokens")
    output = _sum(accounts, "output_tokens")
    reasoning = count_in(object_in(account, "output_tokens_details"), "thinking_tokens")
    return Usage(
        input_tokens=InputTokens(
            total=None if plain is None else plain + (read or 0) + (written or 0),
            no_cache=plain,
            cache_read=read,
            cache_write=written,
        ),
        output_tokens=OutputTokens(
            total=output,
            text=None if output is None or reasoning is None else max(0, output - reasoning),
            reasoning=reasoning,
        ),
        raw=account,
    )


def _sum(accounts: list[JsonObject], key: str) -> int | None:
    counts = [count for account in accounts if (count := count_in(account, key)) is not None]
    return sum(counts) if counts else None
