"""The scripted repair function of a scenario, as a layer (FORMAT.md, section 5.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onion.middleware.tool_call_repair import BrokenToolCall, ToolCallRepair
from tests.conformance.failures import to_exception

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec import ToolCall
    from onion.wrap import Middleware
    from tests.conformance.data import RepairAnswer
    from tests.conformance.recorder import Recorder


def repair_layer(answers: Sequence[RepairAnswer], recorder: Recorder) -> Middleware:
    """A ToolCallRepair that does what the scenario says and nothing of its own."""
    left = list(answers)

    def repair(broken: BrokenToolCall) -> ToolCall | None:
        call = broken.tool_call
        recorder.repair_calls.append(
            {
                "toolCallId": call.tool_call_id,
                "toolName": call.tool_name,
                "input": call.input,
                "error": type(broken.error).__name__,
                "tools": list(broken.tools),
                "messagesCount": len(broken.messages),
            }
        )
        answer = left.pop(0) if len(left) > 1 else left[0]
        if "throws" in answer:
            raise to_exception(answer["throws"])
        changes = answer.get("returns")
        if changes is None:
            return None
        return replace(
            call,
            tool_name=str(changes.get("toolName", call.tool_name)),
            input=str(changes.get("input", call.input)),
        )

    return ToolCallRepair(repair=repair, mechanical=False, ask=False)
