"""What an answer says of itself: id, model, time, usage, why it ended, and the server's own facts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from onion.providers._chat.finish import to_finish_reason
from onion.providers._chat.usage import to_usage, usage_in
from onion.providers._json import count_in, object_in, text_in
from onion.spec.parts import FinishPart, ResponseMetadata
from onion.spec.usage import FinishReason

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_KEPT = frozenset(
    {
        "kv_transfer_params",
        "metadata",
        "moderation",
        "prompt_filter_results",
        "provider",
        "service_tier",
        "system_fingerprint",
        "time_info",
        "usage_breakdown",
        "x_groq",
    }
)
"""Members of a chunk or completion that go into provider metadata as they are; of each fact the latest counts."""

_KEPT_OF_CHOICE = frozenset({"content_filter_results", "native_finish_reason", "seed", "stop_reason", "token_ids"})
_OF_EVERY_CHUNK = frozenset({"choices", "created", "id", "model", "object"})
_ACCOUNTS = ("usage", "x_groq")
_MESSAGES = ("delta", "message")
_MILLISECONDS = 10**11
"""Times from here on are not seconds: that would be the year 5138."""


class Envelope:
    """Collects what the chunks of one answer say of it; `name` is the key of the provider metadata."""

    def __init__(self, name: str) -> None:
        self.raw_reason: str | None = None
        self.metadata: dict[str, JsonValue] = {}
        self._name = name
        self._id: str | None = None
        self._model: str | None = None
        self._created: int | None = None
        self._is_known = False
        self._account: JsonObject | None = None
        self._logprobs: dict[str, list[JsonValue]] = {}

    def read(self, chunk: JsonObject, parts: list[StreamPart]) -> None:
        """Take what *chunk* says outside of its choices."""
        if not self._is_known:
            self._identify(chunk, parts)
        for key, found in chunk.items():
            if not found or key in _OF_EVERY_CHUNK:
                continue
            if key in _ACCOUNTS:
                self._account = usage_in(chunk) or self._account
            if key in _KEPT and self.metadata.get(key) != found:
                self._keep(key, found)

    def read_choice(self, choice: JsonObject) -> None:
        """Take what a choice says beside its message."""
        for key, found in choice.items():
            if not found or key in _MESSAGES:
                continue
            if key == "finish_reason":
                self.raw_reason = found if isinstance(found, str) else self.raw_reason
            elif key == "logprobs":
                for kind, more in object_in(choice, "logprobs").items():
                    if isinstance(more, list):
                        self._logprobs.setdefault(kind, []).extend(more)
            elif key == "usage":  # Moonshot
                self._account = usage_in(choice) or self._account
            elif key in _KEPT_OF_CHOICE:
                self._keep(key, found)

    def finish(self, *, has_calls: bool, is_refusal: bool, failed: bool) -> FinishPart:
        """The last part of the answer."""
        reason = to_finish_reason(self.raw_reason, has_calls=has_calls, is_refusal=is_refusal)
        metadata = dict(self.metadata)
        for key, found in self._logprobs.items():
            metadata["logprobs" if key == "content" else f"{key}_logprobs"] = found
        return FinishPart(
            finish_reason=FinishReason(unified="error", raw=self.raw_reason) if failed else reason,
            usage=to_usage(self._account),
            provider_metadata={self._name: metadata} if metadata else None,
        )

    def _keep(self, key: str, found: JsonValue) -> None:
        before = self.metadata.get(key)
        if isinstance(before, Mapping) and isinstance(found, Mapping):
            found = {**before, **found}
        self.metadata[key] = found

    def _identify(self, chunk: JsonObject, parts: list[StreamPart]) -> None:
        """Ids may be empty at first, or change with each chunk: the first that says something counts."""
        before = (self._id, self._model, self._created)
        self._id = self._id or text_in(chunk, "id") or None
        self._model = self._model or text_in(chunk, "model") or None
        self._created = self._created or count_in(chunk, "created") or None
        now = (self._id, self._model, self._created)
        self._is_known = None not in now
        if now != before:
            parts.append(ResponseMetadata(id=self._id, timestamp=_time(self._created), model_id=self._model))


def _time(created: int | None) -> datetime | None:
    if created is None:
        return None
    seconds = created / 1000 if created >= _MILLISECONDS else created
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
