"""Agents as tools: a run inside of a tool call, counted, shown as it goes, and able to wait for approvals.

A sub-run that waits for an approval gives a `Pause` in place of an output. The call then has no outcome; the requests
come up under ids of the form ``<id of the call>/<inner id>``, and the messages of the sub-run travel in the call's own
metadata, signed where approvals are. Resuming continues the sub-run from there: no tool of it runs twice.
"""

from __future__ import annotations

import dataclasses
from contextvars import ContextVar
from typing import TYPE_CHECKING

from onion.errors import InvalidToolApprovalError, InvalidToolApprovalSignatureError, OnionError
from onion.loop.prompt import read_messages
from onion.loop.signing import is_signed, sign
from onion.spec.base import is_array, is_object, record, value
from onion.spec.json import to_json
from onion.spec.prompt import (
    Message,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from onion.spec.step import LanguageModelUsage, StepResult
from onion.spec.tools import ToolApprovalRequestOutput, ToolApprovalResponseOutput, TypedToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from onion.loop.options import ToolOptions
    from onion.loop.state import ClientCall, Run
    from onion.loop.stream_result import StreamTextResult
    from onion.spec.base import JsonValue, ProviderMetadata
    from onion.spec.call import RunInfo


@value
class AgentRun:
    """One run of a sub-agent, inside of a tool call.

    Attributes:
        usage: Of its steps and of the sub-runs inside of it.
    """

    agent: str | None
    tool_call_id: str
    steps: tuple[StepResult, ...]
    usage: LanguageModelUsage


@value
class Pause:
    """A sub-run waits: what it asks, and its messages so far."""

    requests: tuple[ToolApprovalRequestOutput, ...]
    messages: tuple[Message, ...]


resumed: ContextVar[tuple[Message, ...] | None] = ContextVar("onion_resumed", default=None)
"""The messages from which the sub-run of the call that is being executed goes on."""


@record
class _Counted:
    """The sub-runs of a run, in its state under this class."""

    runs: list[AgentRun] = dataclasses.field(default_factory=list[AgentRun])


def agent_runs(info: RunInfo) -> list[AgentRun]:
    """The sub-runs that a run has counted; more may be added."""
    found = info.state.get(_Counted)
    if not isinstance(found, _Counted):
        found = info.state[_Counted] = _Counted()
    return found.runs


async def outputs(
    start: Callable[[tuple[Message, ...]], StreamTextResult[object]],
    messages: tuple[Message, ...],
    options: ToolOptions[object],
    *,
    name: str | None,
) -> AsyncIterator[object]:
    """What an agent's tool yields: each part of the sub-run's full stream, then its output, or a `Pause`.

    Args:
        start: Starts the sub-run with its messages.
        messages: Those of a new sub-run.
        options: What the tool was told.
        name: The agent's.

    Raises:
        Exception: What ended the sub-run.
    """
    messages = resumed.get() or messages
    result = start(messages)
    try:
        async for part in result.full_stream:
            yield part
        done = await result.consume()
        _count(options, name, done.steps, done.usage_with_agents)
    except OnionError as error:
        _count(options, name, error.steps, error.usage or LanguageModelUsage())
        raise
    finally:
        await result.aclose()
    content = done.final_step.content
    answered = {part.approval_id for part in content if isinstance(part, ToolApprovalResponseOutput)}
    asked = tuple(
        part for part in content if isinstance(part, ToolApprovalRequestOutput) and part.approval_id not in answered
    )
    yield Pause(requests=asked, messages=(*messages, *done.response_messages)) if asked else done.output


def _count(
    options: ToolOptions[object], name: str | None, steps: tuple[StepResult, ...], usage: LanguageModelUsage
) -> None:
    if options.run is not None:
        agent_runs(options.run).append(
            AgentRun(agent=name, tool_call_id=options.tool_call_id, steps=steps, usage=usage)
        )


def total_usage(own: LanguageModelUsage, runs: Iterable[AgentRun]) -> LanguageModelUsage:
    """The usage of a run and of all that went on inside of it."""
    total = own
    for run in runs:
        total += run.usage
    return total


def pause(run: Run, client: ClientCall, paused: Pause) -> Sequence[ToolApprovalRequestOutput]:
    """Let the call wait: its requests come up, and its metadata keeps the messages of the sub-run."""
    call = client.call
    secret = run.options.get("tool_approval_secret")
    messages = to_json(paused.messages)
    kept: dict[str, JsonValue] = {"messages": messages}
    if secret is not None:
        kept["signature"] = sign(secret, **_names(call), tool_input=messages)
    client.call = dataclasses.replace(call, provider_metadata=_with_ours(call.provider_metadata, "agent", kept))
    client.inner_requests = tuple(_request(run, call, inner) for inner in paused.requests)
    return client.inner_requests


def carry(client: ClientCall) -> Sequence[ToolApprovalRequestOutput]:
    """The requests of a call that lies in the history already: the first must carry the sub-run's messages."""
    first, *others = client.inner_requests
    kept = (client.call.provider_metadata or {}).get("onion", {}).get("agent")
    return [
        dataclasses.replace(first, provider_metadata=_with_ours(first.provider_metadata, "agent", kept)),
        *others,
    ]


def _request(run: Run, call: TypedToolCall, inner: ToolApprovalRequestOutput) -> ToolApprovalRequestOutput:
    approval_id = f"{call.tool_call_id}/{inner.approval_id}"
    secret = run.options.get("tool_approval_secret")
    return ToolApprovalRequestOutput(
        approval_id=approval_id,
        tool_call=call,
        reason=inner.reason,
        signature=None if secret is None else sign(secret, **_ids(call, approval_id), tool_input=call.input),
        provider_metadata=_with_ours(None, "tool_call", to_json(inner.tool_call)),
    )


def _names(call: TypedToolCall | ToolCallPart) -> dict[str, str]:
    return _ids(call, f"{call.tool_call_id}/")


def _ids(call: TypedToolCall | ToolCallPart, approval_id: str) -> dict[str, str]:
    return {"approval_id": approval_id, "tool_call_id": call.tool_call_id, "tool_name": call.tool_name}


def _with_ours(metadata: ProviderMetadata | None, name: str, kept: JsonValue) -> ProviderMetadata:
    ours: Mapping[str, JsonValue] = (metadata or {}).get("onion", {})
    return {**(metadata or {}), "onion": {**ours, name: kept}}


def is_inner(request: ToolApprovalRequestPart) -> bool:
    """Whether a request was asked inside of a sub-run."""
    return request.approval_id.startswith(f"{request.tool_call_id}/")


def resumption(
    run: Run,
    call: ToolCallPart,
    requests: Sequence[ToolApprovalRequestPart],
    responses: Sequence[ToolApprovalResponsePart],
) -> tuple[Message, ...]:
    """The messages from which the sub-run of *call* goes on, with the answers at their end.

    Args:
        run: The run that is resumed.
        call: The agent's call.
        requests: What its sub-run has asked, in order; the last that carries messages counts, else the call's own.
        responses: The answers that are new.

    Raises:
        InvalidToolApprovalError: When there are none: an id of this form approves nothing but a sub-run's wish.
        InvalidToolApprovalSignatureError: When the messages are not those that were signed.
    """
    carriers: list[ToolCallPart | ToolApprovalRequestPart] = [call, *requests]
    found = [(part.provider_options or {}).get("onion", {}).get("agent") for part in carriers]
    kept = next((kept for kept in reversed(found) if kept is not None), None)
    messages = kept.get("messages") if is_object(kept) else None
    if not is_array(messages) or not is_object(kept):
        msg = f"approval {responses[0].approval_id!r} is about a sub-run whose messages the history does not hold"
        raise InvalidToolApprovalError(msg, approval_id=responses[0].approval_id)
    secret, signature = run.options.get("tool_approval_secret"), kept.get("signature")
    if secret is not None and not (
        isinstance(signature, str) and is_signed(secret, signature, **_names(call), tool_input=to_json(messages))
    ):
        msg = f"the messages of the agent behind tool call {call.tool_call_id!r} were changed: nothing was run"
        raise InvalidToolApprovalSignatureError(
            msg, approval_id=responses[0].approval_id, tool_call_id=call.tool_call_id
        )
    read = read_messages(
        [message for message in messages if is_object(message)],
        allow_system_in_messages=True,
        place="messages of an agent's tool call",
    )
    prefix = f"{call.tool_call_id}/"
    answers = tuple(
        dataclasses.replace(response, approval_id=response.approval_id.removeprefix(prefix)) for response in responses
    )
    return (*read, ToolMessage(content=answers))


def first_messages(prompt: str) -> tuple[Message, ...]:
    """The messages of a sub-run that begins."""
    return (UserMessage(content=(TextPart(text=prompt),)),)
