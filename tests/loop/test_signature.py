from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import jsonschema_rs
import pytest
from pydantic import BaseModel, Field

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.loop.options import ToolOptions
from onion.loop.signature import read_signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec.base import JsonValue
    from tests.loop.test_schema import City


class Node(BaseModel):
    name: str
    child: Node | None = None


def forecast(
    city: str,
    days: Annotated[int, Field(ge=1, description="How far to look.")] = 3,
    unit: Literal["C", "F"] = "C",
) -> str:
    """Tell the weather.

    It may be wrong.

    Args:
        city: Where.
        days: Not used: the type says more.
    """
    return f"{city} {days} {unit}"


def test_a_signature_is_a_closed_object_with_descriptions_and_defaults() -> None:
    signature = read_signature(forecast, tool_name="forecast")

    assert signature.description == "Tell the weather.\n\nIt may be wrong."
    assert signature.options_parameter is None
    assert signature.schema.json_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "minimum": 1, "default": 3, "description": "How far to look."},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_validated_input_holds_the_arguments_that_were_given() -> None:
    schema = read_signature(forecast, tool_name="forecast").schema

    assert schema.validate({"city": "Rome"}) == {"city": "Rome"}
    assert schema.validate({"city": "Rome", "days": 5}) == {"city": "Rome", "days": 5}


@pytest.mark.parametrize(
    ("json", "message"),
    [
        pytest.param({}, "city: Field required", id="missing"),
        pytest.param({"city": "Rome", "days": 0}, "days: ", id="out of range"),
        pytest.param({"city": "Rome", "when": "now"}, "when: Extra inputs", id="not a parameter"),
    ],
)
def test_an_input_that_does_not_fit_is_refused_by_parameter(json: dict[str, str | int], message: str) -> None:
    with pytest.raises(TypeValidationError, match=message):
        read_signature(forecast, tool_name="forecast").schema.validate(json)


def test_parameters_may_be_called_what_a_pydantic_model_is_full_of() -> None:
    def store(json: str, copy: bool, schema: int, model_config: str, _hidden: str) -> None:  # noqa: FBT001
        """Store."""

    schema = read_signature(store, tool_name="store").schema
    arguments: dict[str, JsonValue] = {"json": "a", "copy": True, "schema": 1, "model_config": "b", "_hidden": "c"}

    assert schema.validate(arguments) == arguments


def test_references_in_a_signature_resolve_inside_of_its_schema() -> None:
    def grow(tree: Node) -> None:
        """Grow."""

    schema = read_signature(grow, tool_name="grow").schema

    assert jsonschema_rs.is_valid(dict(schema.json_schema), {"tree": {"name": "a", "child": {"name": "b"}}})
    assert schema.validate({"tree": {"name": "a"}}) == {"tree": Node(name="a")}


def bare(options: object) -> None:
    """Use them."""


bare.__annotations__["options"] = "ToolOptions"


def typed(options: ToolOptions[int]) -> None:
    """Use them."""


def optional(options: ToolOptions[int] | None = None) -> None:
    """Use them."""


def real(options: object) -> None:
    """Use them."""


real.__annotations__["options"] = ToolOptions[int] | None


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(bare, id="bare"),
        pytest.param(typed, id="with a type of context"),
        pytest.param(optional, id="optional"),
        pytest.param(real, id="not a text"),
    ],
)
def test_a_parameter_for_the_options_is_no_part_of_the_schema(function: Callable[..., object]) -> None:
    signature = read_signature(function, tool_name="use")

    assert signature.options_parameter == "options"
    assert signature.schema.json_schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_bound_arguments_of_a_partial_are_defaults() -> None:
    signature = read_signature(functools.partial(forecast, days=7), tool_name="forecast")

    assert "'default': 7" in str(signature.schema.json_schema["properties"])
    assert signature.description == "Tell the weather.\n\nIt may be wrong."


def any_number(*values: int) -> None:
    """Fail."""


def any_name(**values: int) -> None:
    """Fail."""


def no_name(value: int, /) -> None:
    """Fail."""


def no_type(value: object) -> None:
    """Fail."""


del no_type.__annotations__["value"]


def no_shape(good: int, value: functools.partial[int]) -> None:
    """Fail."""


def no_json(good: int, value: Callable[[], None]) -> None:
    """Fail."""


def not_there(value: Sequence[City]) -> None:
    """Fail: both types are imported for type checkers only."""


def field_default(value: int = Field(description="how many")) -> None:
    """Fail."""


@pytest.mark.parametrize(
    ("function", "parameter", "message"),
    [
        pytest.param(any_number, "values", "take a list instead", id="any number of arguments"),
        pytest.param(any_name, "values", "name each of them, or take a dict", id="arguments of any name"),
        pytest.param(no_name, "value", "remove the / behind it", id="positional only"),
        pytest.param(no_type, "value", "has no type: annotate it", id="not annotated"),
        pytest.param(no_shape, "value", r"cannot be a schema: .*partial", id="a type without a shape"),
        pytest.param(no_json, "value", "cannot be a schema: ", id="a type that JSON cannot carry"),
        pytest.param(not_there, "value", "cannot be resolved .* at module level", id="a type that is not imported"),
        pytest.param(field_default, "value", r"write Annotated\[..., Field\(...\)\]", id="a Field for its default"),
    ],
)
def test_a_parameter_that_cannot_be_part_of_a_schema_is_refused_by_name(
    function: Callable[..., object], parameter: str, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        read_signature(function, tool_name="broken")

    assert caught.value.parameter == parameter
    assert "tool 'broken'" in str(caught.value)
    assert f"parameter '{parameter}'" in str(caught.value)


def test_what_has_no_signature_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"tool 'broken': .* has no signature to read: give an input_schema"):
        read_signature(dict[str, int], tool_name="broken")
