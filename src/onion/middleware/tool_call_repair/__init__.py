"""ToolCallRepair: mends tool calls that name no known tool, are no JSON or do not fit the schema."""

from onion.middleware.tool_call_repair.layer import BrokenToolCall, RepairFunction, ToolCallRepair

__all__ = ["BrokenToolCall", "RepairFunction", "ToolCallRepair"]
