"""How hard a model is to reason: one word of ours, and three ways in which models are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in, text_in
from onion.providers.anthropic.names import snake
from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers.anthropic.traits import ModelTraits
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions

SMALLEST_BUDGET = 1024
"""The API refuses less (Anthropic, "Extended thinking", read 2026-12-01)."""

_SHARES = {"minimal": 0.02, "low": 0.1, "medium": 0.3, "high": 0.6, "xhigh": 0.9}
"""Part of the model's largest output that a level may spend on reasoning, as in the AI SDK."""

_EFFORTS = {"minimal": ("low",), "low": ("low",), "medium": ("medium",), "high": ("high",), "xhigh": ("xhigh", "max")}
"""Levels of the API for ours, the first that the model takes counts."""


def thinking_of(
    params: CallOptions, options: JsonObject, traits: ModelTraits, warnings: list[CallWarning]
) -> dict[str, JsonValue]:
    """The members ``thinking`` and ``effort`` for a call; the provider options win over ``reasoning=``."""
    wanted = params.reasoning
    found: dict[str, JsonValue] = {}
    if object_in(options, "thinking"):
        found["thinking"] = _given(object_in(options, "thinking"), warnings)
    elif wanted not in (None, "provider-default"):
        found |= _mapped(wanted, traits, warnings)
    if text_in(options, "effort"):
        found["effort"] = options["effort"]
    return found


def is_thinking(thinking: JsonValue) -> bool:
    """Whether that member turns reasoning on."""
    return isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")


def budget_of(thinking: JsonValue) -> int:
    """Tokens that may be spent on reasoning beside the answer; 0 where the model measures itself."""
    return (count_in(thinking, "budget_tokens") or 0) if isinstance(thinking, dict) else 0


def _given(thinking: JsonObject, warnings: list[CallWarning]) -> dict[str, JsonValue]:
    given = {snake(key): found for key, found in thinking.items()}
    if given.get("type") == "enabled" and count_in(given, "budget_tokens") is None:
        given["budget_tokens"] = SMALLEST_BUDGET
        details = f"thinking needs a budget: {SMALLEST_BUDGET} tokens are taken"
        warnings.append(CompatibilityWarning(feature="thinking", details=details))
    return given


def _mapped(wanted: str | None, traits: ModelTraits, warnings: list[CallWarning]) -> dict[str, JsonValue]:
    if traits.thinking == "none":
        if wanted != "none":
            warnings.append(UnsupportedWarning(feature="reasoning", details="the model does not reason"))
        return {}
    if wanted == "none":
        if traits.at_rest != "always":
            return {"thinking": {"type": traits.off_switch}} if traits.at_rest == "on" else {}
        details = "the model always reasons: it is asked for as little as possible"
        warnings.append(CompatibilityWarning(feature="reasoning", details=details))
        return {"effort": traits.efforts[0]}
    level = wanted or ""
    if traits.thinking == "budget":
        budget = max(SMALLEST_BUDGET, int(traits.max_output_tokens * _SHARES[level]))
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    effort = next(effort for effort in _EFFORTS[level] if effort in traits.efforts)
    if effort not in (level, "max"):
        warnings.append(CompatibilityWarning(feature="reasoning", details=f"{level!r} is sent as {effort!r}"))
    return {"thinking": {"type": "adaptive"}, "effort": effort}
