"""Marks in a request up to which the server caches it: ``cacheControl`` of messages, parts and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers.anthropic.names import own_options, spelled_inside
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.spec.base import JsonValue, ProviderOptions

MOST_MARKS = 4
"""Anthropic, "Prompt caching", section "Cache limitations", read 2026-12-01."""

_UNMARKABLE = frozenset({"thinking", "redacted_thinking"})


class Marks:
    """Sets marks, and counts them; what the API would refuse is left out with a warning."""

    def __init__(self, warnings: list[CallWarning]) -> None:
        self._warnings = warnings
        self._left = MOST_MARKS

    def take(self, count: int = 1) -> None:
        """Count marks that are set elsewhere."""
        self._left -= count

    def set(self, block: dict[str, JsonValue] | None, options: ProviderOptions | None) -> None:
        """Mark *block* if *options* say so, and it bears no mark yet."""
        wanted = own_options(options).get("cache_control")
        if wanted is None or block is None or "cache_control" in block:
            return
        if block.get("type") in _UNMARKABLE:
            self._warn("reasoning cannot be marked")
        elif self._left < 1:
            self._warn(f"a request has at most {MOST_MARKS} marks: the first ones count")
        else:
            self._left -= 1
            block["cache_control"] = spelled_inside(wanted)

    def _warn(self, details: str) -> None:
        warning = UnsupportedWarning(feature="cacheControl", details=details)
        if warning not in self._warnings:
            self._warnings.append(warning)
