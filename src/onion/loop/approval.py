"""Whether a tool call may run: asked of the policy, of the tool, or of the caller's user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, NotRequired, Protocol, TypeAlias, TypedDict, TypeGuard

from onion.errors import InvalidArgumentError
from onion.loop.lifecycle import resolve
from onion.loop.options import ToolOptions
from onion.loop.toolset import needs_approval
from onion.spec.base import JsonValue, is_object, value
from onion.spec.tools import TypedToolCall

if TYPE_CHECKING:
    from onion.loop.tools import Tool

Status: TypeAlias = Literal["not-applicable", "approved", "denied", "user-approval"]
STATUSES: tuple[Status, ...] = ("not-applicable", "approved", "denied", "user-approval")


class StatusWithReason(TypedDict):
    """A status, and why; the reason is shown to the user or told to the model."""

    type: Status
    reason: NotRequired[str | None]


ApprovalStatus: TypeAlias = Status | StatusWithReason | None
ApprovalOfInput: TypeAlias = Callable[[JsonValue, ToolOptions[object]], ApprovalStatus | Awaitable[ApprovalStatus]]
ApprovalOfCall: TypeAlias = Callable[[TypedToolCall, ToolOptions[object]], ApprovalStatus | Awaitable[ApprovalStatus]]
ToolApproval: TypeAlias = Mapping[str, ApprovalStatus | ApprovalOfInput] | ApprovalOfCall
"""By tool name a status or a function of the parsed input, or one function that is asked for every call.

None, and a name that is missing, leave the question to the tool's own `needs_approval`.
"""


class ApprovalStore(Protocol):
    """Remembers which approvals were used, for every server that may see the same history."""

    async def claim(self, approval_id: str) -> bool:
        """Whether this is the first claim of that id; atomic. Called right before the approved tool runs."""
        ...


@value
class Decision:
    """What the policy says of one call."""

    type: Status
    reason: str | None = None


NOT_APPLICABLE = Decision(type="not-applicable")
ASK = Decision(type="user-approval")


def read_status(status: object, *, tool_name: str) -> Decision | None:
    """What a policy answered; None if it has no opinion.

    Raises:
        InvalidArgumentError: For anything else than a status.
    """
    if status is None:
        return None
    kind, reason = (status.get("type"), status.get("reason")) if is_object(status) else (status, None)
    for known in STATUSES:
        if kind == known:
            return Decision(type=known, reason=None if reason is None else str(reason))
    msg = f"tool_approval for {tool_name!r} must be one of {STATUSES}, alone or as 'type' of a mapping, got {status!r}"
    raise InvalidArgumentError(msg, parameter="tool_approval", value=status)


async def decide(
    call: TypedToolCall, tool: Tool, parsed: object, options: ToolOptions[object], approval: ToolApproval | None
) -> Decision:
    """What is to become of *call*.

    Args:
        call: A valid call of a client tool.
        tool: The tool.
        parsed: The validated input, for the tool's own `needs_approval`.
        options: What the tool would be told.
        approval: The caller's policy; it goes before the tool's own wish.

    Raises:
        Exception: What the policy or the tool raised: without a decision nothing may run.
    """
    decision = await _of_policy(call, options, approval)
    if decision is not None:
        return decision
    return ASK if await needs_approval(tool, parsed, options) else NOT_APPLICABLE


async def _of_policy(
    call: TypedToolCall, options: ToolOptions[object], approval: ToolApproval | None
) -> Decision | None:
    if approval is None:
        return None
    if _is_table(approval):
        rule = approval.get(call.tool_name)
        status = await resolve(rule(call.input, options)) if _is_of_input(rule) else rule
    elif _is_of_call(approval):
        status = await resolve(approval(call, options))
    else:
        msg = f"tool_approval must be a mapping by tool name or a function, got {approval!r}"
        raise InvalidArgumentError(msg, parameter="tool_approval", value=approval)
    return read_status(status, tool_name=call.tool_name)


def _is_table(approval: object) -> TypeGuard[Mapping[str, ApprovalStatus | ApprovalOfInput]]:
    return isinstance(approval, Mapping)


def _is_of_input(rule: object) -> TypeGuard[ApprovalOfInput]:
    return callable(rule)


def _is_of_call(approval: object) -> TypeGuard[ApprovalOfCall]:
    return callable(approval)
