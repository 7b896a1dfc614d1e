"""The step loop: generate_text, stream_text, tools, output, stop conditions."""

from onion.loop.approval import ApprovalStatus, ApprovalStore, ToolApproval
from onion.loop.approval_stores import DiskApprovalStore, MemoryApprovalStore
from onion.loop.generate import generate_text, stream_text
from onion.loop.interrupt import TimeoutLimits
from onion.loop.options import ToolOptions
from onion.loop.output import Output
from onion.loop.pruning import prune_messages
from onion.loop.results import GenerateTextResult
from onion.loop.settings import Include, PrepareStep, RunOptions, StepOverrides, StepPreparation
from onion.loop.stop import StopCondition, has_tool_call, is_loop_finished, is_step_count
from onion.loop.stream_result import StreamTextResult
from onion.loop.tools import Tool, dynamic_tool, provider_tool, tool

__all__ = [
    "ApprovalStatus",
    "ApprovalStore",
    "DiskApprovalStore",
    "GenerateTextResult",
    "Include",
    "MemoryApprovalStore",
    "Output",
    "PrepareStep",
    "RunOptions",
    "StepOverrides",
    "StepPreparation",
    "StopCondition",
    "StreamTextResult",
    "TimeoutLimits",
    "Tool",
    "ToolApproval",
    "ToolOptions",
    "dynamic_tool",
    "generate_text",
    "has_tool_call",
    "is_loop_finished",
    "is_step_count",
    "provider_tool",
    "prune_messages",
    "stream_text",
    "tool",
]
