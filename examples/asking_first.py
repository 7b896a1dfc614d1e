"""Approvals: a tool that may run only if somebody agrees.

You will see a run that stops and asks, what it asks, and the same conversation going on after a yes and after a no. The
messages are the whole state: they can be stored, and the answer may come days later.
"""

import asyncio

from onion import generate_text, is_step_count, tool
from onion.spec import Message, ToolApprovalResponsePart, ToolMessage, UserMessage
from onion.spec.prompt import TextPart, ToolResultPart
from onion.spec.tools import ToolApprovalRequestOutput
from onion.testing import ScriptedModel, text, tool_call


@tool(needs_approval=True)
def delete_file(name: str) -> str:
    """Delete a file."""
    return f"{name} is gone (not really)"


async def decide(*, approved: bool) -> None:
    model = ScriptedModel([tool_call("delete_file", {"name": "old.txt"}), text("I have seen to it.")])
    history: list[Message] = [UserMessage(content=(TextPart(text="Tidy up."),))]

    asked = await generate_text(model=model, messages=history, tools=[delete_file], stop_when=is_step_count(5))
    history += asked.response_messages
    for part in asked.content:
        if isinstance(part, ToolApprovalRequestOutput):
            print(f"may I? {part.tool_call.tool_name}({part.tool_call.input}) -> {approved}")
            answer = ToolApprovalResponsePart(approval_id=part.approval_id, approved=approved)
            history.append(ToolMessage(content=(answer,)))

    result = await generate_text(model=model, messages=history, tools=[delete_file], stop_when=is_step_count(5))
    for message in result.response_messages:
        for piece in message.content:
            print("  ", message.role, piece.output if isinstance(piece, ToolResultPart) else piece.type)


async def main() -> None:
    await decide(approved=True)
    await decide(approved=False)


asyncio.run(main())
