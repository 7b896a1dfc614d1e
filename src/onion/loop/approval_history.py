"""What a history says of approvals: which calls its last message answers requests for."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from onion.errors import InvalidToolApprovalError, ToolCallNotFoundForApprovalError
from onion.loop.state import ClientCall
from onion.loop.sub_agents import is_inner
from onion.spec.base import record
from onion.spec.prompt import (
    AssistantMessage,
    Message,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@record
class Answered:
    """A call of the history with the request for it and the answer.

    Attributes:
        inner: The new answers to what the sub-run of an agent's tool asked.
        asked: All requests about the call.
        resume: From where that sub-run goes on.
    """

    call: ToolCallPart
    request: ToolApprovalRequestPart
    response: ToolApprovalResponsePart
    inner: list[ToolApprovalResponsePart] = field(default_factory=list[ToolApprovalResponsePart])
    asked: list[ToolApprovalRequestPart] = field(default_factory=list[ToolApprovalRequestPart])
    resume: tuple[Message, ...] | None = None
    is_denied: bool = False
    reason: str | None = None
    client: ClientCall | None = None


def collect_answers(messages: Sequence[Message], last: ToolMessage) -> list[Answered]:
    """The calls that the last message answers requests for and that have no result yet, in the order of the calls.

    Answers to requests of tools that the provider executes are left to it.

    Raises:
        InvalidToolApprovalError: For an answer to a request that the history does not hold.
        ToolCallNotFoundForApprovalError: For a request about a call that the history does not hold.
    """
    responses = {part.approval_id: part for part in last.content if isinstance(part, ToolApprovalResponsePart)}
    if not responses:
        return []
    parts = [part for message in messages if isinstance(message, AssistantMessage) for part in message.content]
    calls = {part.tool_call_id: part for part in parts if isinstance(part, ToolCallPart)}
    requests = {part.approval_id: part for part in parts if isinstance(part, ToolApprovalRequestPart)}
    done = {
        part.tool_call_id
        for message in messages
        if isinstance(message, AssistantMessage | ToolMessage)
        for part in message.content
        if isinstance(part, ToolResultPart)
    }
    answered: dict[str, Answered] = {}
    for response in responses.values():
        if response.approval_id not in requests:
            msg = (
                f"the last message answers approval request {response.approval_id!r}, which the history does not "
                "hold: send the assistant message with the request as well"
            )
            raise InvalidToolApprovalError(msg, approval_id=response.approval_id)
        request = requests[response.approval_id]
        call = calls.get(request.tool_call_id)
        if call is None:
            msg = (
                f"approval request {request.approval_id!r} is about tool call {request.tool_call_id!r}, "
                "which the history does not hold"
            )
            raise ToolCallNotFoundForApprovalError(
                msg, tool_call_id=request.tool_call_id, approval_id=request.approval_id
            )
        if call.tool_call_id not in done and not call.provider_executed:
            answer = answered.setdefault(call.tool_call_id, Answered(call=call, request=request, response=response))
            if is_inner(request):
                answer.inner.append(response)
    told = _all_responses(messages)
    for answer in answered.values():
        answer.asked = [part for part in requests.values() if part.tool_call_id == answer.call.tool_call_id]
    return [
        answered[call_id]
        for call_id in calls
        if call_id in answered and all(part.approval_id in told for part in answered[call_id].asked)
    ]


def _all_responses(messages: Sequence[Message]) -> set[str]:
    return {
        part.approval_id
        for message in messages
        if isinstance(message, ToolMessage)
        for part in message.content
        if isinstance(part, ToolApprovalResponsePart)
    }
