"""How hard a model is to reason: one word of ours, and two ways in which models are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers.google.traits import ModelTraits
    from onion.spec.base import JsonValue
    from onion.spec.call import ReasoningEffort

_OUTPUT = 65_536
"""The largest output of the models that take a budget."""

_SHARES = {"minimal": 0.02, "low": 0.1, "medium": 0.3, "high": 0.6, "xhigh": 0.9}
"""Part of it that a level may spend on reasoning, as in the AI SDK."""

_ORDER = ("minimal", "low", "medium", "high", "xhigh")


def thinking_of(
    wanted: ReasoningEffort | None, traits: ModelTraits, warnings: list[CallWarning]
) -> dict[str, JsonValue]:
    """The thinking config for *wanted*; empty where the model is to decide."""
    if wanted is None or wanted == "provider-default":
        return {}
    if traits.thinking == "none":
        if wanted != "none":
            warnings.append(UnsupportedWarning(feature="reasoning", details="the model cannot be told to reason"))
        return {}
    if wanted == "none":
        return _least(traits, warnings)
    told: dict[str, JsonValue] = {"includeThoughts": True}
    if traits.thinking == "budget":
        smallest, largest = traits.budget
        return told | {"thinkingBudget": min(max(int(_OUTPUT * _SHARES[wanted]), smallest), largest)}
    level = min(traits.levels, key=lambda name: abs(_ORDER.index(name) - _ORDER.index(wanted)))
    if level != wanted:
        warnings.append(CompatibilityWarning(feature="reasoning", details=f"{wanted!r} is sent as {level!r}"))
    return told | {"thinkingLevel": level}


def _least(traits: ModelTraits, warnings: list[CallWarning]) -> dict[str, JsonValue]:
    if traits.can_rest:
        return {"thinkingBudget": 0}
    details = "the model always reasons: it is asked for as little as possible"
    warnings.append(CompatibilityWarning(feature="reasoning", details=details))
    return {"thinkingLevel": traits.levels[0]} if traits.thinking == "level" else {"thinkingBudget": traits.budget[0]}
