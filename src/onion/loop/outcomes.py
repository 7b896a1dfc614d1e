"""What becomes of a tool call, as values; and what its tool is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.loop.options import ToolOptions
from onion.spec.tools import ToolOutputDenied, TypedToolError, TypedToolResult

if TYPE_CHECKING:
    from onion.loop.state import Run
    from onion.spec.call import RunInfo
    from onion.spec.prompt import Message
    from onion.spec.tools import TypedToolCall


def tool_options(run: Run, call: TypedToolCall, messages: tuple[Message, ...], info: RunInfo) -> ToolOptions[object]:
    """What a tool is told beside its input; *info* is the run at that step."""
    contexts = run.options.get("tools_context")
    context = contexts[call.tool_name] if contexts and call.tool_name in contexts else info.context
    return ToolOptions(tool_call_id=call.tool_call_id, messages=messages, context=context, run=info)


def result_of(call: TypedToolCall, output: object, *, preliminary: bool | None = None) -> TypedToolResult:
    """The outcome of a call that went well."""
    return TypedToolResult(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        input=call.input,
        output=output,
        dynamic=call.dynamic,
        preliminary=preliminary,
        tool_metadata=call.tool_metadata,
        provider_metadata=call.provider_metadata,
    )


def denial_of(call: TypedToolCall) -> ToolOutputDenied:
    """What the full stream says of a call that was denied."""
    return ToolOutputDenied(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        provider_executed=call.provider_executed,
        dynamic=call.dynamic,
    )


def error_of(call: TypedToolCall, error: object) -> TypedToolError:
    """The outcome of a call that failed."""
    return TypedToolError(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        input=call.input,
        error=error,
        provider_executed=call.provider_executed,
        dynamic=call.dynamic,
        tool_metadata=call.tool_metadata,
        provider_metadata=call.provider_metadata,
    )
