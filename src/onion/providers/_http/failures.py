"""What a provider says of a failure, read from the error bodies that the APIs have in common. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onion.errors import is_retryable_status
from onion.providers._json import NOTHING, count_in, object_in, text_in
from onion.spec.base import JsonObject, JsonValue, value

MAX_MESSAGE_CHARACTERS = 200

_STATUS_OF_WORD = {
    "api_error": 500,
    "authentication_error": 401,
    "billing_error": 402,
    "context_length_exceeded": 400,
    "insufficient_quota": 429,
    "internal_error": 500,
    "internal_server_error": 500,
    "invalid_api_key": 401,
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "not_found_error": 404,
    "overloaded": 503,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "server_error": 500,
    "service_unavailable": 503,
    "timeout": 408,
    "vector_store_timeout": 504,
    "timeout_error": 504,
}
_HOPELESS = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "context_length_exceeded"}
)
"""Codes that waiting does not cure, whatever the status says."""

_MESSAGE_KEYS = ("message", "detail", "error_description", "title")
_ERROR_STATUSES = range(400, 600)


@value
class Failure:
    """A failure in a provider's words.

    Attributes:
        status_code: The HTTP status that it says or implies.
    """

    message: str
    type: str | None = None
    code: str | int | None = None
    status_code: int | None = None

    @property
    def is_retryable(self) -> bool:
        """Whether the same call may succeed later; a failure of unknown class is not expected to."""
        return self.status_code is not None and self.is_curable and is_retryable_status(self.status_code)

    @property
    def is_curable(self) -> bool:
        """Whether its code leaves hope at all."""
        return self.code not in _HOPELESS and self.type not in _HOPELESS

    def __str__(self) -> str:
        """The message, cut, with the code."""
        shown = self.message[:MAX_MESSAGE_CHARACTERS]
        return shown if self.code is None or str(self.code) in shown else f"{shown} ({self.code})"


def read_failure(data: JsonValue) -> Failure | None:
    """The failure that *data* reports; None where it reports none.

    Known forms: ``{"error": {...}}`` and ``{"error": "text"}`` (OpenAI and most), ``{"object": "error", ...}`` (vLLM),
    ``{"type": "error", ...}`` (Anthropic), a list with one of these (Gemini), ``{"message": ...}`` and
    ``{"detail": ...}`` (gateways), read 2026-11-30.
    """
    if isinstance(data, list):
        data = next((item for item in data if isinstance(item, Mapping)), NOTHING)
    if not isinstance(data, Mapping):
        return None
    error = data.get("error")
    if isinstance(error, str) and error:
        return _failure(data, error)
    if isinstance(error, Mapping):
        return _failure(error, _message(error))
    is_marked = data.get("object") == "error" or data.get("type") == "error"
    message = _message(data)
    return _failure(data, message) if is_marked or (message and "choices" not in data) else None


def _message(error: JsonObject) -> str:
    for key in _MESSAGE_KEYS:
        found = error.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, Sequence) and found:
            return str(found)
    return ""


def _failure(error: JsonObject, message: str) -> Failure:
    code = error.get("code")
    kind = text_in(error, "type") or text_in(error, "status") or None
    said = code if isinstance(code, str | int) and not isinstance(code, bool) and code != "" else None
    details = text_in(object_in(error, "metadata"), "raw")
    if details and details not in message:
        message = f"{message}: {details}"
    return Failure(message=message or "no message", type=kind, code=said, status_code=_status(error, said, kind))


def _status(error: JsonObject, code: str | int | None, kind: str | None) -> int | None:
    for key in ("status_code", "status", "code"):
        number = count_in(error, key)
        if number in _ERROR_STATUSES:
            return number
    for word in (code, kind):
        text = str(word).lower()
        if text in _STATUS_OF_WORD:
            return _STATUS_OF_WORD[text]
        if text.isdecimal() and int(text) in _ERROR_STATUSES:
            return int(text)
    return None
