"""Items that stand for tools, once they are whole, as content: calls, results, requests for approval. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import dump_json, text_in
from onion.providers.openai_responses import items as keys
from onion.spec.content import Custom, ToolApprovalRequest, ToolCall, ToolResult

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue


def identity(item: JsonObject, **more: JsonValue) -> dict[str, JsonValue]:
    """What our metadata says of where a part came from; members of *more* that say nothing are left out."""
    found: dict[str, JsonValue] = {"itemId": text_in(item, "id") or None, **more}
    return {key: value for key, value in found.items() if value}


def tool_identity(item: JsonObject, call_id: str, **more: JsonValue) -> dict[str, JsonValue]:
    """The same for items that stand for tools; the API's own call id is kept where ours is another."""
    told = identity(item, itemType=text_in(item, "type"), **more)
    if "call_id" in item and item["call_id"] != call_id:
        told["callId"] = item["call_id"]
    return told


def json_text(given: JsonValue) -> str:
    """JSON that came as text or parsed, as text; nothing is an empty object."""
    if isinstance(given, str):
        return given if given.strip() else "{}"
    return dump_json({} if given is None else given).decode()


def members(item: JsonObject, left_out: frozenset[str]) -> dict[str, JsonValue]:
    """The members of *item* but those."""
    return {key: found for key, found in item.items() if key not in left_out}


def server_input(item: JsonObject) -> str:
    """The input of a call of one of the `SERVER_TOOLS`."""
    kind = text_in(item, "type")
    if kind == "mcp_call":
        return json_text(item.get("arguments"))
    return json_text({key: item.get(key) for key in keys.SERVER_TOOLS[kind].input})


def server_result(item: JsonObject, call_id: str, tool_name: str, name: str) -> ToolResult:
    """The result of a call of one of the `SERVER_TOOLS`."""
    kind = text_in(item, "type")
    left_out = frozenset({"type", "id", *keys.SERVER_TOOLS[kind].input})
    return ToolResult(
        tool_call_id=call_id,
        tool_name=tool_name,
        result=members(item, left_out),
        is_error=True if item.get("error") or item.get("status") == "failed" else None,
        dynamic=True if kind == "mcp_call" else None,
        provider_metadata={name: tool_identity(item, call_id)},
    )


def output_result(item: JsonObject, call_id: str, tool_name: str, name: str) -> ToolResult:
    """The result of a call of one of the `CLIENT_TOOLS` that the server ran."""
    return ToolResult(
        tool_call_id=call_id,
        tool_name=tool_name,
        result=members(item, frozenset({"type", "id", "call_id"})),
        provider_metadata={name: tool_identity(item, call_id)},
    )


def client_input(item: JsonObject) -> str:
    """The input of a call of one of the `CLIENT_TOOLS`."""
    if item.get("type") == "custom_tool_call":
        return dump_json(text_in(item, "input")).decode()
    return dump_json(members(item, keys.ENVELOPE)).decode()


def approval_parts(item: JsonObject, name: str) -> tuple[ToolCall, ToolApprovalRequest]:
    """The call for which the server asks whether it may run."""
    call_id = text_in(item, "id")
    told = {name: {**identity(item), keys.ITEM: item}}
    call = ToolCall(
        tool_call_id=call_id,
        tool_name=mcp_name(item),
        input=json_text(item.get("arguments")),
        provider_executed=True,
        dynamic=True,
        provider_metadata=told,
    )
    return call, ToolApprovalRequest(approval_id=call_id, tool_call_id=call_id)


def mcp_name(item: JsonObject) -> str:
    """The name of a tool of an MCP server, which nobody declared here."""
    return f"mcp.{text_in(item, 'name')}"


def custom(item: JsonObject, name: str) -> Custom:
    """An item that has no part of its own, as it is."""
    kind = text_in(item, "type") or "item"
    return Custom(kind=f"{name}.{kind}", provider_metadata={name: {**identity(item), keys.ITEM: item}})


def custom_part(part: JsonObject, item: JsonObject, name: str) -> Custom:
    """A piece of a message that has no part of its own."""
    kind = text_in(part, "type") or "content"
    return Custom(kind=f"{name}.{kind}", provider_metadata={name: {**identity(item), "part": part}})
