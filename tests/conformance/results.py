"""What a record holds of a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import NoObjectGeneratedError, NoOutputGeneratedError
from tests.conformance.encoding import encode, encode_error

if TYPE_CHECKING:
    from onion import GenerateTextResult, StepResult
    from onion.spec import JsonValue
    from onion.spec.step import ResponseMessage
    from tests.conformance.data import Record


def record_result(result: GenerateTextResult[object]) -> Record:
    """The keys of `expect` that come from the result."""
    if result.callback_errors:
        raise result.callback_errors[0]
    record: Record = {
        "text": result.text,
        "reasoningText": result.reasoning_text,
        "finishReason": result.finish_reason,
        "rawFinishReason": result.raw_finish_reason,
        "totalUsage": encode(result.usage),
        "steps": [_step(step) for step in result.steps],
        "responseMessages": [_with_bare_data(message) for message in result.response_messages],
        "aggregate": _aggregate(result),
    }
    try:
        record["output"] = encode(result.output)
    except (NoObjectGeneratedError, NoOutputGeneratedError) as error:
        record["outputError"] = encode_error(error)
    return record


def _with_bare_data(message: ResponseMessage) -> JsonValue:
    """Inline data of a file may stand in a message bare or tagged (FORMAT.md, 4.1): the reference leaves it bare."""
    encoded = encode(message)
    content = encoded["content"] if isinstance(encoded, dict) else None
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part["type"] in {"file", "reasoning-file"} and isinstance(part["data"], dict):
            part["data"] = part["data"].get("data", part["data"])
    return encoded


def _step(step: StepResult) -> JsonValue:
    response = step.response
    return {
        "stepNumber": step.step_number,
        "model": encode(step.model),
        "content": encode(step.content),
        "text": step.text,
        "reasoningText": step.reasoning_text,
        "finishReason": step.finish_reason,
        "rawFinishReason": step.raw_finish_reason,
        "usage": encode(step.usage),
        "toolCalls": [call.tool_call_id for call in step.tool_calls],
        "toolResults": [outcome.tool_call_id for outcome in step.tool_results],
        "warnings": encode(step.warnings),
        "providerMetadata": encode(step.provider_metadata),
        "response": {
            "id": response.id,
            "modelId": response.model_id,
            "timestamp": encode(response.timestamp),
            "headers": encode(response.headers or None),
        },
        "responseMessagesCount": len(step.response_messages),
    }


def _aggregate(result: GenerateTextResult[object]) -> JsonValue:
    return {
        "toolCalls": [call.tool_call_id for call in result.tool_calls],
        "toolResults": [outcome.tool_call_id for outcome in result.tool_results],
        "dynamicToolCalls": [call.tool_call_id for call in result.tool_calls if call.dynamic],
        "files": len(result.files),
        "sources": [source.id for source in result.sources],
        "warnings": encode(result.warnings),
    }
