"""Cases of tool calls that need an approval: what a client sends back is material to check, not an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import InvalidToolApprovalSignatureError
from onion.loop.signing import sign
from onion.providers._json import object_in, text_in
from onion.spec.json import to_json
from onion.testing import ScriptedModel, answer, text
from onion.testing import call as model_call
from tests.cases import histories
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.resuming import Desk, changed, parts_of, response, tool_message, user
from tests.cases.runs import MODES, Mode, ran, sent_results

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from tests.cases.runs import Ran

LATER = ("ui_part_converts",)
"""What is asked of the UI stream, which is to come."""


async def run(case: Case) -> list[str]:
    """The faults of *case*, in both modes."""
    calls = object_in(case.data, "calls")
    faults: list[str] = []
    for mode in MODES:
        if "secret" in calls:
            found = await run_tampered(case, mode)
        elif "answer" in calls:
            found = await run_denied(case, mode)
        elif "history" in calls:
            found = await histories.run_repeated(case, mode)
        elif "uncaught" in case.expect:
            found = await histories.run_changed_policy(case, mode)
        else:
            found = await histories.run_incomplete(case, mode)
        faults += [f"{fault} ({mode})" for fault in found]
    return faults


# --- forged and tampered ones ----------------------------------------------------------------------------------------


async def run_tampered(case: Case, mode: Mode) -> list[str]:
    """A signed request that the client changes before it approves."""
    calls = object_in(case.data, "calls")
    verdicts = {name: await _verdict(calls, change, mode) for name, change in object_in(calls, "variants").items()}
    return differences(case.expect, verdicts)


async def _verdict(calls: JsonObject, change: JsonValue, mode: Mode) -> str:
    secret, name, given = text_in(calls, "secret"), text_in(calls, "tool"), object_in(calls, "input")
    kinds = {key: "string" if isinstance(value, str) else "number" for key, value in given.items()}
    schema: JsonObject = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in kinds.items()},
        "required": list(given),
    }
    desk = Desk({name: schema, "delete_account": {"type": "object"}}, [name])
    desk.model = ScriptedModel([answer(model_call(name, given)), text("done")])
    asked = await ran({**desk.options([user()]), "tool_approval_secret": secret}, mode)
    if asked.result is None:
        return f"no request: {asked.error!r}"
    message = to_json(asked.result.response_messages[0])
    assert isinstance(message, dict)
    history = _tampered(message, change, secret)
    told = await ran({**desk.options([user(), *history]), "tool_approval_secret": secret}, mode)
    return _verdict_of(desk, told, calls_before=1)


def _tampered(message: JsonObject, change: JsonValue, secret: str) -> list[JsonObject]:
    """The assistant message and the approval as the client sends them."""
    asked = next(part for part in parts_of(message) if part.get("type") == "tool-approval-request")
    approval_id = text_in(asked, "approvalId")
    if change == "no signature":
        message = changed(message, "tool-approval-request", signature=None)
    elif isinstance(change, dict) and change.keys() <= {"input", "tool_name", "approval_id", "signed"}:
        approval_id = text_in(change, "approval_id") or approval_id
        message = changed(message, "tool-approval-request", approvalId=approval_id)
        if "input" in change:
            message = changed(message, "tool-call", input=change["input"])
        if "tool_name" in change:
            message = changed(message, "tool-call", toolName=change["tool_name"])
        if change.get("signed"):
            message = changed(message, "tool-approval-request", signature=_signed(message, approval_id, secret))
    elif change != "unchanged":
        raise WaitingError(f"a history with {change!r}")
    return [message, tool_message(response(approval_id))]


def _signed(message: JsonObject, approval_id: str, secret: str) -> str:
    made = next(part for part in parts_of(message) if part.get("type") == "tool-call")
    return sign(
        secret,
        approval_id=approval_id,
        tool_call_id=text_in(made, "toolCallId"),
        tool_name=text_in(made, "toolName"),
        tool_input=made.get("input"),
    )


def _verdict_of(desk: Desk, told: Ran, *, calls_before: int) -> str:
    """What became of the call, in the words of the cases."""
    count = len(desk.executions)
    if isinstance(told.error, InvalidToolApprovalSignatureError):
        is_clean = count == 0 and len(desk.model.calls) == calls_before
        return "rejected" if is_clean else f"rejected after {count} executions and a model call"
    if told.error is not None:
        return f"failed with {told.error!r}"
    if count == 0:
        return "invalid input, not executed" if desk.results_sent else "not executed, and the model has no result"
    return "executed once" if count == 1 else f"executed {count} times"


# --- denied ones -----------------------------------------------------------------------------------------------------


async def run_denied(case: Case, mode: Mode) -> list[str]:
    """One call needs an approval, which is denied, and one does not."""
    calls = object_in(case.data, "calls")
    answered, declared = object_in(calls, "answer"), object_in(calls, "tools")
    ids = case.expect.get("result_ids")
    named = dict(zip(declared, map(str, ids if isinstance(ids, list) else []), strict=True))
    desk = Desk.of(*declared, script=[answer(*(model_call(name, id=call_id) for name, call_id in named.items()))])
    desk.needs_approval = [name for name, declaration in declared.items() if declaration == "needs-approval"]
    asked = await desk.resume([user()], mode)
    if asked.result is None:
        return [f"no request: {asked.error!r}"]
    made = [message for message in map(to_json, asked.result.response_messages) if isinstance(message, dict)]
    requests = [part for message in made for part in parts_of(message) if part.get("type") == "tool-approval-request"]
    is_approved, reason = answered.get("approved") is True, answered.get("reason")
    responses = [{**response(text_in(each, "approvalId"), approved=is_approved), "reason": reason} for each in requests]
    executions = desk.executions
    desk.model = ScriptedModel([text("done")])
    told = await desk.resume([user(), *made, tool_message(*responses)], mode)
    sent = sent_results(desk.model.params[-1].prompt) if desk.model.params else {}
    observed: dict[str, JsonValue] = {
        "executions": [*executions, *desk.executions[len(executions) :]],
        "result_ids": [call_id for call_id in named.values() if call_id in sent],  # of two turns, in two messages
        "denied_result": sent.get(named[desk.needs_approval[0]]),
        "model_called_after": told.result is not None and told.result.text == "done",
    }
    return differences({key: value for key, value in case.expect.items() if key not in LATER}, observed)
