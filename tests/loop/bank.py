"""A tool with an effect, which counts, and runs that call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion import is_step_count, tool
from onion.testing import ScriptedModel, answer, call, text

if TYPE_CHECKING:
    from onion import Tool
    from onion.loop import RunOptions
    from onion.spec import ToolCall

PAY = call("pay", {"amount": 5})


class Bank:
    """A tool with an effect, which counts."""

    def __init__(self, *, needs_approval: bool = False) -> None:
        self.paid: list[int] = []

        @tool(needs_approval=needs_approval)
        async def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return "paid"

        self.pay: Tool = pay


def run_options(bank: Bank, *calls: ToolCall, **more: object) -> RunOptions:
    """A run whose model makes *calls* and is then done."""
    options: RunOptions = {
        "model": ScriptedModel([answer(*calls), text("done")]),
        "prompt": "p",
        "tools": [bank.pay],
        "stop_when": is_step_count(3),
    }
    return options | more  # type: ignore[return-value]  # names of arguments
