"""What the assistant said, as content blocks: text, thinking with its signature, and calls of either side's tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.providers._tooling import input_object
from onion.providers.anthropic.names import ACTION, own_options, spelled_inside
from onion.providers.anthropic.toolbox import SUB_TOOLS
from onion.spec.prompt import (
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
    ToolResultPart,
)
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers.anthropic.toolbox import Toolbox
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import AssistantPart, ToolResultOutput

_SERVER_CALL, _MCP_CALL = "srvtoolu_", "mcptoolu_"
"""How ids of calls begin that the server executed."""

_RESPELLED = frozenset({"web_fetch_tool_result", "web_search_tool_result"})
"""Results whose members the AI SDK spells in its own way; histories that it wrote are taken, too."""


def assistant_block(
    part: AssistantPart, toolbox: Toolbox, warnings: list[CallWarning], *, sends_reasoning: bool = True
) -> dict[str, JsonValue] | None:
    """The block for *part*, or None if nothing of it goes back; what is left out is added to *warnings*."""
    own = own_options(part.provider_options)
    match part:
        case TextPart():
            return _text(part, own)
        case ReasoningPart():
            if not sends_reasoning:
                return None
            block = _thinking(part, own)
            if block is None and part.text.strip():
                _leave_out("reasoning that another provider wrote", warnings)
            return block
        case ToolCallPart() if not part.provider_executed:
            return _call(part, own, toolbox)
        case ToolCallPart() if _is_ours(part, own):
            return _server_call(part, own, toolbox)
        case ToolResultPart() if _is_ours(part, own):
            return _server_result(part, own, toolbox)
        case CustomPart() if part.kind == "anthropic.container":
            return None
        case CustomPart() if object_in(own, "block"):
            return dict(object_in(own, "block"))
        case ToolApprovalRequestPart():
            return None
        case _:
            kinds = {"tool-call": "provider-executed tool calls", "tool-result": "provider-executed tool results"}
            _leave_out(f"{kinds.get(part.type, f'{part.type} parts')} of the assistant", warnings)
            return None


def _text(part: TextPart, own: JsonObject) -> dict[str, JsonValue] | None:
    if not part.text.strip():
        return None
    block: dict[str, JsonValue] = {"type": "text", "text": part.text}
    if own.get("citations"):
        block["citations"] = own["citations"]
    return block


def _thinking(part: ReasoningPart, own: JsonObject) -> dict[str, JsonValue] | None:
    redacted, signature = text_in(own, "redacted_data"), text_in(own, "signature")
    if redacted:
        return {"type": "redacted_thinking", "data": redacted}
    if signature:
        return {"type": "thinking", "thinking": part.text, "signature": signature}
    return None


def _call(part: ToolCallPart, own: JsonObject, toolbox: Toolbox) -> dict[str, JsonValue]:
    toolset, name = text_in(own, "toolset_name"), toolbox.wire_name(part.tool_name)
    given = dict(input_object(part.input))
    if toolset:
        name = text_in(own, "name") or name
        given.pop(ACTION, None)
    block: dict[str, JsonValue] = {"type": "tool_use", "id": part.tool_call_id, "name": name, "input": given}
    if toolset:
        block["toolset_name"] = toolset
    caller = object_in(own, "caller")
    return {**block, "caller": caller} if caller else block


def _server_call(part: ToolCallPart, own: JsonObject, toolbox: Toolbox) -> dict[str, JsonValue]:
    more = {key: found for key, found in own.items() if key not in ("type", "name", "cache_control")}
    name, given = text_in(own, "name"), input_object(part.input)
    if not name:
        name = toolbox.wire_name(part.tool_name)
        kind = text_in(given, "type")
        if name == "code_execution" and kind in SUB_TOOLS:  # how the AI SDK keeps which of its tools was called
            name, given = kind, {key: found for key, found in given.items() if key != "type"}
    return {
        "type": _block_type(own, "mcp_tool_use" if _is_mcp(part) else "server_tool_use"),
        "id": part.tool_call_id,
        "name": name,
        "input": given,
        **more,
    }


def _server_result(part: ToolResultPart, own: JsonObject, toolbox: Toolbox) -> dict[str, JsonValue]:
    more = {key: found for key, found in own.items() if key not in ("type", "cache_control")}
    content = _content(part.output)
    kind = _block_type(own, "mcp_tool_result" if _is_mcp(part) else _result_type(part, content, toolbox))
    return {
        "type": kind,
        "tool_use_id": part.tool_call_id,
        "content": spelled_inside(content) if kind in _RESPELLED else content,
        **more,
    }


def _block_type(own: JsonObject, default: str) -> str:
    return text_in(own, "type").replace("-", "_") or default


def _result_type(part: ToolResultPart, content: JsonValue, toolbox: Toolbox) -> str:
    kind = text_in(content, "type") if isinstance(content, Mapping) else ""
    sub_tool = next((name for name in SUB_TOOLS if kind.startswith(name)), None)
    return f"{sub_tool}_tool_result" if sub_tool else toolbox.result_type(part.tool_name)


def _content(output: ToolResultOutput) -> JsonValue:
    match output:
        case JsonOutput() | ErrorJsonOutput() | TextOutput() | ErrorTextOutput():
            return output.value
        case _:
            return []


def _is_ours(part: ToolCallPart | ToolResultPart, own: JsonObject) -> bool:
    return bool(text_in(own, "type")) or part.tool_call_id.startswith((_SERVER_CALL, _MCP_CALL))


def _is_mcp(part: ToolCallPart | ToolResultPart) -> bool:
    return part.tool_call_id.startswith(_MCP_CALL)


def _leave_out(feature: str, warnings: list[CallWarning]) -> None:
    details = "the Messages API cannot carry it; left out of the request"
    warning = UnsupportedWarning(feature=feature, details=details)
    if warning not in warnings:
        warnings.append(warning)
