"""What an answer says of itself: id, model, usage, why it ended, and the server's own facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.providers.anthropic.names import NAME
from onion.providers.anthropic.usage import to_finish_reason, to_usage
from onion.spec.naming import camel
from onion.spec.parts import FinishPart, ResponseMetadata
from onion.spec.usage import FinishReason

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_TOLD_ELSEWHERE = frozenset({"content", "delta", "id", "model", "role", "stop_reason", "type", "usage"})


class Envelope:
    """Collects what the events of one answer say of it; of each fact the latest counts."""

    def __init__(self) -> None:
        self.raw_reason: str | None = None
        self.metadata: dict[str, JsonValue] = {}
        self._account: dict[str, JsonValue] = {}
        self._known: tuple[str, str] | None = None

    @property
    def container(self) -> JsonObject:
        """Where the server ran code, if it did."""
        return object_in(self.metadata, "container")

    def read_start(self, message: JsonObject, parts: list[StreamPart]) -> None:
        """Take a message that begins, or is there as a whole."""
        known = (text_in(message, "id"), text_in(message, "model"))
        if known != self._known and any(known):
            self._known = known
            parts.append(ResponseMetadata(id=known[0] or None, model_id=known[1] or None))
        self._account = {}
        self.read_more(message)

    def read_more(self, said: JsonObject) -> None:
        """Take what is said of the message later; counts are totals and replace what was said before."""
        reason = text_in(said, "stop_reason")
        if reason:
            self.raw_reason = reason
        self._account |= {key: found for key, found in object_in(said, "usage").items() if found is not None}
        for key, found in said.items():
            if key not in _TOLD_ELSEWHERE and found is not None:
                self.metadata[camel(key)] = found

    def finish(self, *, has_calls: bool, json_text: str | None, failed: bool) -> FinishPart:
        """The last part of the answer."""
        is_json_answer = json_text is not None
        reason = to_finish_reason(self.raw_reason, has_calls=has_calls, is_json_answer=is_json_answer)
        return FinishPart(
            finish_reason=FinishReason(unified="error", raw=self.raw_reason) if failed else reason,
            usage=to_usage(self._account),
            provider_metadata={NAME: self.metadata} if self.metadata else None,
            structured_output_text=json_text,
        )
