"""Anthropic's own tools, to be put among the tools of a call: ``tools=[anthropic.tools.web_search(max_uses=3)]``.

Those that Anthropic runs need no more. Those that run at the caller's take an `execute`, as `onion.tool` does; without
it, their calls are handed back. A `version` chooses among the versions of a tool; the default is one that all current
models take. Whatever else the API page of a tool lists goes into `settings`.

From the pages of the tools in Anthropic's documentation, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from onion.providers.anthropic.names import NAME
from onion.spec.call import ProviderTool

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JSONSchema, JsonValue

_OF_COMMANDS: JSONSchema = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
}
_OF_ACTIONS: JSONSchema = {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]}


def web_search(
    *,
    max_uses: int | None = None,
    allowed_domains: Sequence[str] | None = None,
    blocked_domains: Sequence[str] | None = None,
    user_location: Mapping[str, JsonValue] | None = None,
    version: str = "20250305",
    name: str = "web_search",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Search the web; the answer cites what it found."""
    args = {
        "max_uses": max_uses,
        "allowed_domains": allowed_domains,
        "blocked_domains": blocked_domains,
        "user_location": user_location,
        **(settings or {}),
    }
    return _executed("web_search", version, name, args)


def web_fetch(  # noqa: PLR0913 - a public entry point
    *,
    max_uses: int | None = None,
    allowed_domains: Sequence[str] | None = None,
    blocked_domains: Sequence[str] | None = None,
    citations: Mapping[str, JsonValue] | None = None,
    max_content_tokens: int | None = None,
    version: str = "20250910",
    name: str = "web_fetch",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Read the pages and PDFs behind URLs that the conversation mentions."""
    args = {
        "max_uses": max_uses,
        "allowed_domains": allowed_domains,
        "blocked_domains": blocked_domains,
        "citations": citations,
        "max_content_tokens": max_content_tokens,
        **(settings or {}),
    }
    return _executed("web_fetch", version, name, args)


def code_execution(
    *, version: str = "20250825", name: str = "code_execution", settings: Mapping[str, JsonValue] | None = None
) -> ProviderTool:
    """Run code in a container of Anthropic's, which the run keeps using."""
    return _executed("code_execution", version, name, settings or {})


def tool_search(
    *,
    variant: Literal["regex", "bm25"] = "regex",
    version: str = "20251119",
    name: str = "tool_search",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Let the model look for tools that are marked ``{"anthropic": {"deferLoading": True}}``."""
    return _executed(f"tool_search_tool_{variant}", version, name, settings or {})


def advisor(
    *, model: str, version: str = "20260301", name: str = "advisor", settings: Mapping[str, JsonValue] | None = None
) -> ProviderTool:
    """Let the model ask another one, *model*, for advice."""
    return _executed("advisor", version, name, {"model": model, **(settings or {})})


def mcp_toolset(
    *, server_name: str, name: str = "mcp_toolset", settings: Mapping[str, JsonValue] | None = None
) -> ProviderTool:
    """Offer the tools of an MCP server, which the provider option ``mcpServers`` names."""
    return _executed("mcp_toolset", "", name, {"mcp_server_name": server_name, **(settings or {})})


def bash(
    *,
    execute: Callable[..., object] | None = None,
    version: str = "20250124",
    name: str = "bash",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Run commands in a shell of the caller's; the input has ``command`` or ``restart``."""
    return _at_home("bash", version, name, settings or {}, execute, {"type": "object"})


def text_editor(
    *,
    execute: Callable[..., object] | None = None,
    max_characters: int | None = None,
    version: str = "20250728",
    name: str = "str_replace_based_edit_tool",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """View and change files at the caller's; the input has ``command`` and ``path``."""
    args = {"max_characters": max_characters, **(settings or {})}
    return _at_home("text_editor", version, name, args, execute, _OF_COMMANDS)


def memory(
    *,
    execute: Callable[..., object] | None = None,
    version: str = "20250818",
    name: str = "memory",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Keep notes in files at the caller's, below ``/memories``; the input has ``command`` and ``path``."""
    return _at_home("memory", version, name, settings or {}, execute, _OF_COMMANDS)


def computer(
    *,
    display_width_px: int,
    display_height_px: int,
    execute: Callable[..., object] | None = None,
    display_number: int | None = None,
    version: str = "20250124",
    name: str = "computer",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """See and use a screen of the caller's, up to Claude 5; the input has ``action``."""
    args = {
        "display_width_px": display_width_px,
        "display_height_px": display_height_px,
        "display_number": display_number,
        **(settings or {}),
    }
    return _at_home("computer", version, name, args, execute, _OF_ACTIONS)


def computer_toolset(
    *,
    execute: Callable[..., object] | None = None,
    configs: Mapping[str, JsonValue] | None = None,
    version: str = "20260801",
    name: str = "computer",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """See and use a screen of the caller's, as models since Claude 5.5 know it.

    The input has ``action``, which names the tool of the set that is called, beside what that tool is given.

    Args:
        execute: Acts; without it, calls are handed back.
        configs: By tool of the set, such as ``{"zoom": {"enabled": False}}``.
        version: Of the toolset.
        name: What you call it.
        settings: Further members.
    """
    args = {"configs": configs, **(settings or {})}
    return _at_home("computer_toolset", version, name, args, execute, _OF_ACTIONS)


def browser_toolset(
    *,
    execute: Callable[..., object] | None = None,
    configs: Mapping[str, JsonValue] | None = None,
    version: str = "20260801",
    name: str = "browser",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """See and use a browser of the caller's; its input and arguments are as those of `computer_toolset`."""
    args = {"configs": configs, **(settings or {})}
    return _at_home("browser_toolset", version, name, args, execute, _OF_ACTIONS)


def _executed(kind: str, version: str, name: str, args: Mapping[str, JsonValue]) -> ProviderTool:
    """A tool that Anthropic runs, and whose result may come in a later turn than the call."""
    return ProviderTool(
        id=f"{NAME}.{kind}_{version}".removesuffix("_"),
        name=name,
        args=_given(args),
        is_provider_executed=True,
        supports_deferred_results=True,
    )


def _at_home(
    kind: str,
    version: str,
    name: str,
    args: Mapping[str, JsonValue],
    execute: Callable[..., object] | None,
    schema: JSONSchema,
) -> ProviderTool:
    """A tool that runs at the caller's."""
    return ProviderTool(
        id=f"{NAME}.{kind}_{version}",
        name=name,
        args=_given(args),
        execute=execute,
        is_provider_executed=False,
        input_schema=schema,
    )


def _given(args: Mapping[str, JsonValue]) -> JsonObject:
    return {key: found for key, found in args.items() if found is not None}
