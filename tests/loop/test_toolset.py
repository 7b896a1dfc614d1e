from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import to_json

from onion.errors import (
    InvalidArgumentError,
    InvalidToolInputError,
    JSONParseError,
    TypeValidationError,
)
from onion.loop.tools import Tool, ToolOptions, tool
from onion.loop.toolset import (
    ParsedInput,
    Tools,
    active,
    definitions,
    needs_approval,
    no_such_tool,
    parse_input,
    parse_json,
    tool_set,
    validate_context,
    validate_input,
)
from onion.spec.call import ProviderTool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onion.spec.base import JsonValue

OPTIONS: ToolOptions[object] = ToolOptions(tool_call_id="c1", context=None)


class Booking(BaseModel):
    seats: int


def named(name: str) -> Tool:
    return tool(name=name, input_schema={"type": "object"})


book = tool(name="book", input_schema=Booking)
MANY = tool_set([named(name) for name in ("mid", "alpha", "zeta", "Beta", "_x")])


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        pytest.param(None, [], id="none"),
        pytest.param([], [], id="an empty list"),
        pytest.param([named("b"), named("a")], ["b", "a"], id="a list"),
        pytest.param({"b": named("x"), "a": named(""), "c": named("c")}, ["b", "a", "c"], id="a mapping"),
    ],
)
def test_tools_are_found_by_name_in_their_order(tools: Tools | None, names: list[str]) -> None:
    found = tool_set(tools)

    assert [(key, tool.name) for key, tool in found.items()] == [(name, name) for name in names]


def plain(x: int) -> int:
    return x


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        pytest.param([named("a"), named("b"), named("a")], r"tools\[2\]: two tools are named 'a'", id="one name twice"),
        pytest.param([named("")], r"tools\[0\] has no name", id="no name"),
        pytest.param({"two words": named("a")}, "'two words' cannot be the name", id="a bad name"),
        pytest.param([plain], r"tools\[0\] is a function, not a tool: put @tool before it", id="a function"),
        pytest.param({"a": "b"}, r"tools\['a'\] is a str, not a tool: make it with tool", id="no tool"),
    ],
)
def test_tools_that_cannot_be_told_apart_or_used_are_refused(tools: Tools, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        tool_set(tools)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(None, ["mid", "alpha", "zeta", "Beta", "_x"], id="all"),
        pytest.param(["zeta", "mid", "unknown"], ["mid", "zeta"], id="some, in the order of declaration"),
        pytest.param([], [], id="none"),
    ],
)
def test_only_active_tools_exist(names: Sequence[str] | None, expected: list[str]) -> None:
    assert list(active(MANY, names)) == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        pytest.param(None, ["mid", "alpha", "zeta", "Beta", "_x"], id="as declared"),
        pytest.param(["zeta"], ["zeta", "Beta", "_x", "alpha", "mid"], id="named first, the rest by name"),
        pytest.param([], ["Beta", "_x", "alpha", "mid", "zeta"], id="by name, capitals first"),
        pytest.param(["zeta", "gone", "zeta"], ["zeta", "Beta", "_x", "alpha", "mid"], id="unknown and repeated names"),
    ],
)
def test_definitions_come_in_the_order_asked_for(order: Sequence[str] | None, expected: list[str]) -> None:
    told = definitions(MANY, order)

    assert told is not None
    assert [definition.name for definition in told] == expected


def test_no_tools_are_no_definitions() -> None:
    assert definitions({}, ["a"]) is None


def test_an_unknown_tool_is_answered_with_the_known_ones() -> None:
    error = no_such_tool("serch", tool_set([named("search"), named("read")]))
    alone = no_such_tool("serch", {})

    assert str(error) == "there is no tool 'serch'; the tools are: search, read"
    assert (error.tool_name, error.available_tools) == ("serch", ("search", "read"))
    assert str(alone) == "there is no tool 'serch'; there are no tools"


@pytest.mark.parametrize(
    ("text", "json"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param(" \n", {}, id="blanks"),
        pytest.param('{"a": [1, null]}', {"a": [1, None]}, id="an object"),
        pytest.param('"text"', "text", id="a text"),
    ],
)
def test_the_text_of_an_input_is_json_or_nothing(text: str, json: JsonValue) -> None:
    assert parse_json(text) == json


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{x:1", id="not JSON"),
        pytest.param('{"x": "\ud800"}', id="half of a surrogate pair"),
        pytest.param('{"query": "test"}, "limit": 10}', id="a parsable beginning"),
        pytest.param('{"a": NaN}', id="NaN"),
        pytest.param("[" * 10_000, id="too deep"),
        pytest.param('"\\ud800"', id="half a character"),
    ],
)
def test_a_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(JSONParseError, match="not JSON") as caught:
        parse_json(text)
    assert caught.value.text == text


