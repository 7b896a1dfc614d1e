from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest

from onion.loop.json_schema import closed, hoist, inlined

if TYPE_CHECKING:
    from onion.spec.base import JSONSchema, JsonValue

NODE: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "child": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
    "required": ["name"],
}
ROOT: dict[str, JsonValue] = {"$defs": {"Node": NODE}, "$ref": "#/$defs/Node"}


def test_a_reference_at_the_root_is_written_out_and_the_definitions_stay() -> None:
    schema = inlined(ROOT)

    assert schema == {**NODE, "$defs": {"Node": NODE}}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object"}, id="no reference"),
        pytest.param({"$ref": "#/properties/a", "$defs": {}}, id="not to a definition"),
        pytest.param({"$ref": "#/$defs/Node"}, id="no definitions"),
        pytest.param({"$ref": "#/$defs/A/properties/b", "$defs": {"A": {}}}, id="deeper than a definition"),
    ],
)
def test_a_root_that_is_no_reference_to_a_definition_stays_as_it_is(schema: JSONSchema) -> None:
    assert inlined(schema) == schema


def test_every_object_that_lists_its_properties_is_closed_wherever_it_lies() -> None:
    point: dict[str, JsonValue] = {"type": "object", "properties": {"x": {"type": "number"}}}
    schema: dict[str, JsonValue] = {
        "$defs": {"Point": point},
        "type": "object",
        "properties": {"a": {"anyOf": [point, {"type": "null"}]}, "b": {"type": "array", "items": point}},
    }
    before = copy.deepcopy(schema)

    shut: JsonValue = {**point, "additionalProperties": False}
    assert closed(schema) == {
        "$defs": {"Point": shut},
        "type": "object",
        "properties": {"a": {"anyOf": [shut, {"type": "null"}]}, "b": {"type": "array", "items": shut}},
        "additionalProperties": False,
    }
    assert schema == before


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "properties": {}, "additionalProperties": True}, id="that allows more"),
        pytest.param({"type": "object", "additionalProperties": {"type": "string"}}, id="that is a mapping"),
        pytest.param({"const": {"type": "object", "properties": {}}}, id="that is data"),
        pytest.param({"dependencies": {"a": ["b"]}}, id="with names instead of schemas"),
        pytest.param({"properties": True}, id="that is broken"),
    ],
)
def test_a_schema_is_not_closed(schema: JSONSchema) -> None:
    assert closed(schema) == schema


@pytest.mark.parametrize(
    "element",
    [
        pytest.param(ROOT, id="a reference at its root"),
        pytest.param({**NODE, "$defs": {"Node": NODE}}, id="references inside"),
        pytest.param(
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "child": {"$ref": "#"}},
                "required": ["name"],
            },
            id="a reference to itself",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "child": {"anyOf": [{"$ref": "#/properties/name"}, True]}},
                "required": ["name"],
            },
            id="a reference to a property",
        ),
        pytest.param(
            {"definitions": {"Node": {"type": "object", "required": ["name"]}}, "$ref": "#/definitions/Node"},
            id="definitions of draft 7",
        ),
        pytest.param(
            {
                "$id": "https://example.test/node",
                "$defs": {"Node": {"type": "object", "required": ["name"]}},
                "$ref": "#/$defs/Node",
            },
            id="a document of its own",
        ),
    ],
)
def test_a_hoisted_schema_means_the_same_inside_of_a_larger_one(element: dict[str, JsonValue]) -> None:
    before = copy.deepcopy(element)

    part, definitions = hoist(element, "#/properties/elements/items")
    whole: dict[str, JsonValue] = {
        **definitions,
        "type": "object",
        "properties": {"elements": {"type": "array", "items": part}},
    }

    validator = jsonschema_rs.validator_for(dict(whole))
    for good in ({"name": "a"}, {"name": "a", "child": {"name": "b"}}):
        assert validator.is_valid({"elements": [good]})
    assert not validator.is_valid({"elements": [{"child": None}]})
    assert element == before


def test_data_that_looks_like_a_reference_is_not_rewritten() -> None:
    schema: dict[str, JsonValue] = {"enum": [{"$ref": "#"}], "properties": {"$ref": {"type": "string"}}}

    part, definitions = hoist(schema, "#/items")

    assert isinstance(part["enum"], list)
    assert part == schema
    assert definitions == {}
    assert isinstance(part, Mapping)
