"""Token counts of the Gemini API, and why the model stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import count_in
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.base import JsonObject
    from onion.spec.usage import UnifiedFinishReason

FINISH_REASONS: Mapping[str, UnifiedFinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content-filter",
    "RECITATION": "content-filter",
    "LANGUAGE": "content-filter",
    "BLOCKLIST": "content-filter",
    "PROHIBITED_CONTENT": "content-filter",
    "SPII": "content-filter",
    "MODEL_ARMOR": "content-filter",
    "IMAGE_SAFETY": "content-filter",
    "IMAGE_PROHIBITED_CONTENT": "content-filter",
    "IMAGE_RECITATION": "content-filter",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "UNEXPECTED_TOOL_CALL": "error",
}
"""The API's words (Gemini API, "GenerateContentResponse", and Vertex AI's) and ours."""

_CALLS = ("STOP", "UNEXPECTED_TOOL_CALL")
"""Words for an answer whose calls can be answered; an undeclared tool is told to the model like any other miss."""


def to_finish_reason(raw: str | None, *, blocked: str, has_calls: bool) -> FinishReason:
    """The reason for an answer that is complete.

    Args:
        raw: The API's word, if it said one.
        blocked: The API's word for why it did not read the prompt, or an empty text.
        has_calls: The answer holds calls of the caller's tools.
    """
    if not raw:
        if blocked:
            return FinishReason(unified="content-filter", raw=blocked)
        return FinishReason(unified="tool-calls" if has_calls else "stop")
    if has_calls and raw in _CALLS:
        return FinishReason(unified="tool-calls", raw=raw)
    return FinishReason(unified=FINISH_REASONS.get(raw, "other"), raw=raw)


def to_usage(account: JsonObject) -> Usage:
    """The counts of *account*; what the server does not say is None.

    Results of tools that the server ran are input that the API counts apart, and so is reasoning in the output. The API
    leaves counts of zero away: what its total implies is taken as said.
    """
    if not account:
        return Usage()
    prompt, used = count_in(account, "promptTokenCount"), count_in(account, "toolUsePromptTokenCount")
    cached, thoughts = count_in(account, "cachedContentTokenCount"), count_in(account, "thoughtsTokenCount")
    text = count_in(account, "candidatesTokenCount")
    total, given = count_in(account, "totalTokenCount"), None if prompt is None else prompt + (used or 0)
    if text is None and total is not None and given is not None:
        text = max(0, total - given - (thoughts or 0))
    return Usage(
        input_tokens=InputTokens(
            total=given,
            no_cache=None if given is None else max(0, given - (cached or 0)),
            cache_read=cached,
        ),
        output_tokens=OutputTokens(
            total=None if text is None and thoughts is None else (text or 0) + (thoughts or 0),
            text=text,
            reasoning=thoughts,
        ),
        raw=account,
    )
