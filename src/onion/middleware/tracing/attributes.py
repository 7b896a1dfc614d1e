"""What spans and metrics say of calls and answers: functions from values to attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import TypeValidationError
from onion.middleware._masking import mask_json, mask_text
from onion.middleware.tracing import names
from onion.spec.content import Reasoning, Text, ToolCall
from onion.spec.json import to_json
from onion.spec.prompt import ReasoningPart, SystemMessage, TextPart, ToolCallPart, ToolResultPart

if TYPE_CHECKING:
    from onion.spec.base import JsonValue, ProviderMetadata
    from onion.spec.call import CallOptions
    from onion.spec.content import Content
    from onion.spec.prompt import AssistantMessage, ToolMessage, UserMessage
    from onion.spec.usage import Usage

Attribute: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = dict[str, Attribute]

MAX_CONTENT_LENGTH = 4_000


def put(found: Attributes, name: str, value: Attribute | None) -> None:
    """Add what is known."""
    if value is not None:
        found[name] = value


def common_attributes(operation: str, provider: str, model_id: str) -> Attributes:
    """What spans and metrics of a model share."""
    first = provider.partition(".")[0]
    return {
        names.OPERATION_NAME: operation,
        names.PROVIDER_NAME: names.PROVIDERS.get(first, first),
        names.REQUEST_MODEL: model_id,
    }


def request_attributes(params: CallOptions, *, is_stream: bool) -> Attributes:
    """What a chat span says before the model is called, beside what it shares with the metrics."""
    found: Attributes = {names.REQUEST_STREAM: is_stream}
    put(found, names.REQUEST_MAX_TOKENS, params.max_output_tokens)
    put(found, names.REQUEST_TEMPERATURE, params.temperature)
    put(found, names.REQUEST_TOP_P, params.top_p)
    put(found, names.REQUEST_TOP_K, params.top_k)
    put(found, names.REQUEST_FREQUENCY_PENALTY, params.frequency_penalty)
    put(found, names.REQUEST_PRESENCE_PENALTY, params.presence_penalty)
    put(found, names.REQUEST_STOP_SEQUENCES, params.stop_sequences)
    put(found, names.REQUEST_SEED, params.seed)
    if params.response_format is not None:
        found[names.OUTPUT_TYPE] = params.response_format.type
    if params.run is not None:
        found[names.RUN_ID] = params.run.run_id
        found[names.STEP] = params.run.step_number
    return found


def put_usage(found: Attributes, usage: Usage) -> None:
    """Add the tokens of one call. Tokens read from a provider's cache are part of the input tokens."""
    spent, wrote = usage.input_tokens, usage.output_tokens
    put(found, names.USAGE_INPUT_TOKENS, spent.total)
    put(found, names.USAGE_OUTPUT_TOKENS, wrote.total)
    put(found, names.USAGE_CACHE_READ, spent.cache_read)
    put(found, names.USAGE_CACHE_CREATION, spent.cache_write)
    put(found, names.USAGE_REASONING, wrote.reasoning)


def is_cache_hit(metadata: ProviderMetadata | None) -> bool:
    """Whether a cache of ours gave the answer, so that nobody paid for it now."""
    if metadata is None:
        return False
    cache = metadata.get("onion", {}).get("cache")
    return isinstance(cache, Mapping) and cache.get("hit") is True


def prompt_attributes(params: CallOptions) -> Attributes:
    """Instructions, messages and tools of a call as JSON, masked and bounded."""
    instructions = [_text(message.content) for message in params.prompt if isinstance(message, SystemMessage)]
    messages = [_message(message) for message in params.prompt if not isinstance(message, SystemMessage)]
    tools = [to_json(tool) for tool in params.tools or ()]
    return {
        name: _dump(found)
        for name, found in (
            (names.SYSTEM_INSTRUCTIONS, instructions),
            (names.INPUT_MESSAGES, messages),
            (names.TOOL_DEFINITIONS, tools),
        )
        if found
    }


def answer_attributes(content: Sequence[Content], finish_reason: str) -> Attributes:
    """The content of an answer as JSON, masked and bounded."""
    parts = [_content(part) for part in content]
    return {names.OUTPUT_MESSAGES: _dump([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}])}


def value_text(value: object) -> str:
    """A tool's input or output as JSON, masked and bounded; what has no JSON form as text."""
    try:
        return _dump(to_json(value))
    except TypeValidationError:
        return mask_text(str(value), MAX_CONTENT_LENGTH)


def _dump(value: JsonValue) -> str:
    return json.dumps(mask_json(value, MAX_CONTENT_LENGTH), ensure_ascii=False)


def _text(content: str) -> dict[str, JsonValue]:
    return {"type": "text", "content": content}


def _message(message: UserMessage | AssistantMessage | ToolMessage) -> dict[str, JsonValue]:
    parts: list[JsonValue] = []
    for part in message.content:
        match part:
            case TextPart():
                parts.append(_text(part.text))
            case ReasoningPart():
                parts.append({"type": "reasoning", "content": part.text})
            case ToolCallPart():
                parts.append(
                    {"type": "tool_call", "id": part.tool_call_id, "name": part.tool_name, "arguments": part.input}
                )
            case ToolResultPart():
                result = to_json(part.output)
                parts.append({"type": "tool_call_response", "id": part.tool_call_id, "response": result})
            case _:
                parts.append({"type": part.type})
    return {"role": message.role, "parts": parts}


def _content(part: Content) -> JsonValue:
    match part:
        case Text():
            return _text(part.text)
        case Reasoning():
            return {"type": "reasoning", "content": part.text}
        case ToolCall():
            return {"type": "tool_call", "id": part.tool_call_id, "name": part.tool_name, "arguments": part.input}
        case _:
            return {"type": part.type}
