from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

import pytest
from pydantic import BaseModel

from onion.errors import InvalidArgumentError
from onion.loop.tools import Tool, ToolOptions, dynamic_tool, provider_tool, tool
from onion.spec import FunctionTool, ProviderTool, TextOutput, ToolInputExample, to_json

OPTIONS: ToolOptions[object] = ToolOptions(tool_call_id="c1", context="alice")
ANY = {"type": "object"}


class City(BaseModel):
    name: str


@dataclass
class Place:
    name: str


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: The first.
    """
    return a + b


@tool(name="who", description="Says who asks.", title="Who?", strict=True)
async def who_asks(options: ToolOptions[str]) -> str:
    """Not used."""
    return f"{options.context} in {options.tool_call_id}"


@tool
async def count(to: int) -> AsyncIterator[int]:
    """Count."""
    for number in range(to):
        yield number


def takes_city(city: City) -> str:
    return city.name


def takes_both(city: City, options: ToolOptions[str]) -> str:
    return f"{city.name} {options.context}"


def takes_any(given: object) -> object:
    return given


def is_iterator(started: object) -> TypeGuard[AsyncIterator[object]]:
    return isinstance(started, AsyncIterator)


def is_risky(given: object) -> bool:
    return given == {"risky": True}


def shown(output: object, result: object) -> TextOutput:
    return TextOutput(value=f"{output} {result}")


def untyped(given: object) -> object:
    return given


del untyped.__annotations__["given"]


def three(first: object, second: object, third: object) -> object:
    return first, second, third


def test_a_decorated_function_is_a_tool() -> None:
    assert isinstance(add, Tool)
    assert (add.kind, add.name, add.style, add.is_dynamic) == ("function", "add", "sync", False)
    assert add.definition == FunctionTool(
        name="add",
        description="Add two numbers.",
        input_schema={
            "type": "object",
            "properties": {
                "a": {"type": "integer", "description": "The first."},
                "b": {"type": "integer", "default": 1},
            },
            "required": ["a"],
            "additionalProperties": False,
        },
    )
    assert add.start(add.input_schema.validate({"a": 2}), OPTIONS) == 3


async def test_a_decorator_with_settings_overrides_what_the_function_says() -> None:
    started = who_asks.start(who_asks.input_schema.validate({}), OPTIONS)

    assert (who_asks.name, who_asks.description, who_asks.title) == ("who", "Says who asks.", "Who?")
    assert who_asks.definition == FunctionTool(
        name="who",
        description="Says who asks.",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        strict=True,
    )
    assert who_asks.style == "async"
    assert inspect.isawaitable(started)
    assert await started == "alice in c1"


async def test_an_async_generator_is_a_tool_with_preliminary_outputs() -> None:
    started = count.start({"to": 3}, OPTIONS)

    assert count.style == "generator"
    assert is_iterator(started)
    assert [number async for number in started] == [0, 1, 2]


def test_the_original_function_stays_reachable() -> None:
    assert add.execute is not None
    assert add.execute(1, 2) == 3


@pytest.mark.parametrize(
    ("made", "json", "expected"),
    [
        pytest.param(tool(input_schema=City, execute=takes_city), {"name": "Rome"}, "Rome", id="pydantic model"),
        pytest.param(tool(input_schema=City, execute=takes_both), {"name": "Rome"}, "Rome alice", id="with options"),
        pytest.param(
            tool(name="x", input_schema=Place, execute=takes_any), {"name": "Rome"}, Place("Rome"), id="dataclass"
        ),
        pytest.param(tool(name="x", input_schema=ANY, execute=takes_any), {"a": 1}, {"a": 1}, id="JSON Schema"),
        pytest.param(tool(name="sum", execute=add.execute or takes_any), {"a": 1}, 2, id="signature of execute"),
        pytest.param(dynamic_tool(name="x", input_schema=ANY, execute=takes_any), {"a": 1}, {"a": 1}, id="dynamic"),
    ],
)
def test_a_tool_made_by_a_call_runs_its_function(made: Tool, json: dict[str, object], expected: object) -> None:
    assert made.start(made.input_schema.validate(json), OPTIONS) == expected  # type: ignore[arg-type]  # it is JSON


def test_a_tool_is_named_after_its_function_but_not_after_a_lambda() -> None:
    assert tool(input_schema=City, execute=takes_city).name == "takes_city"
    assert tool(input_schema=ANY, execute=lambda: None).name == ""


def test_a_tool_without_execute_hands_its_calls_back() -> None:
    confirm = tool(name="confirm", input_schema=ANY)

    assert (confirm.execute, confirm.style, confirm.is_provider_executed) == (None, "none", False)
    with pytest.raises(InvalidArgumentError, match="has no `execute`"):
        confirm.start({}, OPTIONS)


def test_settings_reach_the_definition_that_a_model_is_sent() -> None:
    made = tool(
        name="x",
        input_schema=ANY,
        input_examples=[{"input": {"a": 1}}, ToolInputExample(input={"a": 2})],
        provider_options={"acme": {"cache": True}},
        strict=False,
    )

    assert to_json(made.definition) == {
        "type": "function",
        "name": "x",
        "inputSchema": ANY,
        "inputExamples": [{"input": {"a": 1}}, {"input": {"a": 2}}],
        "strict": False,
        "providerOptions": {"acme": {"cache": True}},
    }
    assert made.definition is made.definition
    assert isinstance(made.definition, FunctionTool)
    assert made.definition.validate is made.input_schema.validate


def test_settings_that_stay_here_are_kept() -> None:
    hooks: list[Callable[..., object]] = [takes_any, takes_city, takes_both]
    made = tool(
        name="x",
        input_schema=ANY,
        metadata={"server": "beta"},
        on_input_start=hooks[0],
        on_input_delta=hooks[1],
        on_input_available=hooks[2],
        context_schema=City,
        output_schema=Place,
        needs_approval=True,
    )

    assert made.metadata == {"server": "beta"}
    assert [made.on_input_start, made.on_input_delta, made.on_input_available] == hooks
    assert made.context_schema is not None
    assert made.context_schema.validate({"name": "a"}) == City(name="a")
    assert made.output_schema is not None
    assert made.output_schema.validate({"name": "a"}) == Place("a")
    assert made.needs_approval is True


def test_hooks_are_given_as_much_as_they_take() -> None:
    made = tool(
        name="x",
        input_schema=ANY,
        needs_approval=is_risky,
        to_model_output=shown,
    )

    assert callable(made.needs_approval)
    assert made.needs_approval({"risky": True}, OPTIONS) is True
    assert made.to_model_output is not None
    assert made.to_model_output("a", "b") == TextOutput(value="a b")


def test_a_dynamic_tool_is_sent_as_a_function() -> None:
    made = dynamic_tool(name="thing", input_schema=ANY, description="from elsewhere")

    assert made.is_dynamic
    assert made.definition == FunctionTool(name="thing", input_schema=ANY, description="from elsewhere")


def test_a_provider_tool_is_run_by_the_provider_unless_it_has_a_function() -> None:
    search = provider_tool(id="acme.web_search", args={"maxUses": 2}, supports_deferred_results=True)
    bash = provider_tool(id="acme.bash.v1", name="bash", execute=takes_any)
    asked = provider_tool(id="acme.ask", is_provider_executed=False)

    assert search.definition == ProviderTool(id="acme.web_search", name="web_search", args={"maxUses": 2})
    assert (search.is_provider_executed, search.supports_deferred_results) == (True, True)
    assert bash.definition == ProviderTool(id="acme.bash.v1", name="bash", args={})
    assert bash.is_provider_executed is False
    assert bash.start(bash.input_schema.validate({"command": "ls"}), OPTIONS) == {"command": "ls"}
    assert asked.is_provider_executed is False


def test_a_tool_takes_another_name_and_its_definition_with_it() -> None:
    renamed = add.named("plus")

    assert (add.name, renamed.name, renamed.definition.name) == ("add", "plus", "plus")
    assert add.named("add") is add
    assert replace(add, name="minus") != add


def numbers(to: int) -> Iterator[int]:
    """Count."""
    yield to


def starred(*values: int) -> int:
    """Add."""
    return sum(values)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda: tool(starred), "tool 'starred': parameter 'values'", id="a signature that is no schema"),
        pytest.param(lambda: tool(numbers), "execute of tool 'numbers' is a plain generator", id="a plain generator"),
        pytest.param(
            lambda: tool(name="two words", input_schema=ANY), "'two words' cannot be the name", id="a bad name"
        ),
        pytest.param(lambda: tool(name="a" * 129, input_schema=ANY), "cannot be the name", id="a long name"),
        pytest.param(
            lambda: tool(name="x", input_schema=list[int]),
            "input_schema of tool 'x' describes no object",
            id="a list for an input",
        ),
        pytest.param(
            lambda: tool(name="x", input_schema={"type": "none"}),
            "input_schema of tool 'x' is no usable JSON Schema",
            id="a bad JSON Schema",
        ),
        pytest.param(
            lambda: dynamic_tool(name="x", input_schema=ANY, execute=three),
            "execute of tool 'x' wants 3 arguments",
            id="a function of three arguments",
        ),
        pytest.param(lambda: tool(untyped), "tool 'untyped': parameter 'given' has no type", id="no types"),
        pytest.param(
            lambda: tool(name="x", input_schema=ANY, context_schema=Tool),
            "context_schema of tool 'x' cannot be a schema",
            id="a bad schema for the context",
        ),
        pytest.param(
            lambda: provider_tool(id="search"), "`provider.tool`, not 'search'", id="an id without a provider"
        ),
        pytest.param(
            lambda: provider_tool(id="acme.search", execute=takes_any, is_provider_executed=True),
            "would never run",
            id="two sides that execute",
        ),
    ],
)
def test_a_tool_that_cannot_work_is_refused_when_it_is_made(make: Callable[[], Tool], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        make()


def test_a_tool_needs_a_schema_or_a_function() -> None:
    with pytest.raises(InvalidArgumentError, match="tool 'x' has neither an input_schema nor an `execute`"):
        dynamic_tool(name="x", input_schema=None)  # type: ignore[arg-type]  # that is the fault


@pytest.mark.parametrize(
    ("make", "function"),
    [
        pytest.param(lambda: tool(descr="y"), "tool", id="a decorator"),  # type: ignore[call-overload]  # that is the slip
        pytest.param(lambda: tool(execute=takes_any, descr="y"), "tool", id="a tool of a function"),  # type: ignore[call-overload]  # that is the slip
        pytest.param(lambda: dynamic_tool(name="x", input_schema=ANY, descr="y"), "dynamic_tool", id="a dynamic tool"),  # type: ignore[call-arg]  # that is the slip
        pytest.param(lambda: provider_tool(id="acme.search", descr="y"), "provider_tool", id="a provider's tool"),  # type: ignore[call-arg]  # that is the slip
    ],
)
def test_a_setting_that_no_tool_has_is_refused_by_its_name(make: Callable[[], object], function: str) -> None:
    with pytest.raises(TypeError, match=rf"^{function}\(\) got an unexpected keyword argument 'descr'$"):
        make()
