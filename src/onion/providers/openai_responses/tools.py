"""The tools that the Responses API defines, to be put among the tools of a call: ``tools=[openai.tools.web_search()]``.

Those that the server runs need no more. Those that run at the caller's take an `execute`, as `onion.tool` does; without
it, their calls are handed back. Whatever else the API page of a tool lists goes into `settings`, by the API's names.

From the pages of the tools in OpenAI's documentation, read 2026-11-30.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onion.providers.openai_responses.items import TOOL_PREFIX
from onion.spec.call import ProviderTool

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

Settings: TypeAlias = "Mapping[str, JsonValue]"
Execute: TypeAlias = "Callable[..., object]"


def web_search(
    *,
    search_context_size: str | None = None,
    allowed_domains: Sequence[str] | None = None,
    user_location: Settings | None = None,
    name: str = "web_search",
    settings: Settings | None = None,
) -> ProviderTool:
    """Search the web; the answer cites what it found. The size is ``low``, ``medium`` or ``high``."""
    filters = None if allowed_domains is None else {"allowed_domains": list(allowed_domains)}
    args = {"search_context_size": search_context_size, "filters": filters, "user_location": user_location}
    return _at_server("web_search", name, args, settings)


def web_search_preview(*, name: str = "web_search_preview", settings: Settings | None = None) -> ProviderTool:
    """Search the web, as older models know it."""
    return _at_server("web_search_preview", name, {}, settings)


def file_search(
    *,
    vector_store_ids: Sequence[str],
    max_num_results: int | None = None,
    filters: Settings | None = None,
    ranking_options: Settings | None = None,
    name: str = "file_search",
    settings: Settings | None = None,
) -> ProviderTool:
    """Search uploaded files. The option ``include: ["file_search_call.results"]`` shows what was found."""
    args = {
        "vector_store_ids": list(vector_store_ids),
        "max_num_results": max_num_results,
        "filters": filters,
        "ranking_options": ranking_options,
    }
    return _at_server("file_search", name, args, settings)


def code_interpreter(
    *,
    container: str | Settings | None = None,
    name: str = "code_interpreter",
    settings: Settings | None = None,
) -> ProviderTool:
    """Run Python in a container of the server's: one by its id, or one that is made for the call."""
    return _at_server("code_interpreter", name, {"container": container}, settings)


def image_generation(*, name: str = "image_generation", settings: Settings | None = None) -> ProviderTool:
    """Make images; they are files of the answer, too."""
    return _at_server("image_generation", name, {}, settings)


def mcp(
    *,
    server_label: str,
    server_url: str | None = None,
    connector_id: str | None = None,
    allowed_tools: Sequence[str] | Settings | None = None,
    require_approval: str | Settings = "never",
    name: str = "mcp",
    settings: Settings | None = None,
) -> ProviderTool:
    """Offer the tools of an MCP server, which the API's server calls; keys go into `settings` as ``authorization``.

    Args:
        server_label: Our name for that server.
        server_url: Where it is; or else:
        connector_id: Which of OpenAI's connectors it is.
        allowed_tools: Those that may be called; None: all.
        require_approval: ``never``, ``always``, or a filter. What is to be approved ends the answer with a request.
        name: The caller's name for all of it; each call is named ``mcp.`` and its own tool.
        settings: Further members.
    """
    args = {
        "server_label": server_label,
        "server_url": server_url,
        "connector_id": connector_id,
        "allowed_tools": list(allowed_tools) if isinstance(allowed_tools, Sequence) else allowed_tools,
        "require_approval": require_approval,
    }
    return _at_server("mcp", name, args, settings)


def tool_search(
    *, execute: Execute | None = None, name: str = "tool_search", settings: Settings | None = None
) -> ProviderTool:
    """Let the model look for tools that are marked ``{"openai": {"defer_loading": True}}``.

    Args:
        execute: Searches at the caller's, and gives the found tools as ``{"tools": [...]}``; None: the server does.
        name: The caller's name for it.
        settings: Further members.
    """
    if execute is None:
        return _at_server("tool_search", name, {}, settings)
    return _at_caller("tool_search", name, {"execution": "client"}, settings, execute)


def programmatic_tool_calling(
    *, name: str = "programmatic_tool_calling", settings: Settings | None = None
) -> ProviderTool:
    """Let the model write programs that call the caller's tools; the server runs the programs."""
    return _at_server("programmatic_tool_calling", name, {}, settings)


def custom(
    *,
    name: str,
    description: str | None = None,
    format: Settings | None = None,
    execute: Execute | None = None,
    settings: Settings | None = None,
) -> ProviderTool:
    """A tool whose input is free text, or text of a grammar: `execute` is given a string."""
    return _at_caller("custom", name, {"description": description, "format": format}, settings, execute)


def local_shell(
    *, execute: Execute | None = None, name: str = "local_shell", settings: Settings | None = None
) -> ProviderTool:
    """Run commands at the caller's; the input has ``action`` with ``command``, and the result is text."""
    return _at_caller("local_shell", name, {}, settings, execute)


def shell(
    *,
    execute: Execute | None = None,
    environment: Settings | None = None,
    name: str = "shell",
    settings: Settings | None = None,
) -> ProviderTool:
    """Run commands, at the caller's or in a container of the server's.

    Args:
        execute: Gets ``action`` with ``commands``, and gives text, or ``{"output": [...]}`` as the API has it.
        environment: Another one than ``{"type": "local"}`` is the server's.
        name: The caller's name for it.
        settings: Further members.
    """
    if environment is not None and environment.get("type") != "local":
        return _at_server("shell", name, {"environment": environment}, settings)
    return _at_caller("shell", name, {"environment": environment}, settings, execute)


def apply_patch(
    *, execute: Execute | None = None, name: str = "apply_patch", settings: Settings | None = None
) -> ProviderTool:
    """Change files at the caller's; the input has ``operation``, and a failure is an exception or an error result."""
    return _at_caller("apply_patch", name, {}, settings, execute)


def computer(
    *, execute: Execute | None = None, name: str = "computer", settings: Settings | None = None
) -> ProviderTool:
    """See and use a screen of the caller's; the result is an image, or ``{"output": {...}}`` as the API has it."""
    return _at_caller("computer", name, {}, settings, execute)


def computer_use(
    *,
    display_width: int,
    display_height: int,
    environment: str,
    execute: Execute | None = None,
    name: str = "computer_use",
    settings: Settings | None = None,
) -> ProviderTool:
    """See and use a screen of the caller's, as older models know it."""
    args: Settings = {"display_width": display_width, "display_height": display_height, "environment": environment}
    return _at_caller("computer_use", name, args, settings, execute)


def _at_server(tool: str, name: str, args: Settings, settings: Settings | None) -> ProviderTool:
    """A tool that the server runs; of programs the results come in a later step than the call."""
    return ProviderTool(
        id=f"{TOOL_PREFIX}{tool}",
        name=name,
        args=_given(args, settings),
        is_provider_executed=True,
        supports_deferred_results=tool == "programmatic_tool_calling",
    )


def _at_caller(
    tool: str, name: str, args: Settings, settings: Settings | None, execute: Execute | None
) -> ProviderTool:
    """A tool that runs at the caller's."""
    return ProviderTool(
        id=f"{TOOL_PREFIX}{tool}",
        name=name,
        args=_given(args, settings),
        execute=execute,
        is_provider_executed=False,
    )


def _given(args: Settings, settings: Settings | None) -> dict[str, JsonValue]:
    return {key: found for key, found in {**args, **(settings or {})}.items() if found is not None}
