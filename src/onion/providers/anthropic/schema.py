"""Schemas in the subset that Anthropic's structured outputs and strict tools take.

Anthropic, "Structured outputs", section "JSON Schema limitations", read 2026-12-01: objects are closed, and bounds of
numbers, texts and lists are refused. They are told to the model in words; the caller's own validation still holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import dump_json, text_in

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

_REFUSED = frozenset(
    {
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "uniqueItems",
    }
)
_OF_SCHEMAS = frozenset({"$defs", "definitions", "properties"})
"""Members that hold schemas by name."""
_PLAIN = frozenset({"const", "default", "enum", "examples", "required"})
"""Members that hold no schemas, whatever they look like."""
_MOST_MIN_ITEMS = 1


def fit_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """*schema* without what the API refuses."""
    fitted: dict[str, JsonValue] = {}
    told: list[str] = []
    for key, member in schema.items():
        if key in _REFUSED or (key == "minItems" and member not in (0, _MOST_MIN_ITEMS)):
            told.append(f"{key}: {dump_json(member).decode()}")
        elif key in _OF_SCHEMAS and isinstance(member, Mapping):
            fitted[key] = {name: _fit(inner) for name, inner in member.items()}
        else:
            fitted["anyOf" if key == "oneOf" else key] = member if key in _PLAIN else _fit(member)
    if schema.get("type") == "object" or "properties" in schema:
        fitted["additionalProperties"] = False
    if told:
        fitted["description"] = " ".join(filter(None, (text_in(schema, "description"), f"({', '.join(told)})")))
    return fitted


def _fit(member: JsonValue) -> JsonValue:
    if isinstance(member, Mapping):
        return fit_schema(member)
    return [_fit(item) for item in member] if isinstance(member, list | tuple) else member
