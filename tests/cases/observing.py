"""What a case can ask of an answer, read from a stream, from a whole answer, or from a run of the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion import Output, stream_text, tool
from onion.errors import JSONParseError, OnionError
from onion.providers._json import object_in, parse_json, text_in
from onion.spec.content import Reasoning, Text, ToolCall
from onion.spec.json import to_json
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamPart,
    TextDelta,
    TextStart,
)
from onion.streaming import Collector
from onion.testing import LintError
from onion.testing.rules import StreamRules
from tests.cases.case import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.loop.tools import Tool
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.model import LanguageModel
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.spec.usage import Usage


async def read(stream: StreamResult) -> list[StreamPart]:
    """All parts."""
    async with stream:
        return [part async for part in stream]


def of_parts(parts: Sequence[StreamPart]) -> dict[str, JsonValue]:
    """What can be said of a stream."""
    errors = [part.error for part in parts if isinstance(part, ErrorPart)]
    finishes = [part for part in parts if isinstance(part, FinishPart)]
    starts = [(part.type, part.id) for part in parts if isinstance(part, TextStart | ReasoningStart)]
    collector = Collector()
    for part in parts:
        if not isinstance(part, ErrorPart):
            collector.feed(part)
    content = collector.result().content
    return {
        **_of_content(content),
        "text": "".join(part.delta for part in parts if isinstance(part, TextDelta)),
        "reasoning": "".join(part.delta for part in parts if isinstance(part, ReasoningDelta)),
        "finish": finishes[-1].finish_reason.unified,
        "raw_finish": finishes[-1].finish_reason.raw,
        "usage": _usage(finishes[-1].usage),
        "finish_count": len(finishes),
        "errors": len(errors),
        "error": " ".join(f"{error} {getattr(error, 'code', '')} {getattr(error, 'type', '')}" for error in errors),
        "text_blocks": sum(isinstance(part, TextStart) for part in parts),
        "unique_block_ids": len(set(starts)) == len(starts),
        "first_reasoning_ends_before_text": _ends_before_text(parts),
        "block_ids_consistent": _broken_rule(parts) == "",
        "grammar": _broken_rule(parts),
        "raised": "",
        "raises": False,
    }


def of_failure(error: OnionError) -> dict[str, JsonValue]:
    """What can be said of a call that raised: one error, and no answer."""
    said = f"{error} {getattr(error, 'code', '')} {getattr(error, 'type', '')}"
    told: dict[str, JsonValue] = {"raised": type(error).__name__, "raises": True, "errors": 1, "error": said}
    return {**told, "text": "", "tool_calls": [], "grammar": ""}


def of_result(result: GenerateResult) -> dict[str, JsonValue]:
    """What can be said of a whole answer."""
    return {
        **_of_content(result.content),
        "text": result.text,
        "reasoning": "".join(part.text for part in result.content if isinstance(part, Reasoning)),
        "finish": result.finish_reason.unified,
        "raw_finish": result.finish_reason.raw,
        "usage": _usage(result.usage),
        "finish_count": 1,
        "errors": 0,
        "error": "",
        "raised": "",
    }


async def of_run(model: LanguageModel, names: set[str], schema: JsonValue = None) -> dict[str, JsonValue]:
    """What can be said of a run with tools of those *names* that take anything, and of the object that it gives."""
    executed: list[JsonValue] = []
    tools = [_recording(name, executed) for name in sorted(names)]
    wanted = Output.object(schema) if isinstance(schema, dict) else Output.text()
    result = stream_text(model=model, prompt="go", tools=tools, output=wanted, max_retries=0)
    object_raises = False
    invalid: list[JsonValue] = []
    steps = 0
    try:
        made = await result.steps
        steps = len(made)
        invalid = [call.tool_call_id for call in made[-1].tool_calls if call.invalid]
        await result.output
    except OnionError:
        object_raises = True
    return {"executed_tools": executed, "steps": steps, "object_raises": object_raises, "invalid_calls": invalid}


def _recording(name: str, executed: list[JsonValue]) -> Tool:
    def execute(given: object) -> str:
        del given
        executed.append(name)
        return "done"

    return tool(name=name, input_schema={"type": "object"}, execute=execute)


def _of_content(content: Sequence[object]) -> dict[str, JsonValue]:
    blocks: list[JsonValue] = [[part.type, part.text] for part in content if isinstance(part, Text | Reasoning)]
    calls = [part for part in content if isinstance(part, ToolCall) and not part.provider_executed]
    return {
        "tool_calls": [_call(part) for part in calls],
        "preferred_content": blocks,
        "content": to_json(list(content)),
        "text_metadata": to_json([part.provider_metadata for part in content if isinstance(part, Text)]),
    }


def _call(part: ToolCall) -> JsonObject:
    given: JsonValue = None
    is_invalid = False
    try:
        given = parse_json(part.input)
    except JSONParseError:
        is_invalid = True
    return {
        "id": part.tool_call_id,
        "name": part.tool_name,
        "raw": part.input,
        "input": given,
        "invalid": is_invalid or not isinstance(given, dict),
    }


def _usage(usage: Usage) -> JsonObject:
    return {
        "input": usage.input_tokens.total,
        "output": usage.output_tokens.total,
        "cached_input": usage.input_tokens.cache_read,
        "reasoning": usage.output_tokens.reasoning,
    }


def _ends_before_text(parts: Sequence[StreamPart]) -> bool:
    end = next((place for place, part in enumerate(parts) if isinstance(part, ReasoningEnd)), len(parts))
    text = next((place for place, part in enumerate(parts) if isinstance(part, TextStart)), len(parts))
    return end < text


def _broken_rule(parts: Sequence[StreamPart]) -> str:
    rules = StreamRules("the stream", strict=True)
    try:
        for part in parts:
            rules.feed(part)
        rules.ended()
    except LintError as error:
        return str(error)
    return ""


def names_of(expect: JsonObject) -> set[str]:
    """The tools that the expected calls name."""
    return {text_in(call, "name") for call in rows(expect.get("tool_calls"))} | set(object_in(expect, "tools"))
