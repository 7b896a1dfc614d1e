"""Schemas in the subset of JSON Schema that the Gemini API takes.

Gemini API, "Structured output", section "JSON schema support", and the reference of ``responseJsonSchema``, read
2026-12-01. What the API does not take is told to the model in words; the caller's own validation still holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import dump_json, text_in

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

_KEPT = frozenset(
    {
        "$anchor",
        "$id",
        "$ref",
        "description",
        "enum",
        "format",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "propertyOrdering",
        "required",
        "title",
        "type",
    }
)
"""Members that are taken as they are."""
_SCHEMAS = {"additionalProperties": "", "items": "", "anyOf": "", "oneOf": "anyOf", "prefixItems": "", "allOf": ""}
"""Members that hold schemas, and what they are called where the API has another name."""
_BY_NAME = {"$defs": "$defs", "definitions": "$defs", "properties": "properties"}
"""Members that hold schemas by name."""
_SILENT = frozenset({"$comment", "$schema", "default", "examples"})
"""Members that bind nobody."""
_OLD_PLACE, _PLACE = "#/definitions/", "#/$defs/"


def fit_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """*schema* without what the API refuses."""
    fitted: dict[str, JsonValue] = {}
    told: list[str] = []
    for key, member in schema.items():
        if key in _BY_NAME and isinstance(member, Mapping):
            fitted[_BY_NAME[key]] = {name: _fit(inner) for name, inner in member.items()}
        elif key == "allOf" and isinstance(member, list | tuple) and len(member) == 1:
            fitted |= {name: found for name, found in _members(_fit(member[0])).items() if name not in fitted}
        elif key in _SCHEMAS and key != "allOf":
            fitted[_SCHEMAS[key] or key] = _fit(member)
        elif key == "const":
            fitted["enum"] = [member]
        elif key == "$ref":
            fitted[key] = str(member).replace(_OLD_PLACE, _PLACE, 1)
        elif key in _KEPT:
            fitted[key] = member
        elif key not in _SILENT:
            told.append(f"{key}: {dump_json(member).decode()}")
    if told:
        fitted["description"] = " ".join(filter(None, (text_in(fitted, "description"), f"({', '.join(told)})")))
    return fitted


def _fit(member: JsonValue) -> JsonValue:
    if isinstance(member, Mapping):
        return fit_schema(member)
    return [_fit(item) for item in member] if isinstance(member, list | tuple) else member


def _members(member: JsonValue) -> JsonObject:
    return member if isinstance(member, dict) else {}
