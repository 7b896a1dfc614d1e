"""A step's beginning and its end: the `StepResult` that is kept of it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from onion.loop.messages import request_part, response_messages
from onion.loop.state import new_id
from onion.spec.content import Reasoning, Text
from onion.spec.events import StepEndEvent, StepStartEvent
from onion.spec.full_stream import FinishStep
from onion.spec.prompt import AssistantMessage
from onion.spec.result import RequestInfo, ResponseInfo
from onion.spec.step import LanguageModelUsage, StepPerformance, StepResult
from onion.spec.tools import TypedToolCall, TypedToolError, TypedToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.loop.state import Run, Step
    from onion.spec.result import GenerateResult
    from onion.spec.step import ModelInfo, ResponseMessage, StepContent
    from onion.spec.tools import ToolApprovalRequestOutput


SAID = (Text, Reasoning)
"""What of an answer the loop passes on as it is."""
UNSENT = RequestInfo()
"""What is known of a request that the model says nothing of."""
_UNSAID = ResponseInfo()


async def begin_step(run: Run, step: Step) -> None:
    """The step is ready to be sent."""
    run.step = step
    run.control.arm("step", run.limits.step)
    step.has_begun = True
    if listeners := run.told.on_step_start:
        event = StepStartEvent(
            run=step.info,
            step_number=step.number,
            model=step.model_info,
            messages=step.messages,
            steps=tuple(run.steps),
        )
        await run.told.tell(listeners, event)


async def finish_step(run: Run, step: Step) -> FinishStep:
    """Keep the step's result and its messages; give the part that says so."""
    answer = step.answer
    content = _content(step, answer)
    messages = await response_messages(content, step.tools)
    run.control.check()
    include = run.options.get("include") or {}
    usage = LanguageModelUsage.of(answer.usage)
    result = StepResult(
        step_number=step.number,
        model=step.model_info,
        content=content,
        finish_reason=answer.finish_reason.unified,
        raw_finish_reason=answer.finish_reason.raw,
        usage=usage,
        warnings=answer.warnings,
        provider_metadata=answer.provider_metadata,
        request=UNSENT if answer.request is None or include.get("request_body") is False else answer.request,
        response=response_of(step, answer.response, keeps_body=include.get("response_body") is not False),
        response_messages=messages,
        performance=_performance(step, usage),
    )
    _note_pending(run, step)
    run.structured_text = answer.structured_output_text
    run.add_step(result)
    run.control.arm("step", None)
    run.step = None
    if listeners := run.told.on_step_end:
        await run.told.tell(listeners, StepEndEvent(run=step.info, step=result))
    return FinishStep(
        finish_reason=result.finish_reason,
        raw_finish_reason=result.raw_finish_reason,
        usage=usage,
        provider_metadata=result.provider_metadata,
        response=result.response,
        performance=result.performance,
    )


def waiting_step(run: Run, model: ModelInfo, requests: Sequence[ToolApprovalRequestOutput]) -> FinishStep:
    """Keep a step in which no model was called, because resumed sub-runs wait again; give the part that says so."""
    run.is_waiting = True
    messages: tuple[ResponseMessage, ...] = (AssistantMessage(content=tuple(map(request_part, requests))),)
    run.add_step(
        StepResult(
            step_number=0,
            model=model,
            content=tuple(requests),
            finish_reason="tool-calls",
            response_messages=messages,
        )
    )
    return FinishStep(finish_reason="tool-calls")


def _content(step: Step, answer: GenerateResult) -> tuple[StepContent, ...]:
    """The model's parts in order, then per client call, in call order: approval request, response, outcome."""
    others = iter(step.others)
    content = [part if isinstance(part, SAID) else next(others) for part in answer.content]
    if not step.calls:
        return tuple(content)
    if waiting := {client.call.tool_call_id: client.call for client in step.calls if client.inner_requests}:
        content = [
            waiting.get(part.tool_call_id, part) if isinstance(part, TypedToolCall) else part for part in content
        ]
    for client in step.calls:
        content += client.content()
    return tuple(content)


def response_of(step: Step, given: ResponseInfo | None, *, keeps_body: bool = True) -> ResponseInfo:
    """What the provider says of its answer, with an id, a time and a model id in any case."""
    given = given or _UNSAID
    return ResponseInfo(
        id=given.id or f"response-{new_id()}",
        timestamp=given.timestamp or _now(),
        model_id=given.model_id or step.model_info.model_id,
        headers=given.headers,
        body=given.body if keeps_body else None,
    )


def _now() -> datetime:
    """The time in whole milliseconds: JSON carries no more of it."""
    return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)


def _performance(step: Step, usage: LanguageModelUsage) -> StepPerformance:
    seconds = step.answered - step.called
    tokens = usage.output_tokens
    return StepPerformance(
        step_time_ms=(time.perf_counter() - step.started) * 1000,
        response_time_ms=seconds * 1000,
        tool_execution_ms=step.tool_times,
        time_to_first_output_ms=None if step.first_output is None else (step.first_output - step.called) * 1000,
        output_tokens_per_second=tokens / seconds if tokens is not None and seconds > 0 else None,
    )


def _note_pending(run: Run, step: Step) -> None:
    """Which provider-executed calls wait for a result that may come in a later step."""
    for part in step.others:
        if isinstance(part, TypedToolCall) and part.provider_executed:
            tool = step.tools.get(part.tool_name)
            if tool is not None and tool.supports_deferred_results:
                run.pending.add(part.tool_call_id)
    if run.pending:
        for part in step.others:
            if isinstance(part, TypedToolResult | TypedToolError):
                run.pending.discard(part.tool_call_id)
