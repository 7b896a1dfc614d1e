"""Resuming: a history that ends in answers to approval requests runs, or denies, what was asked for."""

from __future__ import annotations

import dataclasses
from contextlib import aclosing
from typing import TYPE_CHECKING

from onion.errors import (
    InvalidToolApprovalError,
    InvalidToolApprovalSignatureError,
    InvalidToolInputError,
    ToolCallNotFoundForApprovalError,
)
from onion.loop.approval import decide
from onion.loop.execution import Job, execute
from onion.loop.messages import denied_part, error_text, outcome_part
from onion.loop.outcomes import denial_of, error_of, tool_options
from onion.loop.signing import is_signed
from onion.loop.state import ClientCall
from onion.loop.toolset import active, validate_input
from onion.spec.prompt import (
    AssistantMessage,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
)
from onion.spec.tools import TypedToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from onion.loop.state import Run
    from onion.loop.tools import Tool
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.prompt import Message, ToolMessagePart


@dataclasses.dataclass(slots=True, eq=False)
class _Answered:
    """A call of the history with the request for it and the answer."""

    call: ToolCallPart
    request: ToolApprovalRequestPart
    response: ToolApprovalResponsePart
    is_denied: bool = False
    reason: str | None = None
    client: ClientCall | None = None


def collect_answers(messages: Sequence[Message]) -> list[_Answered]:
    """The calls that the last message answers requests for and that have no result yet, in the order of the calls.

    Answers to requests of tools that the provider executes are left to it.

    Raises:
        InvalidToolApprovalError: For an answer to a request that the history does not hold.
        ToolCallNotFoundForApprovalError: For a request about a call that the history does not hold.
    """
    last = messages[-1] if messages else None
    if not isinstance(last, ToolMessage):
        return []
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
    answered: dict[str, _Answered] = {}
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
            answered[call.tool_call_id] = _Answered(call, request, response)
    return [answered[call_id] for call_id in calls if call_id in answered]


async def replay_approvals(run: Run) -> AsyncGenerator[FullStreamPart, None]:
    """Run the approved calls and deny the others; their results become the first new message of the run.

    Signature, tool, schema and policy are checked again before anything runs: the history may be the client's.

    Raises:
        InvalidToolApprovalError: Also for a signature that is missing or wrong, and for an approval that was used.
        ToolCallNotFoundForApprovalError: For a request about an unknown call.
    """
    answered = collect_answers(run.messages)
    if not answered:
        return
    tools = active(run.tools, run.options.get("active_tools"))
    for answer in answered:
        if answer.response.approved:
            _check_signature(run, answer)
    for answer in answered:
        await _settle(run, answer, tools.get(answer.call.tool_name))
        if answer.is_denied:
            yield denial_of(_typed(answer.call))
        elif answer.client is not None and answer.client.outcome is not None:
            yield answer.client.outcome
    jobs: list[Job] = []
    for answer in answered:
        if (job := _job(run, answer)) is not None:
            await _claim(run, answer)
            jobs.append(job)
    if jobs:
        async with aclosing(execute(run, jobs)) as parts:
            async for part in parts:
                yield part
    content = [part for answer in answered for part in await _message_parts(run, answer)]
    if content:
        run.add_messages((ToolMessage(content=tuple(content)),))


def _typed(call: ToolCallPart, tool: Tool | None = None) -> TypedToolCall:
    return TypedToolCall(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        input=call.input,
        dynamic=True if tool is not None and tool.is_dynamic else None,
        tool_metadata=None if tool is None else tool.metadata,
    )


def _check_signature(run: Run, answer: _Answered) -> None:
    secret = run.options.get("tool_approval_secret")
    if secret is None:
        return
    call, request = answer.call, answer.request
    if request.signature is not None and is_signed(
        secret,
        request.signature,
        approval_id=request.approval_id,
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        tool_input=call.input,
    ):
        return
    problem = "is not signed" if request.signature is None else "has a signature that does not match its call"
    msg = f"approval request {request.approval_id!r} for tool call {call.tool_call_id!r} {problem}: nothing was run"
    raise InvalidToolApprovalSignatureError(msg, approval_id=request.approval_id, tool_call_id=call.tool_call_id)


async def _settle(run: Run, answer: _Answered, tool: Tool | None) -> None:
    """Decide what becomes of the call: denied, invalid, or to be run. An unknown tool leaves it open."""
    if not answer.response.approved:
        answer.is_denied, answer.reason = True, answer.response.reason
        return
    if tool is None:
        return
    call = _typed(answer.call, tool)
    answer.client = ClientCall(call=call)
    try:
        answer.client.parsed = validate_input(tool, call.input)
    except InvalidToolInputError as error:
        answer.client.outcome = error_of(call, error_text(error))
        return
    answer.client.tool = tool
    decision = await decide(
        call,
        tool,
        answer.client.parsed,
        tool_options(run, call, run.messages, run.info),
        run.options.get("tool_approval"),
    )
    run.control.check()
    if decision.type == "denied":
        answer.is_denied, answer.reason = True, decision.reason


async def _claim(run: Run, answer: _Answered) -> None:
    store = run.options.get("approval_store")
    if store is None:
        return
    is_first = await store.claim(answer.request.approval_id)
    run.control.check()
    if not is_first:
        msg = f"approval {answer.request.approval_id!r} was used before: an approval is for one execution"
        raise InvalidToolApprovalError(msg, approval_id=answer.request.approval_id)


def _job(run: Run, answer: _Answered) -> Job | None:
    """The execution that the answer allows; None if it is denied, invalid, or there is nothing to run."""
    client = answer.client
    if client is None or answer.is_denied or client.outcome is not None or client.tool is None:
        return None
    if client.tool.execute is None:
        return None
    options = tool_options(run, client.call, run.messages, run.info)
    return Job(client=client, tool=client.tool, options=options, info=run.info, times={})


async def _message_parts(run: Run, answer: _Answered) -> list[ToolMessagePart]:
    if answer.is_denied:
        return [denied_part(answer.call, answer.reason)]
    if answer.client is None or answer.client.outcome is None:
        return []
    return [await outcome_part(answer.client.outcome, run.tools)]
