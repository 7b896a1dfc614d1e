"""What the loop does with the tools of a call: choose, declare, read inputs, ask whether approval is needed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import (
    InvalidArgumentError,
    InvalidToolInputError,
    JSONParseError,
    NoSuchToolError,
    TypeValidationError,
)
from onion.loop.tools import Tool, check_name, provider_tool
from onion.spec.base import JsonValue, part
from onion.spec.call import ProviderTool

if TYPE_CHECKING:
    from onion.loop.options import ToolOptions
    from onion.spec.call import FunctionTool

Tools: TypeAlias = Sequence[Tool | ProviderTool] | Mapping[str, Tool | ProviderTool]
"""The tools of a call, those that a provider offers included; in a mapping the key is the name that the model is told.
"""


def tool_set(tools: Tools | None) -> Mapping[str, Tool]:
    """The tools by name, in their order.

    Raises:
        InvalidArgumentError: When two have one name, one has none or a bad one, or one is no tool.
    """
    if tools is None:
        return {}
    if isinstance(tools, Mapping):
        entries: list[tuple[str, object, object]] = [(f"tools[{name!r}]", name, tool) for name, tool in tools.items()]
    else:
        entries = [(f"tools[{index}]", None, tool) for index, tool in enumerate(tools)]
    found: dict[str, Tool] = {}
    for place, key, tool in entries:
        named = _named(place, key, tool)
        if named.name in found:
            msg = f"{place}: two tools are named {named.name!r}; give one of them another name"
            raise InvalidArgumentError(msg, parameter="tools", value=named.name)
        found[named.name] = named
    return found


def _named(place: str, key: object, tool: object) -> Tool:
    if isinstance(tool, ProviderTool):
        tool = _offered(tool)
    if not isinstance(tool, Tool):
        hint = "put @tool before it, or pass it through tool(...)" if callable(tool) else "make it with tool(...)"
        msg = f"{place} is a {type(tool).__name__}, not a tool: {hint}"
        raise InvalidArgumentError(msg, parameter="tools", value=tool)
    name = tool.name if key is None else str(key)
    if not name:
        msg = f"{place} has no name: say tool(name=...), or give the tools as a mapping from name to tool"
        raise InvalidArgumentError(msg, parameter="tools", value=tool)
    check_name(name)
    return tool.named(name)


def _offered(tool: ProviderTool) -> Tool:
    """A tool that a provider offers, as the loop's own."""
    return provider_tool(
        id=tool.id,
        args=tool.args,
        name=tool.name,
        input_schema=tool.input_schema,
        execute=tool.execute,
        is_provider_executed=tool.is_provider_executed,
        supports_deferred_results=tool.supports_deferred_results,
    )


def active(tools: Mapping[str, Tool], names: Sequence[str] | None) -> Mapping[str, Tool]:
    """Those of *tools* that *names* lists, in the order of *tools*; all for None."""
    return tools if names is None else {name: tool for name, tool in tools.items() if name in names}


def definitions(
    tools: Mapping[str, Tool], tool_order: Sequence[str] | None = None
) -> tuple[FunctionTool | ProviderTool, ...] | None:
    """What a model is told of *tools*; None if there are none.

    Args:
        tools: The active ones.
        tool_order: Names of those that come first; the others follow by name, capitals first. None: as declared.
    """
    if not tools:
        return None
    if tool_order is None:
        return tuple(tool.definition for tool in tools.values())
    first = dict.fromkeys(name for name in tool_order if name in tools)
    return tuple(tools[name].definition for name in [*first, *sorted(tools.keys() - first.keys())])


def no_such_tool(name: str, tools: Mapping[str, Tool]) -> NoSuchToolError:
    """The error for a call of a tool that is not among the active *tools*; the model reads it."""
    known = f"the tools are: {', '.join(tools)}" if tools else "there are no tools"
    return NoSuchToolError(f"there is no tool {name!r}; {known}", tool_name=name, available_tools=tuple(tools))


@part
class ParsedInput:
    """The input of a tool call.

    Attributes:
        json: As the model wrote it, parsed.
        value: Validated: what the tool is given.
    """

    json: JsonValue
    value: object


def parse_json(text: str) -> JsonValue:
    """The JSON value in *text*, which is ``{}`` where the model wrote nothing.

    Raises:
        JSONParseError: When it is not JSON; NaN and Infinity are not.
    """
    if not text.strip():
        return {}
    import pydantic_core

    try:
        parsed: JsonValue = pydantic_core.from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:
        # The parser takes a text with half of a surrogate pair for no text at all.
        reason = error if isinstance(error, ValueError) else "it holds half of a surrogate pair"
        msg = f"not JSON: {reason}"
        raise JSONParseError(msg, text=text) from error
    return parsed


def parse_input(tool: Tool, text: str) -> ParsedInput:
    """The input of a call of *tool*, parsed and validated.

    Raises:
        InvalidToolInputError: When it is not JSON or does not fit the schema; the cause says which.
    """
    try:
        json = parse_json(text)
        return ParsedInput(json=json, value=tool.input_schema.validate(json))
    except (JSONParseError, TypeValidationError) as error:
        raise _invalid(tool, text, error) from error


def validate_input(tool: Tool, json: JsonValue) -> object:
    """What *tool* is given for the input *json*.

    Raises:
        InvalidToolInputError: When it does not fit the schema.
    """
    try:
        return tool.input_schema.validate(json)
    except TypeValidationError as error:
        from pydantic_core import to_json

        text = to_json(json, serialize_unknown=True).decode()
        raise _invalid(tool, text, error) from error


def _invalid(tool: Tool, text: str, error: JSONParseError | TypeValidationError) -> InvalidToolInputError:
    msg = f"the input for tool {tool.name!r} cannot be used: {error}"
    return InvalidToolInputError(msg, tool_name=tool.name, tool_input=text)


def validate_context(tool: Tool, context: object) -> object:
    """The context that *tool* is given: checked, if the tool has a schema for it.

    Raises:
        TypeValidationError: When it does not fit.
    """
    if tool.context_schema is None:
        return context
    try:
        return tool.context_schema.validate_python(context)
    except TypeValidationError as error:
        msg = f"the context for tool {tool.name!r} does not fit its context_schema: {error}"
        raise TypeValidationError(msg, value=context) from error


async def needs_approval(tool: Tool, value: object, options: ToolOptions[object]) -> bool:
    """Whether *tool* itself says that a call with this validated input needs somebody's agreement."""
    if isinstance(tool.needs_approval, bool):
        return tool.needs_approval
    answer = tool.needs_approval(value, options)
    return bool(await answer if inspect.isawaitable(answer) else answer)
