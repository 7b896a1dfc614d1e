"""Says what is wrong with a tool call: the tool is unknown, the input is no JSON, or it does not fit the schema."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Never

from onion.errors import InvalidToolInputError, JSONParseError, NoSuchToolError, TypeValidationError
from onion.middleware.tool_call_repair.mending import decode_by_schema, parse, readings, similar_name
from onion.spec.call import FunctionTool

if TYPE_CHECKING:
    from onion.spec.base import JSONSchema, JsonValue
    from onion.spec.call import Tool
    from onion.spec.content import ToolCall

MAX_PROBLEM_LENGTH = 300
KEPT_VALIDATORS = 256

Problem = NoSuchToolError | InvalidToolInputError


def problem_of(call: ToolCall, tools: Mapping[str, Tool]) -> Problem | None:
    """What is wrong with *call*, as the loop would say it; None if nothing is."""
    tool = tools.get(call.tool_name)
    if tool is None:
        known = ", ".join(tools)
        msg = f"there is no tool {call.tool_name!r}; the tools are: {known}"
        return NoSuchToolError(msg, tool_name=call.tool_name, available_tools=tuple(tools))
    try:
        value = parse(call.input)
    except (ValueError, RecursionError) as error:
        cause: Exception = JSONParseError(f"it is no JSON: {error}", text=call.input)
        return _invalid(call, cause)
    misfit = misfit_of(value, tool)
    return None if misfit is None else _invalid(call, misfit)


def misfit_of(value: JsonValue, tool: Tool) -> Exception | None:
    """Why *value* does not fit the schema of *tool*; None if it does, or if nobody knows the schema."""
    if not isinstance(tool, FunctionTool):
        return None
    check = tool.validate or _validator(json.dumps(tool.input_schema))
    try:
        check(value)
    except Exception as error:  # noqa: BLE001 - a check may be the user's own, and may refuse with any exception
        return error
    return None


def mended_call(call: ToolCall, tools: Mapping[str, Tool]) -> tuple[ToolCall, tuple[str, ...]] | None:
    """*call* mended without guessing, and what was done; None if that does not make it a good one."""
    name = call.tool_name if call.tool_name in tools else similar_name(call.tool_name, tools)
    if name is None:
        return None
    tool, renamed = tools[name], () if name == call.tool_name else ("name",)
    found = list(readings(call.input))
    for text, steps in found:
        if misfit_of(parse(text), tool) is None:
            return replace(call, tool_name=name, input=text), (*renamed, *steps)
    schema: JSONSchema = tool.input_schema if isinstance(tool, FunctionTool) else {}
    for text, steps in found:
        read = parse(text)
        decoded = decode_by_schema(read, schema, schema)
        if decoded != read and misfit_of(decoded, tool) is None:
            written = json.dumps(decoded, ensure_ascii=False)
            return replace(call, tool_name=name, input=written), (*renamed, *steps, "double-encoded")
    return None


def _invalid(call: ToolCall, cause: Exception) -> InvalidToolInputError:
    msg = f"the input of tool {call.tool_name!r} is invalid: {cause}"
    error = InvalidToolInputError(msg, tool_name=call.tool_name, tool_input=call.input)
    error.__cause__ = cause
    return error


@functools.lru_cache(maxsize=KEPT_VALIDATORS)
def _validator(schema_text: str) -> Callable[[JsonValue], object]:
    import jsonschema_rs

    try:
        validator = jsonschema_rs.validator_for(schema_text, retriever=_refuse)
    except (ValueError, jsonschema_rs.ValidationError):
        return _accept  # a schema that is none is not the fault of the call

    def check(value: JsonValue) -> None:
        for error in validator.iter_errors(value):
            place = "".join(f"[{step!r}]" for step in error.instance_path) or "the input"
            raise TypeValidationError(f"{place}: {error.message}"[:MAX_PROBLEM_LENGTH], value=value)

    return check


def _accept(value: JsonValue) -> None:
    del value


def _refuse(uri: str) -> Never:
    msg = f"{uri} is another document, and none is fetched"
    raise ValueError(msg)
