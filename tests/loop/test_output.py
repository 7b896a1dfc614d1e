"""What is asked of the model, and how whole answers are read."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import jsonschema_rs
import pytest
from pydantic import AfterValidator, BaseModel

from onion.errors import (
    InvalidArgumentError,
    JSONParseError,
    NoObjectGeneratedError,
    NoOutputGeneratedError,
    TypeValidationError,
)
from onion.loop.output import DEFAULT_OUTPUT, Output, to_output
from onion.spec import JsonFormat, ResponseInfo, TextFormat
from onion.spec.step import LanguageModelUsage, ModelInfo, StepResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec import JsonObject, JsonValue, UnifiedFinishReason

PERSON: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
USAGE = LanguageModelUsage(input_tokens=3, output_tokens=5, total_tokens=8)
RESPONSE = ResponseInfo(id="r-1")


@dataclass
class Person:
    name: str
    age: int


class Node(BaseModel):
    name: str
    child: Node | None = None


def finish(
    output: Output[object], text: str, finish_reason: UnifiedFinishReason = "stop", steps: Sequence[StepResult] = ()
) -> object:
    return output.reader().finish(text=text, finish_reason=finish_reason, usage=USAGE, response=RESPONSE, steps=steps)


def schema_of(output: Output[object]) -> dict[str, JsonValue]:
    asked = output.response_format
    assert isinstance(asked, JsonFormat)
    assert asked.schema is not None
    return dict(asked.schema)


def test_text_asks_for_text_and_gives_it_back() -> None:
    output = Output.text()

    assert output.response_format == TextFormat()
    assert finish(output, "hello") == "hello"


def test_an_object_of_a_json_schema_is_the_json_itself() -> None:
    output = Output.object(PERSON, name="person", description="A person.")

    assert output.response_format == JsonFormat(schema=PERSON, name="person", description="A person.")
    assert finish(output, '{"name": "Ada", "age": 36}') == {"name": "Ada", "age": 36}


def test_an_object_of_a_python_type_is_a_value_of_that_type() -> None:
    output = Output.object(Person)

    assert finish(output, '{"name": "Ada", "age": 36}') == Person("Ada", 36)
    assert schema_of(output)["required"] == ["name", "age"]


def test_only_an_array_has_elements() -> None:
    assert Output.array(int).has_elements
    assert not Output.json().has_elements


def test_an_array_is_asked_for_in_an_object_and_given_as_a_list() -> None:
    output = Output.array(Person, min_items=1, max_items=2)
    schema = schema_of(output)

    assert schema["required"] == ["elements"]
    assert finish(output, '{"elements": [{"name": "Ada", "age": 36}]}') == [Person("Ada", 36)]
    for wrong in ('{"elements": []}', '{"elements": [1, 2, 3]}', '{"elements": {}}', "[]", '{"elements": [{}]}'):
        with pytest.raises(NoObjectGeneratedError) as caught:
            finish(output, wrong)
        assert isinstance(caught.value.__cause__, TypeValidationError)


def test_the_bounds_of_an_array_are_part_of_what_is_asked_for() -> None:
    schema = schema_of(Output.array(int, min_items=1, max_items=2))

    assert not jsonschema_rs.is_valid(schema, {"elements": []})
    assert jsonschema_rs.is_valid(schema, {"elements": [1, 2]})
    assert not jsonschema_rs.is_valid(schema, {"elements": [1, 2, 3]})


@pytest.mark.parametrize(("min_items", "max_items"), [(-1, None), (None, -1), (3, 2)])
def test_bounds_that_leave_no_room_are_refused(min_items: int | None, max_items: int | None) -> None:
    with pytest.raises(InvalidArgumentError, match="_items must"):
        Output.array(int, min_items=min_items, max_items=max_items)


def test_references_in_an_element_still_lead_somewhere_once_it_is_wrapped() -> None:
    element: dict[str, JsonObject | str] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "child": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                    "tag": {"$ref": "#/$defs/Tag"},
                },
                "required": ["name", "tag"],
            },
            "Tag": {"enum": ["a", "b"]},
        },
        "$ref": "#/$defs/Node",
    }
    before = copy.deepcopy(element)

    schema = schema_of(Output.array(element))

    leaf = {"name": "leaf", "tag": "b"}
    assert jsonschema_rs.is_valid(schema, {"elements": [{"name": "root", "tag": "a", "child": leaf}]})
    assert not jsonschema_rs.is_valid(schema, {"elements": [{"name": "root", "tag": "c"}]})
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert element == before


def test_a_recursive_python_type_can_be_an_element() -> None:
    output = Output.array(Node)

    elements = finish(output, '{"elements": [{"name": "a", "child": {"name": "b"}}]}')

    assert elements == [Node(name="a", child=Node(name="b"))]
    assert jsonschema_rs.is_valid(schema_of(output), {"elements": [{"name": "a", "child": {"name": "b"}}]})


def test_a_choice_is_one_of_its_options() -> None:
    output = Output.choice(["sunny", "rainy"])

    assert finish(output, '{"result": "rainy"}') == "rainy"
    assert jsonschema_rs.is_valid(schema_of(output), {"result": "sunny"})
    for wrong in ('{"result": "foggy"}', '"sunny"', '{"result": 1}'):
        with pytest.raises(NoObjectGeneratedError, match="shape"):
            finish(output, wrong)


@pytest.mark.parametrize("options", [[], ["a", "a"], "ab"])
def test_options_that_are_no_choice_are_refused(options: list[str] | str) -> None:
    with pytest.raises(InvalidArgumentError, match="options"):
        Output.choice(options)


def test_json_may_be_anything_and_null_is_something() -> None:
    output = Output.json(name="answer")

    assert output.response_format == JsonFormat(name="answer")
    assert finish(output, "[1, null]") == [1, None]
    assert finish(output, "null") is None


@pytest.mark.parametrize("text", ["", "{", '{"name": "Ada", age: 36}', "NaN", "[1] 2", "[" * 100_000, "1" * 5000])
def test_text_that_is_not_json_is_an_error_that_says_so(text: str) -> None:
    with pytest.raises(NoObjectGeneratedError, match="is not JSON") as caught:
        finish(Output.json(), text)

    cause = caught.value.__cause__
    assert isinstance(cause, JSONParseError)
    assert cause.text == text


def test_an_answer_that_was_cut_off_is_no_object_even_if_its_beginning_would_do() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["tags"],
    }
    step = StepResult(step_number=0, model=ModelInfo(provider="p", model_id="m"), content=(), finish_reason="length")

    with pytest.raises(NoObjectGeneratedError, match="cut off") as caught:
        finish(Output.object(schema), '{"tags": ["a", "b', "length", [step])

    error = caught.value
    assert (error.finish_reason, error.text, error.usage) == ("length", '{"tags": ["a", "b', USAGE)
    assert (error.response, error.steps) == (RESPONSE, (step,))


def test_an_answer_that_is_whole_in_spite_of_its_limit_is_taken() -> None:
    assert finish(Output.object(PERSON), '{"name": "Ada", "age": 1}', "length") == {"name": "Ada", "age": 1}


@pytest.mark.parametrize(
    ("finish_reason", "text"), [("tool-calls", ""), ("tool-calls", "{}"), ("length", ""), ("error", "")]
)
def test_a_run_that_ends_without_an_answer_has_no_output(finish_reason: UnifiedFinishReason, text: str) -> None:
    with pytest.raises(NoOutputGeneratedError, match="stop_when"):
        finish(Output.object(PERSON), text, finish_reason)


def test_without_output_the_text_is_the_output_whatever_it_is() -> None:
    output = to_output(None)

    assert output is DEFAULT_OUTPUT
    assert output.response_format is None
    assert finish(output, "", "tool-calls") == ""


def test_a_type_means_an_object_of_that_type_and_an_output_itself() -> None:
    choice = Output.choice(["a"])

    assert finish(to_output(Person), '{"name": "Ada", "age": 36}') == Person("Ada", 36)
    assert to_output(choice) is choice


def test_what_is_no_shape_of_values_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="output"):
        Output.object({"type": "no such type"})


def test_the_output_is_validated_once_and_given_back_as_the_same_object() -> None:
    calls: list[int] = []

    def add_one(n: int) -> int:
        calls.append(n)
        return n + 1

    class Counted(BaseModel):
        n: Annotated[int, AfterValidator(add_one)]

    reader = Output.object(Counted).reader()
    for delta in ("{", '"n"', ":", "4", "1", "}"):
        reader.feed("a", delta)

    first = reader.finish(text='{"n":41}', finish_reason="stop", usage=USAGE, response=RESPONSE, steps=())
    second = reader.finish(text='{"n":41}', finish_reason="stop", usage=USAGE, response=RESPONSE, steps=())

    assert first.n == 42
    assert second is first
    assert calls == [41]


def test_an_output_that_failed_fails_the_same_way_again() -> None:
    reader = Output.object(PERSON).reader()
    errors: list[NoObjectGeneratedError] = []

    for _ in range(2):
        with pytest.raises(NoObjectGeneratedError) as caught:
            reader.finish(text="{}", finish_reason="stop", usage=USAGE, response=RESPONSE, steps=())
        errors.append(caught.value)

    assert errors[0] is errors[1]
