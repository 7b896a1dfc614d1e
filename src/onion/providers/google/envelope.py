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
_OF_CANDIDATE = frozenset({"content", "finishReason", "index"})


class Envelope:
    """Collects what the chunks of one answer say of it; of each fact the latest counts, unless it is empty."""

    def __init__(self) -> None:
        self.raw_reason: str | None = None
        self._metadata: dict[str, JsonValue] = {}
        self._account: dict[str, JsonValue] = {}
        self._known: tuple[str, str, str] | None = None

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
        known = (text_in(chunk, "responseId"), text_in(chunk, "modelVersion"), text_in(chunk, "createTime"))
        if any(known) and self._known is None:
            self._known = known
            parts.append(ResponseMetadata(id=known[0] or None, timestamp=_moment(known[2]), model_id=known[1] or None))
        self._account |= object_in(chunk, "usageMetadata")
        self._keep({key: found for key, found in chunk.items() if key not in _TOLD_ELSEWHERE})

    def read_candidate(self, candidate: JsonObject) -> None:
        """Take what a candidate says beside its content."""
        self.raw_reason = text_in(candidate, "finishReason") or self.raw_reason
        told = {key: found for key, found in candidate.items() if key not in _OF_CANDIDATE}
        if object_in(told, "logprobsResult"):
            told["logprobsResult"] = _joined(
                object_in(self._metadata, "logprobsResult"), object_in(told, "logprobsResult")
            )
        self._keep(told)

    def finish(self, *, has_calls: bool, failed: bool) -> FinishPart:
        """The last part of the answer."""
        reason = to_finish_reason(self.raw_reason, blocked=self.blocked, has_calls=has_calls)
        return FinishPart(
            finish_reason=FinishReason(unified="error", raw=self.raw_reason) if failed else reason,
            usage=to_usage(self._account),
            provider_metadata={NAME: self._metadata} if self._metadata else None,
        )

    def _keep(self, facts: JsonObject) -> None:
        self._metadata |= {key: found for key, found in facts.items() if found not in (None, {}, [], "")}


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
