"""A tool call from its text to a decision: parsed, refined, validated, and asked about."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import JSONParseError
from onion.loop.approval import decide
from onion.loop.messages import error_text
from onion.loop.outcomes import denial_of, error_of, tool_options
from onion.loop.signing import sign
from onion.loop.state import ClientCall
from onion.loop.toolset import no_such_tool, parse_input, parse_json, validate_input
from onion.spec.tools import ToolApprovalRequestOutput, ToolApprovalResponseOutput, TypedToolCall

if TYPE_CHECKING:
    from onion.loop.approval import Decision
    from onion.loop.state import Run, Step
    from onion.loop.tools import Tool
    from onion.spec.base import JsonValue
    from onion.spec.content import ToolCall
    from onion.spec.full_stream import FullStreamPart

    Refine: TypeAlias = Callable[[JsonValue], JsonValue | Awaitable[JsonValue]]


async def settle_call(run: Run, step: Step, part: ToolCall) -> Sequence[FullStreamPart]:
    """Take a call into the step; what the full stream shows of it.

    Under `tool_choice` ``none`` a client call is withheld: the step fails once the answer is whole.

    Raises:
        Exception: What an approval policy raised.
    """
    if part.provider_executed:
        call = _provider_call(step, part)
        step.others.append(call)
        return (call,)
    if step.tool_choice.type == "none":
        return ()
    client = _client_call(step, part)
    refine = run.options.get("refine_tool_input")
    if refine is not None and client.tool is not None and part.tool_name in refine:
        client = await _refined(part, client, client.tool, refine[part.tool_name])
        run.control.check()
    step.others.append(client.call)
    step.calls.append(client)
    if client.tool is None:
        client.outcome = error_of(client.call, error_text(client.call.error))
        return (client.call, client.outcome)
    options = client.options = tool_options(run, client.call, step.messages, step.info)
    if client.tool.on_input_available is not None:
        await run.told.call(client.tool.on_input_available, client.call.input, options)
    policy = run.options.get("tool_approval")
    if policy is None and client.tool.needs_approval is False:
        return (client.call,)
    decision = await decide(client.call, client.tool, client.parsed, options, policy)
    run.control.check()
    return (client.call, *_decided(run, client, decision))


def _decided(run: Run, client: ClientCall, decision: Decision) -> Sequence[FullStreamPart]:
    """The request that the decision calls for, with the answer if the policy has given it."""
    if decision.type == "not-applicable":
        return ()
    approval_id, call = f"approval-{secrets.token_hex(12)}", client.call
    if decision.type == "user-approval":
        secret = run.options.get("tool_approval_secret")
        client.request = ToolApprovalRequestOutput(
            approval_id=approval_id,
            tool_call=call,
            reason=decision.reason,
            signature=None
            if secret is None
            else sign(
                secret,
                approval_id=approval_id,
                tool_call_id=call.tool_call_id,
                tool_name=call.tool_name,
                tool_input=call.input,
            ),
        )
        return (client.request,)
    client.request = ToolApprovalRequestOutput(approval_id=approval_id, tool_call=call, is_automatic=True)
    client.response = ToolApprovalResponseOutput(
        approval_id=approval_id, tool_call=call, approved=decision.type == "approved", reason=decision.reason
    )
    if client.response.approved:
        return (client.request, client.response)
    return (client.request, client.response, denial_of(call))


def _client_call(step: Step, part: ToolCall) -> ClientCall:
    """The call with its input parsed and validated; without a tool if any of that fails."""
    tool = step.tools.get(part.tool_name)
    if tool is None or part.error is not None:
        return _invalid(part, tool, part.error or no_such_tool(part.tool_name, step.tools))
    try:
        parsed = parse_input(tool, part.input)
    except Exception as error:  # noqa: BLE001 - the model is told, whatever it was
        return _invalid(part, tool, error)
    call = TypedToolCall(
        tool_call_id=part.tool_call_id,
        tool_name=part.tool_name,
        input=parsed.json,
        dynamic=True if tool.is_dynamic or part.dynamic else None,
        title=tool.title,
        tool_metadata=tool.metadata,
        provider_metadata=part.provider_metadata,
    )
    return ClientCall(call=call, tool=tool, parsed=parsed.value)


async def _refined(part: ToolCall, client: ClientCall, tool: Tool, refine: Refine) -> ClientCall:
    """*client* with its input as *refine* makes it."""
    try:
        refined = refine(client.call.input)
        if isinstance(refined, Awaitable):
            refined = await refined
        validated = validate_input(tool, refined)
    except Exception as error:  # noqa: BLE001 - the model is told, whatever it was
        return _invalid(part, tool, error)
    return ClientCall(call=dataclasses.replace(client.call, input=refined), tool=tool, parsed=validated)


def _invalid(part: ToolCall, tool: Tool | None, error: Exception) -> ClientCall:
    return ClientCall(
        call=TypedToolCall(
            tool_call_id=part.tool_call_id,
            tool_name=part.tool_name,
            input=_as_far_as_json(part.input),
            dynamic=True,
            invalid=True,
            error=error,
            title=None if tool is None else tool.title,
            tool_metadata=None if tool is None else tool.metadata,
            provider_metadata=part.provider_metadata,
        )
    )


def _provider_call(step: Step, part: ToolCall) -> TypedToolCall:
    tool = step.tools.get(part.tool_name)
    return TypedToolCall(
        tool_call_id=part.tool_call_id,
        tool_name=part.tool_name,
        input=_as_far_as_json(part.input),
        provider_executed=True,
        dynamic=True if part.dynamic or (tool is not None and tool.is_dynamic) else None,
        title=None if tool is None else tool.title,
        tool_metadata=None if tool is None else tool.metadata,
        provider_metadata=part.provider_metadata,
    )


def _as_far_as_json(text: str) -> JsonValue:
    try:
        return parse_json(text)
    except JSONParseError:
        return text