def test_an_input_is_parsed_and_validated() -> None:
    assert parse_input(book, '{"seats": 2}') == ParsedInput(json={"seats": 2}, value=Booking(seats=2))
    assert validate_input(book, {"seats": 2}) == Booking(seats=2)


@pytest.mark.parametrize(
    ("read", "text", "cause", "message"),
    [
        pytest.param(
            lambda: parse_input(book, '{"seats": "two"}'),
            '{"seats": "two"}',
            TypeValidationError,
            "the input for tool 'book' cannot be used: seats: .*integer",
            id="a text that does not fit",
        ),
        pytest.param(
            lambda: parse_input(book, "{seats"),
            "{seats",
            JSONParseError,
            "the input for tool 'book' cannot be used: not JSON",
            id="a text that is not JSON",
        ),
        pytest.param(
            lambda: validate_input(book, {"seats": []}),
            '{"seats":[]}',
            TypeValidationError,
            "the input for tool 'book' cannot be used: seats: ",
            id="a value that does not fit",
        ),
    ],
)
def test_an_input_that_cannot_be_used_says_why(
    read: Callable[[], object], text: str, cause: type[Exception], message: str
) -> None:
    with pytest.raises(InvalidToolInputError, match=message) as caught:
        read()

    assert (caught.value.tool_name, caught.value.tool_input) == ("book", text)
    assert isinstance(caught.value.__cause__, cause)


TEXT = st.text('ab"\\ü\n\u2028')
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=50)
@given(st.dictionaries(TEXT, JSON, max_size=3))
def test_every_json_object_passes_an_open_schema_unchanged(json: dict[str, JsonValue]) -> None:
    before = copy.deepcopy(json)

    parsed = parse_input(named("x"), to_json(json).decode())

    assert parsed == ParsedInput(json=before, value=before)


def test_a_context_is_checked_where_the_tool_says_what_it_needs() -> None:
    picky = tool(name="picky", input_schema={}, context_schema=Booking)

    assert validate_context(book, "anything") == "anything"
    assert validate_context(picky, {"seats": 1}) == Booking(seats=1)
    with pytest.raises(
        TypeValidationError, match="the context for tool 'picky' does not fit its context_schema: seats"
    ):
        validate_context(picky, {})


def at_once(value: object) -> bool:
    return value == {"risky": True}


async def later(value: object) -> bool:
    return value == {"risky": True}


@pytest.mark.parametrize(
    ("made", "value", "expected"),
    [
        pytest.param(named("x"), {}, False, id="not said"),
        pytest.param(tool(name="x", input_schema={}, needs_approval=True), {}, True, id="always"),
        pytest.param(tool(name="x", input_schema={}, needs_approval=at_once), {"risky": True}, True, id="plain"),
        pytest.param(tool(name="x", input_schema={}, needs_approval=later), {"risky": True}, True, id="async, yes"),
        pytest.param(tool(name="x", input_schema={}, needs_approval=later), {}, False, id="async, no"),
    ],
)
async def test_a_tool_says_whether_a_call_needs_approval(made: Tool, value: object, expected: bool) -> None:  # noqa: FBT001
    assert await needs_approval(made, value, OPTIONS) is expected


def test_tools_that_a_provider_offers_are_taken_as_they_are() -> None:
    def run(command: str) -> str:
        return command

    search = ProviderTool(id="acme.search_1", name="search", args={"n": 1}, supports_deferred_results=True)
    shell = ProviderTool(id="acme.bash", name="bash", args={}, execute=run, input_schema={"type": "object"})
    handed_back = ProviderTool(id="acme.edit", name="edit", args={}, is_provider_executed=False)

    tools = tool_set([search, shell, handed_back])

    assert [tool.definition for tool in tools.values()] == [search, shell, handed_back]
    assert (tools["search"].is_provider_executed, tools["search"].supports_deferred_results) == (True, True)
    assert (tools["bash"].is_provider_executed, tools["bash"].style) == (False, "sync")
    assert not tools["edit"].is_provider_executed
    assert tool_set({"web": search})["web"].name == "web"
