"""Tools in the words of the local model: how they are listed for it, and what shape a call of them must have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onion.providers._json import dump_json, object_in, text_in

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import FunctionTool

CALL_OPEN, CALL_CLOSE = "<tool_call>", "</tool_call>"

_LIST = """You have these tools:
{tools}

To use a tool, answer with its name and its arguments as JSON inside <tool_call></tool_call>. Example:
Question: Find books by "Jane Austen" from 1813.
<tool_call>
{{"name": "find_books", "arguments": {{"author": "Jane Austen", "year": 1813}}}}
</tool_call>"""

_GUIDANCE: JsonObject = {
    "lenient": True,  # else a keyword that it does not know drops the whole constraint, silently
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
}


def list_tools(tools: Sequence[FunctionTool]) -> str:
    """What the system message says of *tools*.

    Signatures, not schemas: docs/local.md has the figures.
    """
    return _LIST.format(tools="\n".join(_signature(tool) for tool in tools))


def write_call(name: str, arguments: JsonValue) -> str:
    """A call as the model writes it."""
    return f"{CALL_OPEN}\n{_json({'name': name, 'arguments': arguments})}\n{CALL_CLOSE}"


def call_schema(tools: Sequence[FunctionTool]) -> JsonObject:
    """The schema of one call of one of *tools*."""
    names = {f"tool{number}": tool for number, tool in enumerate(tools)}
    calls: list[JsonValue] = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": {"$ref": f"#/$defs/{key}"}},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for key, tool in names.items()
    ]
    return guided(
        {"anyOf": calls, "$defs": {key: _closed(_moved(tool.input_schema, key)) for key, tool in names.items()}}
    )


def guided(schema: JsonObject) -> JsonObject:
    """*schema* with what the engine is told of how to apply it."""
    return {**schema, "x-guidance": _GUIDANCE}


def _closed(schema: JsonValue) -> JsonValue:
    """*schema* without room for arguments that it does not name: the model would fill it."""
    if isinstance(schema, Mapping) and "properties" in schema and "additionalProperties" not in schema:
        return {**schema, "additionalProperties": False}
    return schema


def _moved(schema: JsonValue, key: str) -> JsonValue:
    """*schema* with its inner references right after it was put under ``$defs/key``."""
    if isinstance(schema, Mapping):
        return {
            name: f"#/$defs/{key}{found[1:]}"
            if name == "$ref" and isinstance(found, str) and found.startswith("#")
            else _moved(found, key)
            for name, found in schema.items()
        }
    if isinstance(schema, list | tuple):
        return [_moved(item, key) for item in schema]
    return schema


def _signature(tool: FunctionTool) -> str:
    arguments = ", ".join(
        f"{name}: {_type(schema)}" for name, schema in object_in(tool.input_schema, "properties").items()
    )
    line = f"- {tool.name}({arguments})"
    if tool.description:
        line += f" - {tool.description}"
    for example in tool.input_examples or ():
        line += f"\n  example: {_json(example.input)}"
    return line


def _type(schema: JsonValue) -> str:
    """A type in few words; what has none is shown as it is."""
    if not isinstance(schema, Mapping):
        return "any"
    allowed = schema.get("enum")
    kind = schema.get("type")
    if isinstance(allowed, list | tuple):
        said = " or ".join(_json(item) for item in allowed)
    elif isinstance(kind, str) and kind not in ("array", "object"):
        said = kind
    else:
        return _json(schema)
    description = text_in(schema, "description")
    return f"{said} ({description})" if description else said


def _json(value: JsonValue) -> str:
    return dump_json(value).decode()
