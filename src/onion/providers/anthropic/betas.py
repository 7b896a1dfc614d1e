"""Features that the API has on trial, and wants named in the header ``anthropic-beta``.

From the pages of the features in Anthropic's documentation, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from onion.providers._json import object_in, objects_in, text_in

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

HEADER = "anthropic-beta"

_OF_TOOL = {
    "advisor_20260301": "advisor-tool-2026-03-01",
    "bash_20241022": "computer-use-2024-10-22",
    "code_execution_20250522": "code-execution-2025-05-22",
    "code_execution_20250825": "code-execution-2025-08-25",
    "computer_20241022": "computer-use-2024-10-22",
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
    "mcp_toolset": "mcp-client-2025-11-20",
    "memory_20250818": "context-management-2025-06-27",
    "text_editor_20241022": "computer-use-2024-10-22",
    "web_fetch_20250910": "web-fetch-2025-09-10",
    "web_fetch_20260209": "code-execution-web-tools-2026-02-09",
    "web_search_20260209": "code-execution-web-tools-2026-02-09",
}
_OF_EDIT = {"compact_20260112": "compact-2026-01-12"}
_OF_OTHER_EDITS = "context-management-2025-06-27"
_OF_FILES = "files-api-2025-04-14"
_OF_MCP = "mcp-client-2025-04-04"
_OF_SKILLS = ("code-execution-2025-08-25", "skills-2025-10-02", _OF_FILES)
_OF_SPEED = {"fast": "fast-mode-2026-02-01"}
_OF_EXAMPLES = "advanced-tool-use-2025-11-20"
_OF_EFFORT = "effort-2025-11-24"
_EFFORT_ON_TRIAL = "claude-opus-4-5"


def betas_of(body: JsonObject) -> list[str]:
    """The features on trial that the request *body* uses."""
    tools = objects_in(body, "tools")
    types = [text_in(tool, "type") for tool in tools]
    found = [beta for kind in types if (beta := _OF_TOOL.get(kind))]
    if any("input_examples" in tool for tool in tools):
        found.append(_OF_EXAMPLES)
    if body.get("mcp_servers") and "mcp_toolset" not in types:
        found.append(_OF_MCP)
    if objects_in(object_in(body, "container"), "skills"):
        found += _OF_SKILLS
    for edit in objects_in(object_in(body, "context_management"), "edits"):
        found.append(_OF_EDIT.get(text_in(edit, "type"), _OF_OTHER_EDITS))
    if text_in(body, "speed") in _OF_SPEED:
        found.append(_OF_SPEED[text_in(body, "speed")])
    if object_in(body, "output_config").get("effort") and _EFFORT_ON_TRIAL in text_in(body, "model"):
        found.append(_OF_EFFORT)
    if any(_has_file(message.get("content")) for message in objects_in(body, "messages")):
        found.append(_OF_FILES)
    return list(dict.fromkeys(found))


def _has_file(content: JsonValue) -> bool:
    """Whether a file that was uploaded before is among the *content* of a message or of a result in it."""
    if isinstance(content, str) or not isinstance(content, Iterable):
        return False
    blocks = [block for block in content if isinstance(block, Mapping)]
    return any(
        block.get("type") == "container_upload"
        or object_in(block, "source").get("type") == "file"
        or (block.get("type") == "tool_result" and _has_file(block.get("content")))
        for block in blocks
    )
