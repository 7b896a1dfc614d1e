"""Runs of the loop in both modes, and what can be said of them afterwards."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from onion import GenerateTextResult, generate_text, stream_text
from onion.errors import OnionError
from onion.loop.messages import error_text
from onion.providers._json import text_in
from onion.spec.base import JsonObject, JsonValue
from onion.spec.content import Reasoning
from onion.spec.full_stream import Finish, FullStreamPart
from onion.spec.json import to_json
from onion.spec.parts import ErrorPart
from onion.spec.prompt import ToolMessage, ToolResultPart
from onion.spec.tools import TypedToolCall, TypedToolError, TypedToolResult
from tests.cases.case import rows
from tests.cases.convert import REQUESTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.loop import RunOptions
    from onion.spec.prompt import Message, Prompt

Mode: TypeAlias = Literal["generate", "stream"]
MODES: tuple[Mode, ...] = ("generate", "stream")


@dataclass(slots=True)
class Ran:
    """A run that has ended.

    Attributes:
        result: None if it failed.
        parts: The full stream, if it was streamed.
    """

    result: GenerateTextResult[str] | None = None
    error: Exception | None = None
    parts: list[FullStreamPart] = field(default_factory=list["FullStreamPart"])


async def ran(options: RunOptions, mode: Mode) -> Ran:
    """Run to the end. What is no OnionError passes."""
    if mode == "generate":
        try:
            return Ran(await generate_text(**options))
        except OnionError as error:
            return Ran(error=error)
    result = stream_text(**options)
    parts = [part async for part in result.full_stream]
    try:
        return Ran(await result.consume(), parts=parts)
    except OnionError as error:
        return Ran(error=error, parts=parts)


def of_run(run: Ran) -> dict[str, JsonValue]:
    """What can be said of a run."""
    finishes = [part for part in run.parts if isinstance(part, Finish)]
    if run.result is None:
        return {
            "raises": type(run.error).__name__,
            "error": f"{run.error} {getattr(run.error, 'code', '')} {getattr(run.error, 'type', '')}",
            "errors": 1,
            "finish_count": len(finishes),
        }
    steps = run.result.steps
    content = [part for step in steps for part in step.content]
    failures = [part.tool_call_id for part in content if isinstance(part, TypedToolError)]
    answered = failures + [part.tool_call_id for part in content if isinstance(part, TypedToolResult)]
    calls = [call for step in steps for call in step.tool_calls]
    messages = run.result.response_messages
    return {
        "raises": "",
        "error": " ".join(error_text(part.error) for part in content if isinstance(part, TypedToolError)),
        "finish_count": len(finishes) if run.parts else 1,
        "reasoning": "".join(part.text for part in content if isinstance(part, Reasoning)),
        "usage": {"input": run.result.usage.input_tokens, "output": run.result.usage.output_tokens},
        "tool_calls": [_call(call) for call in calls],
        "steps": len(steps),
        "text": run.result.text,
        "finish": run.result.finish_reason,
        "error_results": list[JsonValue](failures),
        "errors": sum(isinstance(part, ErrorPart) for part in run.parts),
        "open_calls": [call.tool_call_id for call in calls if call.tool_call_id not in answered],
        "result_ids": list[JsonValue](result_ids(messages)),
        "tool_result_order": list[JsonValue](result_ids(messages)),
        "last_message_role": messages[-1].role if messages else None,
        "response_messages": to_json(messages),
        # A UI stream makes one part per call id of a run whose full stream holds one outcome for each.
        "ui_parts_per_call_id": max(Counter(answered).values(), default=0),
    }


def _call(call: TypedToolCall) -> JsonObject:
    return {
        "id": call.tool_call_id,
        "name": call.tool_name,
        "input": call.input,
        "invalid": call.invalid is True,
    }


def result_ids(messages: Sequence[Message]) -> list[str]:
    """The ids of the tool results in *messages*, in order."""
    return [
        part.tool_call_id
        for message in messages
        if isinstance(message, ToolMessage)
        for part in message.content
        if isinstance(part, ToolResultPart)
    ]


def request_text(prompt: Prompt) -> str:
    """The bytes of a request in the chat format."""
    return json.dumps(REQUESTS["openai-chat"](prompt, {}))


def sent_results(prompt: Prompt) -> dict[str, JsonValue]:
    """By call id, the text of each tool result as the chat format sends it."""
    body = REQUESTS["openai-chat"](prompt, {})
    messages = rows(body.get("messages")) if isinstance(body, dict) else []
    return {
        text_in(message, "tool_call_id"): text_in(message, "content")
        for message in messages
        if message.get("role") == "tool"
    }
