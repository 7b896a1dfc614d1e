"""What a type checker tells users of tools; pyright and mypy read this file, and an ignore without need is an error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from onion.loop import Tool, ToolOptions, dynamic_tool, provider_tool, tool


@dataclass
class City:
    name: str


@tool
def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


@tool(name="plus", needs_approval=True)
async def add_later(a: int, options: ToolOptions[str]) -> str:
    """Add."""
    return options.context * a


def by_city(city: City) -> str:
    return city.name


async def by_city_and_context(city: City, options: ToolOptions[int]) -> AsyncIterator[str]:
    for _ in range(options.context):
        yield city.name


def by_number(number: int) -> int:
    return number


TOOLS: list[Tool] = [
    add,
    add_later,
    tool(input_schema=City, execute=by_city),
    tool(input_schema=City, execute=by_city_and_context),
    tool(name="lambda", input_schema=City, execute=lambda city: city.name),
    tool(name="handed_back", input_schema=City),
    tool(name="raw", input_schema={"type": "object"}, execute=by_number),
    tool(execute=by_number),
    dynamic_tool(name="dynamic", input_schema={}, execute=by_number),
    provider_tool(id="acme.search"),
]


@pytest.mark.parametrize("made", [pytest.param(made, id=made.name) for made in TOOLS])
def test_every_way_to_make_a_tool_gives_a_tool(made: Tool) -> None:
    assert isinstance(made, Tool)


def test_a_function_that_takes_something_else_than_the_schema_is_an_error_to_the_type_checker() -> None:
    made = tool(input_schema=City, execute=by_number)  # type: ignore[arg-type]  # City is no int

    assert isinstance(made, Tool)
