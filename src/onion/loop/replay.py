"""Resuming: a history that ends in answers to approval requests runs, or denies, what was asked for."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from onion.errors import (
    InvalidToolApprovalError,
    InvalidToolApprovalSignatureError,
    InvalidToolInputError,
)
from onion.loop.approval import decide
from onion.loop.approval_history import Answered, collect_answers
from onion.loop.execution import Job, execute
from onion.loop.messages import denied_part, error_text, outcome_part
from onion.loop.outcomes import denial_of, error_of, tool_options
from onion.loop.prepare import bind
from onion.loop.record import waiting_step
from onion.loop.signing import is_signed
from onion.loop.state import ClientCall
from onion.loop.sub_agents import carry, resumption
from onion.loop.toolset import active, validate_input
from onion.spec.prompt import (
    ToolCallPart,
    ToolMessage,
)
from onion.spec.tools import TypedToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from onion.loop.state import Run
    from onion.loop.tools import Tool
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.prompt import ToolMessagePart


async def replay_approvals(run: Run, last: ToolMessage) -> AsyncGenerator[FullStreamPart, None]:
    """Run the approved calls and deny the others; their results become the first new message of the run.

    Signature, tool, schema and policy are checked again before anything runs: the history may be the client's.

    Raises:
        InvalidToolApprovalError: Also for a signature that is missing or wrong, and for an approval that was used.
        ToolCallNotFoundForApprovalError: For a request about an unknown call.
    """
    answered = collect_answers(run.messages, last)
    if not answered:
        return
    _check_signatures(run, answered)
    tools = active(run.tools, run.options.get("active_tools"))
    for answer in answered:
        await _settle(run, answer, tools.get(answer.call.tool_name))
        if answer.is_denied:
            yield denial_of(_typed(answer.call))
        elif answer.client is not None and answer.client.outcome is not None:
            yield answer.client.outcome
    jobs = [job for answer in answered if (job := await _job(run, answer)) is not None]
    async with aclosing(execute(run, jobs)) as parts:
        async for part in parts:
            yield part
    content = [part for answer in answered for part in await _message_parts(run, answer)]
    if content:
        run.add_messages((ToolMessage(content=tuple(content)),))
    clients = [answer.client for answer in answered if answer.client is not None and answer.client.inner_requests]
    if waiting := [request for client in clients for request in carry(client)]:
        yield waiting_step(run, bind(run, run.options["model"])[1], waiting)


def _check_signatures(run: Run, answered: Sequence[Answered]) -> None:
    for answer in answered:
        if answer.inner:
            answer.resume = resumption(run, answer.call, answer.asked, answer.inner)
        elif answer.response.approved:
            _check_signature(run, answer)


def _typed(call: ToolCallPart, tool: Tool | None = None) -> TypedToolCall:
    return TypedToolCall(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        input=call.input,
        dynamic=True if tool is not None and tool.is_dynamic else None,
        tool_metadata=None if tool is None else tool.metadata,
    )


def _check_signature(run: Run, answer: Answered) -> None:
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


async def _settle(run: Run, answer: Answered, tool: Tool | None) -> None:
    """Decide what becomes of the call: denied, invalid, or to be run. An unknown tool leaves it open."""
    if not answer.response.approved and not answer.inner:
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


async def _claim(run: Run, answer: Answered) -> None:
    store = run.options.get("approval_store")
    if store is None:
        return
    for response in answer.inner or [answer.response]:
        is_first = await store.claim(response.approval_id)
        run.control.check()
        if not is_first:
            msg = f"approval {response.approval_id!r} was used before: an approval is for one execution"
            raise InvalidToolApprovalError(msg, approval_id=response.approval_id)


async def _job(run: Run, answer: Answered) -> Job | None:
    """The execution that the answer allows; None if it is denied, invalid, or there is nothing to run."""
    client = answer.client
    if client is None or answer.is_denied or client.outcome is not None or client.tool is None:
        return None
    if client.tool.execute is None:
        return None
    await _claim(run, answer)
    options = tool_options(run, client.call, run.messages, run.info)
    return Job(client=client, tool=client.tool, options=options, info=run.info, times={}, resume=answer.resume)


async def _message_parts(run: Run, answer: Answered) -> list[ToolMessagePart]:
    if answer.is_denied:
        return [denied_part(answer.call, answer.reason)]
    if answer.client is None or answer.client.outcome is None:
        return []
    return [await outcome_part(answer.client.outcome, run.tools)]
