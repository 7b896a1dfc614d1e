"""Changes to JSON Schemas that keep their meaning: every function gives a new schema and leaves its argument alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from onion.spec.base import JSONSchema, JsonValue

_Schema: TypeAlias = "dict[str, JsonValue]"

_DEFINITIONS = ("$defs", "definitions")
_HOLD_ONE_OR_MORE = frozenset(
    {
        "additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "else", "if", "items", "not", "oneOf",
        "prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords whose value is a schema or a list of them (JSON Schema 2020-12, core §10 and §11; draft 7)."""
_HOLD_NAMED = frozenset({*_DEFINITIONS, "dependencies", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value maps names to schemas."""


def inlined(schema: JSONSchema) -> _Schema:
    """*schema* with what its root refers to written out: providers want to see an object at the root."""
    prefix = "#/$defs/"
    reference, definitions = schema.get("$ref"), schema.get("$defs")
    if not isinstance(reference, str) or not reference.startswith(prefix) or not isinstance(definitions, Mapping):
        return dict(schema)
    target = definitions.get(reference.removeprefix(prefix))
    if not isinstance(target, Mapping):  # deeper than one step: valid, and never what pydantic writes
        return dict(schema)
    return {**target, **{key: member for key, member in schema.items() if key != "$ref"}}


def closed(schema: JSONSchema) -> _Schema:
    """*schema* in which every object that lists its properties, and says nothing of others, allows no others."""

    def close(found: _Schema) -> _Schema:
        if found.get("type") == "object" and "properties" in found and "additionalProperties" not in found:
            found["additionalProperties"] = False
        return found

    return _rebuilt(schema, close)


def hoist(schema: JSONSchema, place: str) -> tuple[_Schema, _Schema]:
    """*schema* as a part of a larger one, and the definitions that the root of that one has to hold.

    A JSON pointer in a ``$ref`` starts at the root of the document (RFC 6901; JSON Schema 2020-12, core §8.2.3.1), so a
    schema that moves must have its definitions moved to the new root, and its other references rewritten.

    Args:
        schema: Left as it is.
        place: JSON pointer to where it goes in the larger schema: ``#/properties/elements/items``.

    Returns:
        The part, and ``{"$defs": {...}}`` or an empty mapping.
    """
    if "$id" in schema:  # its references start at itself, wherever it lies
        return dict(schema), {}
    kept = tuple(f"#/{key}/" for key in _DEFINITIONS)

    def move(found: _Schema) -> _Schema:
        reference = found.get("$ref")
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            found["$ref"] = reference if reference.startswith(kept) else place + reference[1:]
        return found

    moved = _rebuilt(schema, move)
    definitions: _Schema = {key: moved.pop(key) for key in _DEFINITIONS if key in moved}
    return moved, definitions


def _rebuilt(schema: JSONSchema, change: Callable[[_Schema], _Schema]) -> _Schema:
    """A copy of *schema* with *change* made to it and to every schema inside, the inner ones first."""

    def rebuild(found: JsonValue) -> JsonValue:
        if isinstance(found, Mapping):
            return _rebuilt(found, change)
        if isinstance(found, list | tuple):
            return [rebuild(item) for item in found]
        return found

    copied: _Schema = {}
    for key, member in schema.items():
        if key in _HOLD_NAMED and isinstance(member, Mapping):
            copied[key] = {name: rebuild(inner) for name, inner in member.items()}
        else:
            copied[key] = rebuild(member) if key in _HOLD_ONE_OR_MORE else member
    return change(copied)
