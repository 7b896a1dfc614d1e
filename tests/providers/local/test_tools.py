from collections.abc import Sequence

import pytest

from onion.providers.local.tools import call_schema, guided, list_tools, write_call
from onion.spec.base import JsonValue, is_array, is_object
from onion.spec.call import FunctionTool, ToolInputExample
from tests.providers.local.engines import ADD


def tool(**properties: JsonValue) -> FunctionTool:
    return FunctionTool(name="find", input_schema={"type": "object", "properties": properties})


def definitions(schema: JsonValue) -> dict[str, object]:
    assert is_object(schema)
    found = schema["$defs"]
    assert is_object(found)
    return dict(found)


def test_tools_are_listed_as_signatures_with_an_example_of_a_call() -> None:
    listed = list_tools([ADD, FunctionTool(name="now", input_schema={"type": "object"})])

    assert listed.startswith(
        "You have these tools:\n- add(a: number, b: number) - Add two numbers.\n- now()\n\nTo use a tool,"
    )
    assert '{"name": "find_books", "arguments": {"author": "Jane Austen", "year": 1813}}' in listed


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "string"}, "find(it: string)", id="plain"),
        pytest.param({"type": "string", "description": "a city"}, "find(it: string (a city))", id="described"),
        pytest.param({"enum": ["on", "off"]}, 'find(it: "on" or "off")', id="choice"),
        pytest.param({"type": "array"}, 'find(it: {"type":"array"})', id="nested"),
        pytest.param({}, "find(it: {})", id="empty"),
        pytest.param(True, "find(it: any)", id="anything"),
    ],
)
def test_each_kind_of_argument_has_its_short_form(schema: JsonValue, expected: str) -> None:
    assert f"- {expected}\n" in list_tools([tool(it=schema)])


def test_examples_of_inputs_are_shown() -> None:
    shown = FunctionTool(name="now", input_schema={}, input_examples=(ToolInputExample(input={"zone": "UTC"}),))

    assert '- now()\n  example: {"zone":"UTC"}\n' in list_tools([shown])


def test_a_call_is_written_as_the_model_writes_it() -> None:
    assert write_call("add", {"a": 1}) == '<tool_call>\n{"name":"add","arguments":{"a":1}}\n</tool_call>'


def test_a_call_is_of_one_of_the_tools_with_its_own_arguments() -> None:
    schema = call_schema([ADD, tool(it={"type": "string"})])

    calls = schema["anyOf"]
    assert is_array(calls)
    assert [call["properties"] for call in calls if is_object(call)] == [
        {"name": {"const": "add"}, "arguments": {"$ref": "#/$defs/tool0"}},
        {"name": {"const": "find"}, "arguments": {"$ref": "#/$defs/tool1"}},
    ]
    assert definitions(schema)["tool1"] == {
        "type": "object",
        "properties": {"it": {"type": "string"}},
        "additionalProperties": False,
    }


def test_references_inside_of_a_schema_still_find_their_target() -> None:
    nodes: Sequence[JsonValue] = [{"$ref": "#/$defs/node"}, {"$ref": "#"}, {"$ref": "https://schema.test/x"}]
    schema = call_schema([FunctionTool(name="walk", input_schema={"anyOf": nodes, "$defs": {"node": True}})])

    assert definitions(schema)["tool0"] == {
        "anyOf": [{"$ref": "#/$defs/tool0/$defs/node"}, {"$ref": "#/$defs/tool0"}, {"$ref": "https://schema.test/x"}],
        "$defs": {"node": True},
    }


@pytest.mark.parametrize("allowed", [True, {"type": "string"}])
def test_arguments_that_a_schema_allows_on_purpose_stay_allowed(allowed: JsonValue) -> None:
    schema: dict[str, JsonValue] = {"properties": {}, "additionalProperties": allowed}

    assert definitions(call_schema([FunctionTool(name="f", input_schema=schema)]))["tool0"] == schema


def test_the_engine_is_told_not_to_drop_what_it_only_half_understands() -> None:
    guidance = guided({"type": "string"})["x-guidance"]

    assert is_object(guidance)
    assert guidance["lenient"] is True
