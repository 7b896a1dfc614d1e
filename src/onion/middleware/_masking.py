"""What layers that show content to others take out of it first: keys, tokens, signatures, data URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import MASK

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

LOOKAHEAD_CHARACTERS = 4_000  # a secret that begins before the limit is seen whole enough to be known as one

_NAMES = r"(?:api[-_ ]?key|authorization|cookie|password|passwd|secret|signature|access[-_ ]?token|token)"
_KEY = re.compile(rf"{_NAMES}$", re.IGNORECASE)
_WHOLE = re.compile(
    r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"
    r"|data:[\w.+/;=-]*,[^\s\"'<>)]*"
    r"|\b(?:sk|pk|rk|xai|nvapi|pplx)-[\w-]{8,}"
    r"|\b(?:gsk|hf|r8|ghp|gho|ghu|ghs|ghr|github_pat)_\w{8,}"
    r"|\bAIza[\w-]{8,}"
    r"|\bAKIA[0-9A-Z]{12,}"
    r"|\bxox[abprs]-[\w-]{8,}"
    r"|\beyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?"
    r"|[A-Za-z0-9+/_-]{160,}={0,2}"
)
_AFTER_NAME = re.compile(
    rf"(\b(?:bearer|basic)\s+|[?&](?:key|sig)=|{_NAMES}[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?)"
    r"[^\s\"',;&}]{6,}",
    re.IGNORECASE,
)


def mask_text(text: str, limit: int) -> str:
    """*text* without secrets and data URLs, cut after *limit* characters."""
    masked = _WHOLE.sub(MASK, text[: limit + LOOKAHEAD_CHARACTERS])
    masked = _AFTER_NAME.sub(rf"\g<1>{MASK}", masked)
    return f"{masked[:limit]}…" if len(masked) > limit or len(text) > limit + LOOKAHEAD_CHARACTERS else masked


def mask_json(value: JsonValue, limit: int) -> JsonValue:
    """*value* with all texts masked and cut, and nothing under a key that names a secret."""
    if isinstance(value, str):
        return mask_text(value, limit)
    if isinstance(value, Mapping):
        return {key: MASK if _KEY.search(key) else mask_json(member, limit) for key, member in value.items()}
    if isinstance(value, tuple | list):
        return [mask_json(item, limit) for item in value]
    return value
