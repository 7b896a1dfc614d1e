"""The tools of a call as the API wants them, and their names on either side.

The API fixes the names of its own tools, and a caller may call them as he likes: names are translated both ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from onion.providers._json import text_in
from onion.providers.anthropic.names import NAME, fitting, in_wire_names, own_options
from onion.providers.anthropic.schema import fit_schema
from onion.spec.call import FunctionTool, ProviderTool
from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers.anthropic.marks import Marks
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import Tool, ToolChoice

JSON_TOOL = "json"
"""The tool whose input is the answer, where a model knows no structured output."""

_TOOLSET = "_toolset"
"""Ends the types of tools that stand for several and have no name."""
_VERSION = re.compile(r"_\d{8}$")
_TEXT_EDITOR = "str_replace_based_edit_tool"
_WIRE_NAMES = {
    "text_editor": _TEXT_EDITOR,
    "text_editor_20241022": "str_replace_editor",
    "text_editor_20250124": "str_replace_editor",
}
"""Names that the API wants for its tools, where they are not the type without its version."""

_WIRE_TYPES = {"tool_search_regex": "tool_search_tool_regex", "tool_search_bm25": "tool_search_tool_bm25"}
"""Types of tools by the names that the AI SDK has for them."""

SUB_TOOLS = {"bash_code_execution": "code_execution", "text_editor_code_execution": "code_execution"}
"""Tools that come with another one, and go by its name."""


class Toolbox:
    """The tools of one call.

    Args:
        tools: As the call has them.
    """

    def __init__(self, tools: Sequence[Tool] | None) -> None:
        self._tools = tuple(tools or ())
        self._to_wire: dict[str, str] = {}
        self._from_wire: dict[str, str] = {}
        for tool in self._tools:
            if isinstance(tool, ProviderTool) and _is_ours(tool):
                wire_name = _wire_name(_wire_type(tool))
                self._to_wire[tool.name] = wire_name
                self._from_wire.setdefault(wire_name, tool.name)
        for tool in self._tools:
            if isinstance(tool, FunctionTool) and fitting(tool.name) != tool.name:
                self._rename(tool.name)

    @property
    def has_server_tools(self) -> bool:
        """Whether a tool of Anthropic's own is among them."""
        return bool(self.types)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of Anthropic's own tools among them, with their versions."""
        return tuple(_wire_type(tool) for tool in self._tools if isinstance(tool, ProviderTool) and _is_ours(tool))

    def knows(self, name: str) -> bool:
        """Whether the caller has a tool of that name."""
        return any(tool.name == name for tool in self._tools)

    def wire_name(self, name: str) -> str:
        """The API's name of the caller's tool *name*."""
        return self._to_wire.get(name) or fitting(name)

    def own_name(self, wire_name: str) -> str:
        """The caller's name of what the API calls *wire_name*."""
        found = self._from_wire.get(wire_name)
        return found or self._from_wire.get(SUB_TOOLS.get(wire_name, ""), SUB_TOOLS.get(wire_name, wire_name))

    def toolset(self, name: str) -> str | None:
        """The caller's name of the toolset whose calls are marked with *name*, such as ``computer``."""
        return self._from_wire.get(f"{name}{_TOOLSET}") if name else None

    def result_name(self, block_type: str) -> str:
        """The caller's name of the tool of a result whose call nobody knows, by the type of the block."""
        wire_name = block_type.removesuffix("_tool_result")
        if wire_name == "tool_search":
            wire_name = next((name for name in self._from_wire if name.startswith("tool_search_")), wire_name)
        return self.own_name(wire_name)

    def result_type(self, name: str) -> str:
        """The type of the block that carries a result of the caller's tool *name*, where it does not say."""
        wire_name = self.wire_name(name)
        return f"{'tool_search' if wire_name.startswith('tool_search_') else wire_name}_tool_result"

    def blocks(self, marks: Marks, warnings: list[CallWarning]) -> list[JsonValue]:
        """The tools as the request has them; those of other providers are left out with a warning."""
        blocks: list[JsonValue] = []
        for tool in self._tools:
            match tool:
                case FunctionTool():
                    block = {**_function(tool), "name": self.wire_name(tool.name)}
                    marks.set(block, tool.provider_options)
                    blocks.append(block)
                case ProviderTool() if _is_ours(tool):
                    blocks.append(_server_tool(tool))
                case ProviderTool():
                    warnings.append(
                        UnsupportedWarning(feature=f"provider tool {tool.id}", details="it is another provider's")
                    )
                case _:
                    assert_never(tool)
        return blocks

    def _rename(self, name: str) -> None:
        """Find a name for a tool whose own the API would refuse."""
        wire_name = fitting(name)
        while wire_name in self._from_wire or self.knows(wire_name):
            wire_name += "_"
        self._to_wire[name] = wire_name
        self._from_wire[wire_name] = name

    def choice(
        self, wanted: ToolChoice | None, warnings: list[CallWarning], *, can_force: bool, is_parallel: bool
    ) -> dict[str, JsonValue] | None:
        """Which tools the model must call.

        Args:
            wanted: What the caller wants.
            warnings: Where goes that it cannot be had.
            can_force: The model can be made to call a tool.
            is_parallel: The model may call several at a time.
        """
        kind = wanted.type if wanted else "auto"
        if not can_force and kind in ("required", "tool"):
            details = "the model cannot be made to call a tool, at least not while it reasons: it is left to the model"
            warnings.append(CompatibilityWarning(feature="tool_choice", details=details))
            kind = "auto"
        choice: dict[str, JsonValue] = {"type": {"required": "any"}.get(kind, kind)}
        if wanted and kind == "tool":
            choice["name"] = self.wire_name(wanted.tool_name or "")
        if not is_parallel and kind != "none":
            choice["disable_parallel_tool_use"] = True
        return choice if wanted or not is_parallel else None


