"""The tools that the API defines, as values for the loop and in requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers.openai_responses import tools

if TYPE_CHECKING:
    from onion.spec.base import JsonObject
    from onion.spec.call import ProviderTool


def run(**given: object) -> str:
    """What a tool does here."""
    return str(given)


@pytest.mark.parametrize(
    ("tool", "tool_id", "args"),
    [
        (tools.web_search(), "openai.web_search", {}),
        (
            tools.web_search(search_context_size="low", allowed_domains=["a.example"], settings={"x": 1}),
            "openai.web_search",
            {"search_context_size": "low", "filters": {"allowed_domains": ["a.example"]}, "x": 1},
        ),
        (tools.web_search_preview(), "openai.web_search_preview", {}),
        (
            tools.file_search(vector_store_ids=("vs_1",), max_num_results=3),
            "openai.file_search",
            {"vector_store_ids": ["vs_1"], "max_num_results": 3},
        ),
        (tools.code_interpreter(container="cntr_1"), "openai.code_interpreter", {"container": "cntr_1"}),
        (tools.image_generation(settings={"size": "auto"}), "openai.image_generation", {"size": "auto"}),
        (
            tools.mcp(server_label="s", server_url="http://s", allowed_tools=("a",)),
            "openai.mcp",
            {"server_label": "s", "server_url": "http://s", "allowed_tools": ["a"], "require_approval": "never"},
        ),
        (
            tools.mcp(server_label="s", connector_id="c", allowed_tools={"read_only": True}, require_approval="always"),
            "openai.mcp",
            {
                "server_label": "s",
                "connector_id": "c",
                "allowed_tools": {"read_only": True},
                "require_approval": "always",
            },
        ),
        (tools.tool_search(), "openai.tool_search", {}),
        (tools.programmatic_tool_calling(), "openai.programmatic_tool_calling", {}),
        (
            tools.shell(environment={"type": "container_auto"}),
            "openai.shell",
            {"environment": {"type": "container_auto"}},
        ),
    ],
)
def test_a_tool_that_the_server_runs(tool: ProviderTool, tool_id: str, args: JsonObject) -> None:
    assert (tool.id, tool.args, tool.is_provider_executed, tool.execute) == (tool_id, args, True, None)
    assert tool.supports_deferred_results is (tool.name == "programmatic_tool_calling")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        (tools.tool_search(execute=run), {"execution": "client"}),
        (tools.custom(name="sql", format={"type": "text"}, execute=run), {"format": {"type": "text"}}),
        (tools.local_shell(execute=run), {}),
        (tools.shell(execute=run, environment={"type": "local"}), {"environment": {"type": "local"}}),
        (tools.apply_patch(execute=run), {}),
        (tools.computer(execute=run), {}),
        (
            tools.computer_use(display_width=1, display_height=2, environment="mac", execute=run),
            {"display_width": 1, "display_height": 2, "environment": "mac"},
        ),
    ],
)
def test_a_tool_that_runs_at_the_callers(tool: ProviderTool, args: JsonObject) -> None:
    assert (tool.args, tool.is_provider_executed, tool.execute) == (args, False, run)
