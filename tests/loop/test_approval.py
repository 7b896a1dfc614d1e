"""Approvals: who decides, what the content and the messages then hold, and what a resumed run may do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion import ToolOptions, generate_text, is_step_count, stream_text, to_json, tool
from onion.errors import (
    InvalidArgumentError,
    ToolCallNotFoundForApprovalError,
)
from onion.loop.approval import decide
from onion.spec import ToolApprovalRequest, ToolCall
from onion.spec.tools import (
    ToolApprovalRequestOutput,
    ToolApprovalResponseOutput,
    ToolOutputDenied,
    TypedToolCall,
    TypedToolResult,
)
from onion.testing import ScriptedModel, answer, call
from tests.loop.bank import PAY, Bank, run_options

if TYPE_CHECKING:
    from onion import StepResult
    from onion.loop import ApprovalStatus, ToolApproval
    from onion.spec import JsonValue

SECRET = "top-secret"


def kinds(step: StepResult) -> list[str]:
    return [part.type for part in step.content]


def of_input(status: ApprovalStatus) -> ToolApproval:
    def decide(given: JsonValue, options: ToolOptions[object]) -> ApprovalStatus:
        assert (given, options.tool_call_id) == ({"amount": 5}, "call-1")
        return status

    return {"pay": decide}


def of_call(status: ApprovalStatus) -> ToolApproval:
    async def decide(asked: TypedToolCall, _options: ToolOptions[object]) -> ApprovalStatus:
        assert asked.tool_name == "pay"
        return status

    return decide


def by_name(status: ApprovalStatus) -> ToolApproval:
    return {"pay": status}


FORMS = {"by name": by_name, "by input": of_input, "by call": of_call}


@pytest.mark.parametrize("form", FORMS)
async def test_an_approved_call_runs_and_says_who_approved(form: str) -> None:
    bank = Bank(needs_approval=True)
    policy = FORMS[form]({"type": "approved", "reason": "small"})

    result = await generate_text(**run_options(bank, PAY, tool_approval=policy))

    _, request, response, outcome = result.steps[0].content
    assert isinstance(request, ToolApprovalRequestOutput)
    assert request.is_automatic
    assert isinstance(response, ToolApprovalResponseOutput)
    assert (response.approved, response.reason) == (True, "small")
    assert isinstance(outcome, TypedToolResult)
    assert (bank.paid, result.text) == ([5], "done")


@pytest.mark.parametrize("form", FORMS)
async def test_a_denied_call_does_not_run_and_the_model_is_told(form: str) -> None:
    bank = Bank()
    stream = stream_text(**run_options(bank, PAY, tool_approval=FORMS[form]("denied")))

    parts = [part async for part in stream.full_stream]

    assert any(isinstance(part, ToolOutputDenied) for part in parts)
    steps = await stream.steps
    assert kinds(steps[0]) == ["tool-call", "tool-approval-request", "tool-approval-response"]
    assert "execution-denied" in json.dumps(to_json(await stream.response_messages))
    assert (bank.paid, await stream.text) == ([], "done")


async def test_a_call_that_the_user_must_approve_ends_the_run() -> None:
    bank = Bank(needs_approval=True)

    result = await generate_text(**run_options(bank, PAY))

    assert kinds(result.steps[0]) == ["tool-call", "tool-approval-request"]
    assert (len(result.steps), bank.paid) == (1, [])


async def test_a_tool_decides_by_its_input() -> None:
    def is_much(given: dict[str, int]) -> bool:
        return given["amount"] > 10

    @tool(needs_approval=is_much)
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    calls = [call("pay", {"amount": 5}, id="small"), call("pay", {"amount": 50}, id="big")]
    model = ScriptedModel([answer(*calls)])
    result = await generate_text(model=model, prompt="p", tools=[pay])

    assert [part.type for part in result.content] == [
        "tool-call",
        "tool-call",
        "tool-result",
        "tool-approval-request",
    ]


def no_opinion(_call: TypedToolCall, _options: ToolOptions[object]) -> None:
    """Say nothing."""


SILENT: list[ToolApproval] = [{"other": "denied"}, {"pay": None}, no_opinion]


@pytest.mark.parametrize("policy", SILENT)
async def test_a_policy_without_an_opinion_leaves_it_to_the_tool(policy: ToolApproval) -> None:
    result = await generate_text(**run_options(Bank(needs_approval=True), PAY, tool_approval=policy))

    assert kinds(result.steps[0])[-1] == "tool-approval-request"


async def test_a_policy_may_waive_what_the_tool_asks_for() -> None:
    bank = Bank(needs_approval=True)

    result = await generate_text(**run_options(bank, PAY, tool_approval={"pay": "not-applicable"}))

    assert kinds(result.steps[0]) == ["tool-call", "tool-result"]


@pytest.mark.parametrize("policy", [{"pay": "maybe"}, "denied"])
async def test_a_policy_that_makes_no_sense_ends_the_run(policy: ToolApproval) -> None:
    bank = Bank()

    with pytest.raises(InvalidArgumentError, match="tool_approval"):
        await generate_text(**run_options(bank, PAY, tool_approval=policy))

    assert not bank.paid


async def test_an_invalid_call_is_not_asked_about() -> None:
    result = await generate_text(**run_options(Bank(needs_approval=True), call("pay", {"amount": "x"})))

    assert kinds(result.steps[0]) == ["tool-call", "tool-error"]
    assert result.text == "done"


async def test_a_providers_question_is_passed_on() -> None:
    made = ToolCall(tool_call_id="m", tool_name="mcp", input="{}", provider_executed=True)
    asked = ToolApprovalRequest(approval_id="a", tool_call_id="m")
    model = ScriptedModel([answer(made, asked)])

    result = await generate_text(model=model, prompt="p", stop_when=is_step_count(3))

    request = result.content[1]
    assert isinstance(request, ToolApprovalRequestOutput)
    assert request.tool_call.tool_name == "mcp"


async def test_a_providers_question_may_be_about_a_call_of_an_earlier_step() -> None:
    made = ToolCall(tool_call_id="m", tool_name="mcp", input="{}", provider_executed=True)
    asked = ToolApprovalRequest(approval_id="a", tool_call_id="m")
    bank = Bank()
    model = ScriptedModel([answer(PAY, made), answer(asked)])

    result = await generate_text(model=model, prompt="p", tools=[bank.pay], stop_when=is_step_count(3))

    assert isinstance(result.content[0], ToolApprovalRequestOutput)


async def test_a_providers_question_about_no_call_is_an_error() -> None:
    model = ScriptedModel([answer(ToolApprovalRequest(approval_id="a", tool_call_id="ghost"))])

    with pytest.raises(ToolCallNotFoundForApprovalError, match="ghost"):
        await generate_text(model=model, prompt="p")


async def test_a_policy_that_is_none_decides_nothing() -> None:
    asked = TypedToolCall(tool_call_id="call-1", tool_name="pay", input={"amount": 5})
    options = ToolOptions[object](tool_call_id="call-1", context=None)

    with pytest.raises(InvalidArgumentError, match="tool_approval must be a mapping"):
        await decide(asked, Bank().pay, None, options, 3)  # type: ignore[arg-type]  # the fault
