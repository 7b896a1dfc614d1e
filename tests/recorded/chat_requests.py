"""Recorded requests of chat servers: read back into a call, and compared with what we would send for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._chat import ChatDialect, to_request
from onion.providers._json import object_in, objects_in, text_in
from onion.providers.openai_chat.quirks import OPENAI
from onion.providers.openai_chat.vendors import VENDORS
from onion.spec.call import CallOptions, FunctionTool, JsonFormat, ToolChoice
from onion.spec.prompt import (
    AssistantMessage,
    FileData,
    FilePart,
    FileURL,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from tests.recorded.exchanges import members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec.base import JsonObject, JsonValue, ProviderOptions
    from onion.spec.prompt import AssistantPart, Message
    from tests.recorded.exchanges import Exchange

_READ = frozenset({"messages", "model", "response_format", "stream", "stream_options", "tool_choice", "tools"})
_SETTINGS = ("temperature", "top_p")

ACCEPTED = {
    "members that are null, and stream and prefix that are false": "say what holds anyway",
    "an empty list of tools, of calls or of content": "is none",
    "one text in a list": "is that text",
    "index of a call that goes back": "is the order of the list",
    "type of a tool": "is always function, and may be left out where only that one exists",
    "tool_choice any": "is the older word of Mistral for required, which it takes as well",
    "max_completion_tokens for max_tokens": "OpenRouter knows both",
}
"""Differences in form that are none in meaning, and why; `normalized` takes them out."""


def dialect_of(vendor: str) -> ChatDialect:
    """How we speak to that vendor; in the common form to those who have no preset."""
    known = VENDORS.get(vendor)
    return OPENAI if vendor == "openai" else known.dialect if known else ChatDialect(name=vendor)


def differences(exchange: Exchange) -> list[str]:
    """Where our request for the recorded call differs from the recorded one."""
    recorded = members(exchange.request)
    dialect = dialect_of(exchange.vendor)
    is_stream = recorded.get("stream") is True
    sent = to_request(text_in(recorded, "model"), to_call(recorded, dialect), dialect, is_stream=is_stream).body
    wanted, made = members(normalized(recorded)), members(normalized(sent))
    if is_stream and "stream_options" not in wanted:
        made = {key: found for key, found in made.items() if key != "stream_options"}  # asks for more
    return [
        f"{key}: {str(made.get(key))[:300]} instead of {str(wanted.get(key))[:300]}"
        for key in sorted({*wanted, *made})
        if made.get(key) != wanted.get(key)
    ]


def normalized(value: JsonValue, key: str = "") -> JsonValue:
    """*value* in one of the forms that mean the same."""
    if isinstance(value, Mapping):
        kept = {name: normalized(member, name) for name, member in value.items() if not _says_nothing(name, member)}
        if "function" in kept:
            kept["type"] = "function"
            kept.pop("index", None)
        if "max_completion_tokens" in kept:
            kept["max_tokens"] = kept.pop("max_completion_tokens")
        return kept
    only = members(value[0] if isinstance(value, list) and len(value) == 1 else None)
    if key == "content" and set(only) == {"type", "text"}:
        return only["text"]
    if key == "tool_choice" and value == "any":
        return "required"
    return [normalized(item) for item in value] if isinstance(value, list | tuple) else value


def _says_nothing(name: str, member: JsonValue) -> bool:
    is_empty = name in ("content", "tool_calls", "tools") and member == []
    return member is None or is_empty or (name in ("stream", "prefix") and member is False)


def to_call(body: JsonObject, dialect: ChatDialect) -> CallOptions:
    """The call that *body* was made for."""
    own = {key: found for key, found in body.items() if key not in (*_READ, *_SETTINGS, dialect.max_tokens_key)}
    messages = objects_in(body, "messages")
    if any(message.get("role") == "developer" for message in messages):
        own["system_message_mode"] = "developer"
    limit = body.get(dialect.max_tokens_key)
    settings = {key: found for key in _SETTINGS if isinstance(found := body.get(key), int | float)}
    return CallOptions(
        prompt=tuple(_message(message, dialect) for message in messages),
        max_output_tokens=limit if isinstance(limit, int) else None,
        temperature=settings.get("temperature"),
        top_p=settings.get("top_p"),
        response_format=_format(object_in(body, "response_format")),
        tools=tuple(map(_tool, objects_in(body, "tools"))) or None,
        tool_choice=_choice(body.get("tool_choice")),
        provider_options={dialect.name: own} if own else None,
    )


def _format(wanted: JsonObject) -> JsonFormat | None:
    if not wanted:
        return None
    told = object_in(wanted, "json_schema")
    return JsonFormat(schema=object_in(told, "schema") or None, name=text_in(told, "name") or None)


def _choice(given: JsonValue) -> ToolChoice | None:
    match given:
        case {"function": {"name": str(name)}}:
            return ToolChoice(type="tool", tool_name=name)
        case "any" | "required":
            return ToolChoice(type="required")
        case "none":
            return ToolChoice(type="none")
        case "auto":
            return ToolChoice(type="auto")
        case _:
            return None


def _tool(tool: JsonObject) -> FunctionTool:
    function = object_in(tool, "function")
    return FunctionTool(
        name=text_in(function, "name"),
        description=text_in(function, "description"),
        input_schema=object_in(function, "parameters"),
        strict=True if function.get("strict") else None,
    )


def _message(message: JsonObject, dialect: ChatDialect) -> Message:
    match text_in(message, "role"):
        case "system" | "developer":
            (text,) = _parts(message, dialect)
            assert isinstance(text, TextPart)
            return SystemMessage(content=text.text, provider_options=text.provider_options)
        case "user":
            return UserMessage(content=tuple(_parts(message, dialect)))
        case "tool":
            output = TextOutput(value=text_in(message, "content"))
            call_id = text_in(message, "tool_call_id")
            return ToolMessage(content=(ToolResultPart(tool_call_id=call_id, tool_name="t", output=output),))
        case _:
            return AssistantMessage(content=tuple(_said(message, dialect)))


def _said(message: JsonObject, dialect: ChatDialect) -> Iterator[AssistantPart]:
    if text_in(message, "reasoning"):
        yield ReasoningPart(
            text=text_in(message, "reasoning"), provider_options={dialect.name: {"reasoning_field": "reasoning"}}
        )
    for part in _parts(message, dialect):
        assert isinstance(part, TextPart)
        yield part
    for call in objects_in(message, "tool_calls"):
        function = object_in(call, "function")
        name, arguments = text_in(function, "name"), text_in(function, "arguments")
        yield ToolCallPart(tool_call_id=text_in(call, "id"), tool_name=name, input=arguments)


def _parts(message: JsonObject, dialect: ChatDialect) -> Iterator[TextPart | FilePart]:
    content = message.get("content")
    if isinstance(content, str):
        yield TextPart(text=content)
    for part in objects_in(message, "content"):
        kind = text_in(part, "type")
        own = {key: found for key, found in part.items() if key not in ("type", kind)}
        options: ProviderOptions | None = {dialect.name: own} if own else None
        if kind == "text":
            yield TextPart(text=text_in(part, "text"), provider_options=options)
        else:
            yield _file(object_in(part, kind), kind, options)


def _file(told: JsonObject, kind: str, options: ProviderOptions | None) -> FilePart:
    if kind == "input_audio":
        media_type = f"audio/{told['format']}"
        return FilePart(media_type=media_type, data=FileData(data=text_in(told, "data")), provider_options=options)
    address = text_in(told, "url") or text_in(told, "file_data")
    media_type, _, data = address.removeprefix("data:").partition(";base64,")
    return FilePart(
        media_type=media_type if data else "image/*",
        data=FileData(data=data) if data else FileURL(url=address),
        filename=text_in(told, "filename") or None,
        provider_options=options,
    )
