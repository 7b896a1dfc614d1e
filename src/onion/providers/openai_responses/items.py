"""Items of the Responses API that stand for tools: who runs them, and which of their members are the tool's input.

From the API reference, "Responses", read 2026-11-30. Types that are not named here are passed on as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.spec.base import value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.base import JsonObject

ITEM_ID = "itemId"
"""Key of our metadata: the id of the item that a part came from."""
ITEM_TYPE = "itemType"
"""Its type, for items that stand for tools."""
REASONING_ID = "reasoningId"
"""The id of the reasoning that the item followed, and must follow again."""
ENCRYPTED = "reasoningEncryptedContent"
"""The reasoning in the form in which it goes back."""
CONTENT_TYPE = "contentType"
"""``reasoning_text`` for reasoning that is no summary."""
ITEM = "item"
"""A whole item, of a type that has no part of its own."""

REASONING_TEXT = "reasoning_text"
TOOL_PREFIX = "openai."
"""Begins the ids of provider tools, whatever the vendor of the server: the tools are defined by the API."""


@value
class ServerTool:
    """A tool that the server runs, whose call and result are one item.

    Attributes:
        tool: The provider tool, and the name that the call gets where the caller gave it none.
        input: Members of the item that are the input; all others are the result.
        is_early: There is no input to wait for: the call is handed out when the item begins.
    """

    tool: str
    input: tuple[str, ...] = ()
    is_early: bool = False


SERVER_TOOLS: Mapping[str, ServerTool] = {
    "web_search_call": ServerTool(tool="web_search", is_early=True),
    "file_search_call": ServerTool(tool="file_search", is_early=True),
    "image_generation_call": ServerTool(tool="image_generation", is_early=True),
    "code_interpreter_call": ServerTool(tool="code_interpreter", input=("code", "container_id")),
    "mcp_call": ServerTool(tool="mcp"),
}
"""By type of item."""


@value
class ClientTool:
    """A tool that the API defines and the caller, as a rule, runs; its result is an item of its own.

    Attributes:
        tool: The provider tool, and the name that the call gets where the caller gave it none.
        output: Type of the item with the result.
    """

    tool: str
    output: str


CLIENT_TOOLS: Mapping[str, ClientTool] = {
    "custom_tool_call": ClientTool(tool="custom", output="custom_tool_call_output"),
    "local_shell_call": ClientTool(tool="local_shell", output="local_shell_call_output"),
    "shell_call": ClientTool(tool="shell", output="shell_call_output"),
    "apply_patch_call": ClientTool(tool="apply_patch", output="apply_patch_call_output"),
    "computer_call": ClientTool(tool="computer", output="computer_call_output"),
    "tool_search_call": ClientTool(tool="tool_search", output="tool_search_output"),
    "program": ClientTool(tool="programmatic_tool_calling", output="program_output"),
}
"""By type of item. Of some of them the server runs the calls, and sends the item with the result, too."""

OUTPUTS: Mapping[str, str] = {found.output: kind for kind, found in CLIENT_TOOLS.items()}
"""By type of the item with the result, the type of the item with the call."""

TOOL_TYPES: Mapping[str, str] = {"computer_use": "computer_use_preview"}
"""Provider tools whose type on the wire is another word."""

_SAME_TOOL = {"web_search_preview": "web_search", "computer_use": "computer", "computer_use_preview": "computer"}
"""Provider tools whose calls are the items of another one."""

ENVELOPE = frozenset({"type", "id", "call_id", "status"})
"""Members of an item that belong to no tool."""


def is_run_by_server(item: JsonObject) -> bool:
    """Whether the server itself runs the call that *item* is, of one of the `CLIENT_TOOLS`."""
    match item.get("type"):
        case "program":
            return True
        case "tool_search_call":
            return item.get("execution") != "client"
        case "shell_call":
            environment = item.get("environment")
            return isinstance(environment, dict) and environment.get("type") != "local"
        case _:
            return False


def tool_of(tool_id: str) -> str | None:
    """The tool of the API that a provider tool is, by the name that the tables have; None for other APIs' tools."""
    if not tool_id.startswith(TOOL_PREFIX):
        return None
    own = tool_id.removeprefix(TOOL_PREFIX)
    return _SAME_TOOL.get(own, own)
