"""What an answer says of itself: id, model, time, usage, why it ended, what it rests on, and the server's own facts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.providers.google.names import NAME
from onion.providers.google.usage import to_finish_reason, to_usage
from onion.spec.parts import FinishPart, ResponseMetadata
from onion.spec.usage import FinishReason

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_TOLD_ELSEWHERE = frozenset({"candidates", "createTime", "modelVersion", "responseId", "usageMetadata"})
_OF_CANDIDATE = frozenset({"content", "index"})


class Envelope:
    """Collects what the chunks of one answer say of it; of each fact the latest counts, unless it is empty."""

    def __init__(self) -> None:
        self.raw_reason: str | None = None
        self._metadata: dict[str, JsonValue] = {}
        self._account: dict[str, JsonValue] = {}
        self._is_known = False

    @property
    def grounding(self) -> JsonObject:
        """What the answer rests on."""
        return object_in(self._metadata, "groundingMetadata")

    @property
    def blocked(self) -> str:
        """Why the prompt was not read, if it was not."""
        return text_in(object_in(self._metadata, "promptFeedback"), "blockReason")

    def read(self, chunk: JsonObject, parts: list[StreamPart]) -> None:
        """Take what a chunk says beside its candidates."""
        if not self._is_known:
            self._identify(chunk, parts)
        for key, found in chunk.items():
            if key == "usageMetadata":
                self._account |= object_in(chunk, key)
            elif key not in _TOLD_ELSEWHERE:
                self._keep(key, found)

    def read_candidate(self, candidate: JsonObject) -> None:
        """Take what a candidate says beside its content."""
        for key, found in candidate.items():
            if key == "finishReason":
                self.raw_reason = text_in(candidate, key) or self.raw_reason
            elif key == "logprobsResult":
                self._keep(key, _joined(object_in(self._metadata, key), object_in(candidate, key)))
            elif key not in _OF_CANDIDATE:
                self._keep(key, found)

    def finish(self, *, has_calls: bool, failed: bool) -> FinishPart:
        """The last part of the answer."""
        reason = to_finish_reason(self.raw_reason, blocked=self.blocked, has_calls=has_calls)
        return FinishPart(
            finish_reason=FinishReason(unified="error", raw=self.raw_reason) if failed else reason,
            usage=to_usage(self._account),
            provider_metadata={NAME: self._metadata} if self._metadata else None,
        )

    def _identify(self, chunk: JsonObject, parts: list[StreamPart]) -> None:
        known = (text_in(chunk, "responseId"), text_in(chunk, "modelVersion"), text_in(chunk, "createTime"))
        if any(known):
            self._is_known = True
            parts.append(ResponseMetadata(id=known[0] or None, timestamp=_moment(known[2]), model_id=known[1] or None))

    def _keep(self, key: str, found: JsonValue) -> None:
        if found not in (None, {}, [], ""):
            self._metadata[key] = found


def _joined(before: JsonObject, more: JsonObject) -> JsonObject:
    """Log probabilities come for the tokens of each chunk: lists are continued."""
    found = dict(before)
    for key, member in more.items():
        held = found.get(key)
        found[key] = [*held, *member] if isinstance(held, list) and isinstance(member, list) else member
    return found


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
