"""The settings of a call: limits, sampling, reasoning. What the model would refuse becomes a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers.anthropic.thinking import budget_of, is_thinking, thinking_of
from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers.anthropic.traits import ModelTraits
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions

_MISSING = ("presence_penalty", "frequency_penalty", "seed")
_SAMPLING = ("temperature", "top_p", "top_k")


def settings_of(
    params: CallOptions, options: JsonObject, traits: ModelTraits, warnings: list[CallWarning]
) -> dict[str, JsonValue]:
    """The members of the body that say how the model is to answer."""
    given = {"presence_penalty": params.presence_penalty, "frequency_penalty": params.frequency_penalty}
    warnings += [
        UnsupportedWarning(feature=name) for name in _MISSING if {**given, "seed": params.seed}[name] is not None
    ]
    told = thinking_of(params, options, traits, warnings)
    effort, thinking = told.get("effort"), told.get("thinking")
    body: dict[str, JsonValue] = {
        "max_tokens": _max_tokens(params, budget_of(thinking), traits, warnings),
        "stop_sequences": list(params.stop_sequences) if params.stop_sequences else None,
        "thinking": thinking,
        "output_config": {"effort": effort} if effort else None,
    }
    return body | _sampling(params, traits, warnings, is_thinking=is_thinking(thinking))


def _max_tokens(params: CallOptions, budget: int, traits: ModelTraits, warnings: list[CallWarning]) -> int:
    """The limit, which for the API includes what is spent on reasoning."""
    most = traits.max_output_tokens
    if params.max_output_tokens is None:
        return most
    wanted = params.max_output_tokens + budget
    if not traits.prefix or wanted <= most:  # nobody knows what a model takes that is not in the table
        return wanted
    details = f"{wanted} tokens, reasoning included, are more than the model gives: {most} are asked for"
    warnings.append(CompatibilityWarning(feature="max_output_tokens", details=details))
    return most


def _sampling(
    params: CallOptions, traits: ModelTraits, warnings: list[CallWarning], *, is_thinking: bool
) -> dict[str, JsonValue]:
    given = {"temperature": params.temperature, "top_p": params.top_p, "top_k": params.top_k}
    found: dict[str, JsonValue] = {}
    for name in _SAMPLING:
        setting = given[name]
        if setting is None:
            continue
        if not traits.takes_sampling or is_thinking:
            details = "the model refuses it" + (" while it reasons" if traits.takes_sampling else "")
            warnings.append(UnsupportedWarning(feature=name, details=details))
        elif name == "top_p" and "temperature" in found:
            details = "the model takes temperature or top_p: temperature counts"
            warnings.append(UnsupportedWarning(feature=name, details=details))
        elif name == "temperature" and not 0 <= setting <= 1:
            found[name] = min(max(setting, 0), 1)
            details = f"{setting} is outside of 0 to 1: {found[name]} is sent"
            warnings.append(CompatibilityWarning(feature=name, details=details))
        else:
            found[name] = setting
    return found
