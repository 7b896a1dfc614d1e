"""Recorded requests of the Messages API: read back into a call, and compared with what we would send for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in, objects_in, text_in
from onion.providers.anthropic.request import to_request
from onion.providers.anthropic.traits import traits_of
from onion.spec.call import CallOptions, FunctionTool, ProviderTool, ToolChoice
from onion.spec.content import Custom, Reasoning, Text, ToolCall, ToolResult
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    CustomPart,
    ErrorTextOutput,
    FileData,
    FilePart,
    FileReference,
    FileURL,
    JsonOutput,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from tests.recorded.anthropic import ANTHROPIC
from tests.recorded.exchanges import members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec.base import JsonObject, JsonValue, ProviderOptions
    from onion.spec.content import Content
    from onion.spec.prompt import AssistantPart, Message, ToolResultOutput
    from tests.recorded.exchanges import Exchange

SAID_BY_US = frozenset({"max_tokens", "messages", "model", "stream", "system", "tool_choice", "tools"})

INEXPRESSIBLE = {
    "pa-tap-r4-t1-tool-addition-0": "a message of the role system with a tool in it, which calls have no word for"
}
"""Recorded requests that no call leads to, and why."""

ACCEPTED = {
    "a text in place of a list with one text": "the API takes both",
    "members that are null, and stream and is_error that are false": "say what holds anyway",
    "additionalProperties and anyOf of strict schemas": "are what the API asks for",
    "bounds in strict schemas": "are refused by now, and told in words",
}
"""Differences in form that are none in meaning, and why; `normalized` takes them out."""


def differences(exchange: Exchange) -> list[str]:
    """Where our request for the recorded call differs from the recorded one."""
    recorded = members(exchange.request)
    model_id = text_in(recorded, "model")
    is_stream = recorded.get("stream") is True
    sent = to_request(model_id, to_call(recorded), traits_of(model_id), is_stream=is_stream).body
    wanted, made = normalized(recorded), normalized(sent)
    assert isinstance(wanted, dict)
    assert isinstance(made, dict)
    return [
        f"{key}: {str(made.get(key))[:300]} instead of {str(wanted.get(key))[:300]}"
        for key in sorted({*wanted, *made})
        if made.get(key) != wanted.get(key)
    ]


def normalized(value: JsonValue, key: str = "") -> JsonValue:
    """*value* in one of the forms that mean the same."""
    if isinstance(value, Mapping):
        return {
            name: normalized(member, name)
            for name, member in value.items()
            if member is not None and (name, member) not in (("stream", False), ("is_error", False))
        }
    if key in ("content", "system") and isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [normalized(item) for item in value] if isinstance(value, list | tuple) else value


def to_call(body: JsonObject) -> CallOptions:
    """The call that *body* was made for."""
    budget = count_in(object_in(body, "thinking"), "budget_tokens") or 0
    choice = object_in(body, "tool_choice")
    own = {key: found for key, found in body.items() if key not in SAID_BY_US and found is not None}
    if choice.get("disable_parallel_tool_use"):
        own["disable_parallel_tool_use"] = True
    return CallOptions(
        prompt=(*_system(body.get("system")), *_messages(body)),
        max_output_tokens=(count_in(body, "max_tokens") or 0) - budget,
        tools=tuple(_tool(tool) for tool in objects_in(body, "tools")) or None,
        tool_choice=_choice(choice) if choice else None,
        provider_options={"anthropic": own} if own else None,
    )


def _system(system: JsonValue) -> Iterator[SystemMessage]:
    if isinstance(system, str):
        yield SystemMessage(content=system)
    for block in objects_in({"": system}, ""):
        yield SystemMessage(content=text_in(block, "text"), provider_options=_marks(block))


def _choice(choice: JsonObject) -> ToolChoice:
    match text_in(choice, "type"):
        case "tool":
            return ToolChoice(type="tool", tool_name=text_in(choice, "name"))
        case "any":
            return ToolChoice(type="required")
        case "none":
            return ToolChoice(type="none")
        case _:
            return ToolChoice(type="auto")


def _tool(tool: JsonObject) -> FunctionTool | ProviderTool:
    kind, name = text_in(tool, "type"), text_in(tool, "name")
    if kind:
        args = {key: found for key, found in tool.items() if key not in ("type", "name")}
        return ProviderTool(id=f"anthropic.{kind}", name=name, args=args)
    known = ("name", "description", "input_schema", "strict")
    more = {key: found for key, found in tool.items() if key not in known}
    return FunctionTool(
        name=name,
        description=text_in(tool, "description") if "description" in tool else None,
        input_schema=object_in(tool, "input_schema"),
        strict=True if tool.get("strict") else None,
        provider_options={"anthropic": more} if more else None,
    )


def _messages(body: JsonObject) -> Iterator[Message]:
    for message in objects_in(body, "messages"):
        content = message.get("content")
        written: list[JsonObject] = [{"type": "text", "text": content}]
        blocks = written if isinstance(content, str) else objects_in(message, "content")
        if text_in(message, "role") == "assistant":
            yield AssistantMessage(content=tuple(_said(blocks)))
            continue
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            yield ToolMessage(content=tuple(map(_result, results)))
        others = [block for block in blocks if block not in results]
        if others:
            yield UserMessage(content=tuple(map(_part, others)))


def _marks(block: JsonObject) -> ProviderOptions | None:
    return {"anthropic": {"cache_control": block["cache_control"]}} if block.get("cache_control") else None


def _part(block: JsonObject) -> TextPart | FilePart:
    if block.get("type") == "text":
        return TextPart(text=text_in(block, "text"), provider_options=_marks(block))
    if block.get("type") == "container_upload":
        data = FileReference(reference=text_in(block, "file_id"))
        return FilePart(media_type="*/*", data=data, provider_options={"anthropic": {"containerUpload": True}})
    source = object_in(block, "source")
    kinds = {"image": "image/png", "document": "application/pdf"}
    media_type = text_in(source, "media_type") or kinds[text_in(block, "type")]
    match text_in(source, "type"):
        case "url":
            return FilePart(media_type=media_type, data=FileURL(url=text_in(source, "url")))
        case "file":
            return FilePart(media_type=media_type, data=FileReference(reference=text_in(source, "file_id")))
        case _:
            return FilePart(media_type=media_type, data=FileData(data=text_in(source, "data")))


def _result(block: JsonObject) -> ToolResultPart:
    content = block.get("content")
    output: ToolResultOutput = TextOutput(value=content) if isinstance(content, str) else _items(block)
    if block.get("is_error") and isinstance(content, str):
        output = ErrorTextOutput(value=content)
    return ToolResultPart(
        tool_call_id=text_in(block, "tool_use_id"), tool_name="t", output=output, provider_options=_marks(block)
    )


def _items(block: JsonObject) -> ContentOutput:
    raw = {"text", "image", "document"}
    return ContentOutput(
        value=tuple(
            _part(item)
            if item.get("type") in raw
            else CustomPart(kind="anthropic.raw", provider_options={"anthropic": {"block": item}})
            for item in objects_in(block, "content")
        )
    )


def _said(blocks: list[JsonObject]) -> Iterator[AssistantPart]:
    """What an answer with those blocks leaves in a history."""
    answer: JsonObject = {"content": blocks, "stop_reason": "end_turn"}
    for part in ANTHROPIC.read(answer).content:
        kept = _kept(part)
        if kept is not None:
            yield kept


def _kept(part: Content) -> AssistantPart | None:
    options = part.provider_metadata
    match part:
        case Text():
            return TextPart(text=part.text, provider_options=options)
        case Reasoning():
            return ReasoningPart(text=part.text, provider_options=options)
        case ToolCall():
            return ToolCallPart(
                tool_call_id=part.tool_call_id,
                tool_name=part.tool_name,
                input=part.input,
                provider_executed=part.provider_executed,
                provider_options=options,
            )
        case ToolResult():
            output = JsonOutput(value=part.result)
            return ToolResultPart(
                tool_call_id=part.tool_call_id, tool_name=part.tool_name, output=output, provider_options=options
            )
        case Custom():
            return CustomPart(kind=part.kind, provider_options=options)
        case _:
            return None
