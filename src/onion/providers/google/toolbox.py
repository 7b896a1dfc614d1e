"""The tools of a call as the API wants them, and their names on either side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onion.providers._json import object_in
from onion.providers.google.names import COMPUTER, NAME
from onion.providers.google.schema import fit_schema
from onion.spec.call import FunctionTool, ProviderTool
from onion.spec.naming import camel
from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers.google.traits import ModelTraits
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import Tool, ToolChoice

CODE = "code_execution"
_KINDS = {"GOOGLE_SEARCH_WEB": "google_search", "GOOGLE_SEARCH_IMAGE": "google_search"}
"""Our words for types of calls that the server makes, where they are not the same in small letters."""

_RETRIEVALS = frozenset({"vertex_rag_store", "vertex_ai_search"})
"""Tools that are members of one that is called ``retrieval``."""


class Toolbox:
    """The tools of one call.

    Args:
        tools: As the call has them.
        traits: What is known of the model.
    """

    def __init__(self, tools: Sequence[Tool] | None, traits: ModelTraits) -> None:
        given = tuple(tools or ())
        self._functions = [tool for tool in given if isinstance(tool, FunctionTool)]
        self._own = [tool for tool in given if isinstance(tool, ProviderTool) and _is_ours(tool)]
        self._foreign = [tool for tool in given if isinstance(tool, ProviderTool) and not _is_ours(tool)]
        self._is_run_by_google = any(_kind(tool) != COMPUTER for tool in self._own)
        self._mixes = traits.mixes_tools or not self._is_run_by_google
        self._names = {_kind(tool): tool.name for tool in reversed(self._own)}

    @property
    def is_empty(self) -> bool:
        """Whether no tool is sent."""
        return not (self._functions or self._own)

    @property
    def has_functions(self) -> bool:
        """Whether function tools are sent."""
        return bool(self._functions) and self._mixes

    def acting_tool(self, function_name: str) -> str | None:
        """The caller's name of the tool that a call acts for, if it calls no function of the caller's."""
        is_own = any(tool.name == function_name for tool in self._functions)
        return None if is_own else self._names.get(COMPUTER)

    def knows(self, name: str) -> bool:
        """Whether the caller has a tool of Google's by that name."""
        return name in self._names.values()

    def own_name(self, kind: str) -> str:
        """The caller's name of Google's tool of that kind, which may be the type of a call."""
        found = _KINDS.get(kind, kind.lower())
        return self._names.get(found, found)

    def members(
        self, wanted: ToolChoice | None, config: JsonObject, warnings: list[CallWarning]
    ) -> dict[str, JsonValue]:
        """The members ``tools`` and ``toolConfig`` of a request.

        Args:
            wanted: Which tools the model must call.
            config: What the caller's options say of ``toolConfig``.
            warnings: Where goes what is left out.
        """
        warnings += [
            UnsupportedWarning(feature=f"provider tool {tool.id}", details="it is another provider's")
            for tool in self._foreign
        ]
        blocks: list[JsonValue] = [_server_tool(tool) for tool in self._own]
        if self.has_functions:
            blocks.append({"functionDeclarations": [_function(tool) for tool in self._functions]})
        elif self._functions:
            details = "the model takes no function tools beside Google's own: they are left out"
            warnings.append(UnsupportedWarning(feature="function tools", details=details))
        tool_config: dict[str, JsonValue] = {}
        if self._is_run_by_google and self.has_functions:
            tool_config["includeServerSideToolInvocations"] = True
        calling = self._choice(wanted, warnings)
        calling.update(object_in(config, "functionCallingConfig"))
        tool_config |= config
        if calling:
            tool_config["functionCallingConfig"] = calling
        return {"tools": blocks or None, "toolConfig": tool_config or None}

    def _choice(self, wanted: ToolChoice | None, warnings: list[CallWarning]) -> dict[str, JsonValue]:
        kind = wanted.type if wanted else "auto"
        if not self.has_functions:
            if kind in ("required", "tool"):
                details = "only function tools can be demanded: it is left to the model"
                warnings.append(CompatibilityWarning(feature="tool_choice", details=details))
            return {}
        if kind == "auto" and any(tool.strict for tool in self._functions):
            return {"mode": "VALIDATED"}
        if kind == "tool" and wanted and wanted.tool_name in self._names.values():
            details = "only function tools can be demanded: it is left to the model"
            warnings.append(CompatibilityWarning(feature="tool_choice", details=details))
            return {}
        if kind == "tool" and wanted:
            return {"mode": "ANY", "allowedFunctionNames": [wanted.tool_name]}
        modes: dict[str, JsonValue] = {"none": "NONE", "required": "ANY"}
        if wanted and kind == "auto" and not self._own:
            return {"mode": "AUTO"}
        return {"mode": modes[kind]} if kind in modes else {}


def _is_ours(tool: ProviderTool) -> bool:
    return tool.id.partition(".")[0] == NAME


def _kind(tool: ProviderTool) -> str:
    return tool.id.partition(".")[2]


def _server_tool(tool: ProviderTool) -> dict[str, JsonValue]:
    kind = _kind(tool)
    args: JsonObject = {camel(key): found for key, found in tool.args.items() if found is not None}
    found: dict[str, JsonValue] = {camel(kind): args}
    return {"retrieval": found} if kind in _RETRIEVALS else found


def _function(tool: FunctionTool) -> dict[str, JsonValue]:
    schema = fit_schema({"type": "object", **tool.input_schema})
    return {"name": tool.name, "description": tool.description or "", "parametersJsonSchema": schema}