def json_tool(schema: JsonObject, description: str | None) -> JsonObject:
    """The tool whose input is an answer of *schema*."""
    said = "Answer with a JSON object: its members are the arguments of this tool."
    return {"name": JSON_TOOL, "description": description or said, "input_schema": _of_object(schema)}


def _is_ours(tool: ProviderTool) -> bool:
    return tool.id.partition(".")[0] == NAME


def _wire_type(tool: ProviderTool) -> str:
    kind = tool.id.partition(".")[2]
    name = _VERSION.sub("", kind)
    return _WIRE_TYPES.get(name, name) + kind[len(name) :]


def _wire_name(kind: str) -> str:
    name = _VERSION.sub("", kind)
    return _WIRE_NAMES.get(kind) or _WIRE_NAMES.get(name, name)


def _server_tool(tool: ProviderTool) -> dict[str, JsonValue]:
    kind = _wire_type(tool)
    block: dict[str, JsonValue] = {"type": kind}
    if not _wire_name(kind).endswith(_TOOLSET):
        block["name"] = _wire_name(kind)
    return block | {key: found for key, found in in_wire_names(tool.args).items() if found is not None}


def _function(tool: FunctionTool) -> dict[str, JsonValue]:
    block: dict[str, JsonValue] = {"name": tool.name}
    if tool.description is not None:
        block["description"] = tool.description
    block["input_schema"] = fit_schema(tool.input_schema) if tool.strict else _of_object(tool.input_schema)
    if tool.strict is not None:
        block["strict"] = tool.strict
    if tool.input_examples:
        block["input_examples"] = [example.input for example in tool.input_examples]
    options = own_options(tool.provider_options)
    return block | {key: found for key, found in options.items() if key != "cache_control"}


def _of_object(schema: JsonObject) -> JsonObject:
    """*schema*, which the API wants to say that it describes an object."""
    return schema if text_in(schema, "type") else {"type": "object", **schema}
