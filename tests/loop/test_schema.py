from __future__ import annotations

import copy
import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.loop.schema import MAX_PROBLEM_LENGTH, MAX_PROBLEMS, Schema, path_text, schema_of

if TYPE_CHECKING:
    from onion.loop.schema import SchemaSource
    from onion.spec.base import JsonValue


class City(BaseModel):
    name: str
    founded: dt.date | None = None


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    day: dt.date


@dataclass
class Point:
    x: float
    y: float = 0.0


class Movie(TypedDict):
    title: str


class Node(BaseModel):
    name: str
    child: Node | None = None


class Nothing:
    pass


class Odd(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    anything: object = Nothing()


COLOUR: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"tone": {"enum": ["red", "blue"]}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["tone"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("source", "json", "expected"),
    [
        pytest.param(
            City,
            {"name": "Rome", "founded": "2026-01-31"},
            City(name="Rome", founded=dt.date(2026, 1, 31)),
            id="pydantic model",
        ),
        pytest.param(Strict, {"day": "2026-01-31"}, Strict(day=dt.date(2026, 1, 31)), id="strict model"),
        pytest.param(Point, {"x": 1}, Point(1.0), id="dataclass"),
        pytest.param(Movie, {"title": "M"}, {"title": "M"}, id="TypedDict"),
        pytest.param(list[int], [1, 2], [1, 2], id="list"),
        pytest.param(int | None, None, None, id="union"),
        pytest.param(Annotated[int, Field(ge=1)], 1, 1, id="annotated type"),
        pytest.param(Annotated[int, {"not": "hashable"}], 1, 1, id="type that cannot be hashed"),
        pytest.param(COLOUR, {"tone": "red"}, {"tone": "red"}, id="JSON Schema"),
        pytest.param({}, [1, {"any": "thing"}], [1, {"any": "thing"}], id="JSON Schema that allows all"),
    ],
)
def test_a_schema_turns_json_into_a_value(source: SchemaSource, json: JsonValue, expected: object) -> None:
    schema = schema_of(source, parameter="input_schema")

    assert schema.validate(json) == expected


@pytest.mark.parametrize(
    ("source", "json", "message"),
    [
        pytest.param(City, {}, "name: Field required", id="missing field"),
        pytest.param(list[Movie], [{"title": "a"}, {"title": 1}], r"\[1\]\.title: .*string", id="deep in a list"),
        pytest.param(int, "x", "value: .*integer", id="the value itself"),
        pytest.param(COLOUR, {"tone": "red", "tags": ["a", 1]}, r"tags\[1\]: .*string", id="deep in JSON Schema"),
        pytest.param(COLOUR, {}, "value: .*tone", id="missing in JSON Schema"),
        pytest.param(City, {"name": object()}, "not JSON", id="not JSON, for a type"),
        pytest.param({}, object(), "not JSON", id="not JSON, for a JSON Schema"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_path(
    source: SchemaSource, json: JsonValue, message: str
) -> None:
    schema = schema_of(source, parameter="input_schema")

    with pytest.raises(TypeValidationError, match=message) as caught:
        schema.validate(json)
    assert caught.value.value is json


def test_python_values_are_checked_as_they_are() -> None:
    day = dt.date(2026, 1, 31)

    assert schema_of(Strict, parameter="context").validate_python(Strict(day=day)) == Strict(day=day)
    with pytest.raises(TypeValidationError, match="day"):
        schema_of(Strict, parameter="context").validate_python({"day": "2026-01-31"})
    assert schema_of(COLOUR, parameter="context").validate_python({"tone": "red"}) == {"tone": "red"}


def test_an_error_names_the_first_problems_and_counts_the_rest() -> None:
    schema = schema_of(list[int], parameter="input_schema")

    with pytest.raises(TypeValidationError) as caught:
        schema.validate(["x"] * (MAX_PROBLEMS + 2))

    assert str(caught.value).count("integer, unable") == MAX_PROBLEMS
    assert str(caught.value).endswith("; and 2 more")


def test_an_error_does_not_repeat_a_large_value() -> None:
    schema = schema_of({"type": "integer"}, parameter="input_schema")

    with pytest.raises(TypeValidationError) as caught:
        schema.validate("x" * 10_000)

    assert len(str(caught.value)) <= MAX_PROBLEM_LENGTH + len("value: ")


def test_the_json_schema_of_a_type_has_an_object_at_its_root_and_resolves_inside_of_itself() -> None:
    schema = schema_of(Node, parameter="input_schema")

    assert schema.json_schema["type"] == "object"
    assert schema_of(schema.json_schema, parameter="input_schema").validate({"name": "a", "child": {"name": "b"}})
    assert "title" not in str(schema.json_schema["properties"])


def test_a_default_that_json_cannot_carry_is_left_out() -> None:
    schema = schema_of(Odd, parameter="input_schema")

    assert schema.json_schema["properties"] == {"anything": {}}


def test_a_json_schema_is_copied_and_sent_as_it_is() -> None:
    given = copy.deepcopy(COLOUR)

    schema = schema_of(given, parameter="input_schema")
    given["type"] = "array"

    assert schema.json_schema == COLOUR


def test_a_type_is_looked_at_once() -> None:
    assert schema_of(City, parameter="input_schema") is schema_of(City, parameter="input_schema")


def test_a_schema_is_its_own_schema() -> None:
    schema = schema_of(City, parameter="input_schema")

    assert schema_of(schema, parameter="output") is schema
    assert isinstance(schema, Schema)


def test_a_list_of_item_schemas_is_read_as_draft_7() -> None:
    schema = schema_of({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, parameter="input_schema")

    assert schema.validate(["a", 1]) == ["a", 1]
    with pytest.raises(TypeValidationError, match=r"\[1\]"):
        schema.validate(["a", "b"])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param(Nothing, "cannot be a schema: .*Nothing'>; use a pydantic model", id="a class without a shape"),
        pytest.param(Nothing, "a TypedDict of typing_extensions or a JSON Schema", id="what would be one"),
        pytest.param("Unknown", "cannot be a schema", id="the name of no type"),
        pytest.param({"type": "no such type"}, "no usable JSON Schema", id="a bad JSON Schema"),
        pytest.param(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "items": [True]},
            "no usable JSON Schema",
            id="a JSON Schema that is not of its draft",
        ),
        pytest.param({"$ref": "https://example.test/other"}, "another document", id="a reference to elsewhere"),
        pytest.param({"const": object()}, "no usable JSON Schema", id="a JSON Schema that is not JSON"),
    ],
)
def test_what_cannot_be_a_schema_is_refused(source: SchemaSource, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        schema_of(source, parameter="input_schema", where="tool 'find'")

    assert str(caught.value).startswith("input_schema of tool 'find' ")
    assert caught.value.parameter == "input_schema"


def test_an_exception_of_a_users_own_validator_is_not_taken_for_a_bad_value() -> None:
    class Fragile(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def look_up(cls, name: str) -> str:
            return {"known": "name"}[name]

    with pytest.raises(KeyError):
        schema_of(Fragile, parameter="input_schema").validate({"name": "unknown"})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param([], "value", id="the value itself"),
        pytest.param(["a", 0, "b"], "a[0].b", id="members and items"),
        pytest.param([1, 2], "[1][2]", id="items only"),
    ],
)
def test_a_path_is_written_as_python_would(path: list[str | int], text: str) -> None:
    assert path_text(path) == text
