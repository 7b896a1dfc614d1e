"""What an answer says of itself: id, model, time, usage, how it ended, and the server's own facts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in, text_in
from onion.spec.parts import FinishPart, ResponseMetadata
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart
    from onion.spec.usage import UnifiedFinishReason

_KEPT = frozenset(
    {
        "billing",
        "content_filters",
        "conversation",
        "incomplete_details",
        "metadata",
        "moderation",
        "service_tier",
        "tool_usage",
    }
)
"""Members of a response that go into provider metadata as they are. What only repeats the request is left out."""

_OF_EVENT = frozenset({"type", "response", "sequence_number"})

_REASONS: Mapping[str, UnifiedFinishReason] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
}
"""Why an answer is incomplete (API reference, "The response object", read 2026-11-30), and ours."""


class Envelope:
    """Collects what the events of one answer say of it; `name` is the key of the provider metadata."""

    def __init__(self, name: str) -> None:
        self.logprobs: list[JsonValue] = []
        self._name = name
        self._latest: JsonObject = {}
        self._beside: dict[str, JsonValue] = {}
        self._identity: tuple[str | None, datetime | None, str | None] = (None, None, None)

    def read(self, response: JsonObject, parts: list[StreamPart]) -> None:
        """Take what *response* says, as far as it is there already."""
        self._latest = response
        known = self._identity
        found = (text_in(response, "id") or None, _time(response.get("created_at")), text_in(response, "model") or None)
        self._identity = (known[0] or found[0], known[1] or found[1], known[2] or found[2])
        if self._identity != known:
            response_id, timestamp, model_id = self._identity
            parts.append(ResponseMetadata(id=response_id, timestamp=timestamp, model_id=model_id))

    def read_beside(self, event: JsonObject) -> None:
        """Take what a gateway says beside the response, in the event that carries it."""
        self._beside |= {key: found for key, found in event.items() if key not in _OF_EVENT and found}

    def finish(self, *, has_calls: bool, is_refusal: bool, failed: bool) -> FinishPart:
        """The last part of the answer."""
        response_id = text_in(self._latest, "id") or self._identity[0]  # some gateways change it with each event
        metadata: dict[str, JsonValue] = {"responseId": response_id} if response_id else {}
        metadata |= self._beside
        metadata |= {key: found for key, found in self._latest.items() if key in _KEPT and found}
        if self.logprobs:
            metadata["logprobs"] = self.logprobs
        reason = self._reason(has_calls=has_calls, is_refusal=is_refusal)
        return FinishPart(
            finish_reason=FinishReason(unified="error", raw=self._failed()) if failed else reason,
            usage=to_usage(self._latest),
            provider_metadata={self._name: metadata} if metadata else None,
        )

    def _failed(self) -> str | None:
        return "failed" if self._latest.get("status") == "failed" else None

    def _reason(self, *, has_calls: bool, is_refusal: bool) -> FinishReason:
        """A complete answer has no word for why it ended: it is known from what it holds."""
        raw = text_in(object_in(self._latest, "incomplete_details"), "reason") or None
        status = text_in(self._latest, "status") or "completed"
        if raw is not None:
            return FinishReason(unified=_REASONS.get(raw, "other"), raw=raw)
        if status != "completed":  # cancelled, or still waiting in the background
            return FinishReason(unified="other", raw=status)
        if is_refusal:
            return FinishReason(unified="content-filter")
        return FinishReason(unified="tool-calls" if has_calls else "stop")


def to_usage(response: JsonObject) -> Usage:
    """The token counts of *response*; what the server does not say is None, not zero."""
    account = object_in(response, "usage")
    if not account:
        return Usage()
    total, given = count_in(account, "output_tokens"), count_in(account, "input_tokens")
    details = object_in(account, "input_tokens_details")
    read, written = count_in(details, "cached_tokens"), count_in(details, "cache_write_tokens")
    reasoning = count_in(object_in(account, "output_tokens_details"), "reasoning_tokens")
    no_cache = None if given is None or read is None else max(0, given - read - (written or 0))
    text = None if total is None or reasoning is None else max(0, total - reasoning)
    return Usage(
        input_tokens=InputTokens(total=given, no_cache=no_cache, cache_read=read, cache_write=written),
        output_tokens=OutputTokens(total=total, text=text, reasoning=reasoning),
        raw=account,
    )


def _time(created: JsonValue) -> datetime | None:
    if isinstance(created, bool) or not isinstance(created, int | float) or not created:
        return None
    try:
        return datetime.fromtimestamp(created, UTC)
    except (OverflowError, ValueError, OSError):
        return None
