"""Recorded requests of the Responses API, read as calls; and what of our own request for such a call may differ."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onion.providers._json import NOTHING, object_in, objects_in, text_in
from onion.spec.call import CallOptions, FunctionTool, JsonFormat, ProviderTool, ToolChoice
from onion.spec.prompt import (
    AssistantMessage,
    AssistantPart,
    ContentOutput,
    FileData,
    FilePart,
    FileURL,
    JsonOutput,
    Message,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

NAME = "openai"
_READ = ("model", "input", "instructions", "tools", "tool_choice", "text", "stream")

ACCEPTED = {
    "instructions": "are a message in front",
    "role": "developer and system are the same to the server",
    "include": "asks for more",
    "null": "says nothing",
    "stream": "is said only where it is true",
    "strict": "is said of every function, since the server takes true for granted",
    "content": "of one text may be that text, or a list with it",
}
"""What may differ, and why; `meaning` leaves it out."""


@dataclass
class _Prompt:
    messages: list[Message] = field(default_factory=list["Message"])
    said: list[AssistantPart] = field(default_factory=list["AssistantPart"])

    def add(self, message: Message) -> None:
        self.close()
        self.messages.append(message)

    def close(self) -> None:
        if self.said:
            self.messages.append(AssistantMessage(content=tuple(self.said)))
            self.said = []


def call_of(body: JsonObject) -> CallOptions:
    """The call for which somebody sent *body*."""
    prompt = _Prompt()
    if text_in(body, "instructions"):
        prompt.add(SystemMessage(content=text_in(body, "instructions")))
    given = body.get("input")
    if isinstance(given, str):
        prompt.add(UserMessage(content=(TextPart(text=given),)))
    for item in objects_in(body, "input"):
        _add(item, prompt)
    prompt.close()
    wanted = object_in(object_in(body, "text"), "format")
    options = {key: found for key, found in body.items() if key not in _READ}
    choice = _choice(body.get("tool_choice"))
    if choice is None:  # a choice among several has no word of ours
        options["tool_choice"] = body.get("tool_choice")
    return CallOptions(
        prompt=tuple(prompt.messages),
        tools=tuple(_tool(tool) for tool in objects_in(body, "tools")) or None,
        tool_choice=choice,
        response_format=_format(wanted) if wanted else None,
        provider_options={NAME: options},
    )


def _own(item: JsonObject, **more: JsonValue) -> dict[str, JsonObject]:
    told = {"itemId": item.get("id"), **more}
    return {NAME: {key: found for key, found in told.items() if found is not None}}


def _add(item: JsonObject, prompt: _Prompt) -> None:
    kind = text_in(item, "type") or text_in(item, "role")
    match kind:
        case "user":
            prompt.add(UserMessage(content=tuple(_parts(item.get("content")))))
        case "system":
            prompt.add(SystemMessage(content=text_in(item, "content")))
        case "assistant":
            prompt.said.append(TextPart(text=text_in(item, "content")))
        case "message":
            text = "".join(text_in(part, "text") for part in objects_in(item, "content"))
            prompt.said.append(TextPart(text=text, provider_options=_own(item)))
        case "reasoning":
            own = _own(item, reasoningEncryptedContent=item.get("encrypted_content"))
            texts = [text_in(part, "text") for part in objects_in(item, "summary")] or [""]
            prompt.said += [ReasoningPart(text=text, provider_options=own) for text in texts]
        case "function_call":
            own = _own(item, namespace=item.get("namespace"))
            arguments: JsonValue = json.loads(text_in(item, "arguments"))
            call_id, name = text_in(item, "call_id"), text_in(item, "name")
            prompt.said.append(
                ToolCallPart(tool_call_id=call_id, tool_name=name, input=arguments, provider_options=own)
            )
        case "code_interpreter_call":
            prompt.said += _code(item)
        case "function_call_output":
            found = item.get("output")
            output = TextOutput(value=found) if isinstance(found, str) else ContentOutput(value=tuple(_parts(found)))
            result = ToolResultPart(tool_call_id=text_in(item, "call_id"), tool_name="t", output=output)
            prompt.add(ToolMessage(content=(result,)))
        case _:
            msg = f"an item of type {kind!r}"
            raise NotImplementedError(msg)


def _code(item: JsonObject) -> list[AssistantPart]:
    own = _own(item, itemType=item.get("type"))
    call_id, name = text_in(item, "id"), "code_interpreter"
    given: JsonObject = {key: item[key] for key in ("code", "container_id")}
    rest: JsonObject = {key: item[key] for key in ("outputs", "status")}
    call = ToolCallPart(tool_call_id=call_id, tool_name=name, input=given, provider_executed=True, provider_options=own)
    output = JsonOutput(value=rest)
    return [call, ToolResultPart(tool_call_id=call_id, tool_name=name, output=output, provider_options=own)]


def _parts(content: JsonValue) -> list[TextPart | FilePart]:
    if isinstance(content, str):
        return [TextPart(text=content)]
    parts: list[TextPart | FilePart] = []
    for part in objects_in({"": content}, ""):
        address = text_in(part, "image_url") or text_in(part, "file_url") or text_in(part, "file_data")
        if not address:
            parts.append(TextPart(text=text_in(part, "text")))
            continue
        kind, _, data = address.removeprefix("data:").partition(";base64,")
        is_image = part.get("type") == "input_image"
        media_type = kind if data else "image/*" if is_image else "application/pdf"
        detail = {NAME: {"image_detail": part["detail"]}} if "detail" in part else None
        parts.append(
            FilePart(
                media_type=media_type,
                data=FileData(data=data) if data else FileURL(url=address),
                filename=text_in(part, "filename") or None,
                provider_options=detail,
            )
        )
    return parts


def _tool(tool: JsonObject) -> FunctionTool | ProviderTool:
    if tool.get("type") != "function":
        args = {key: found for key, found in tool.items() if key != "type"}
        return ProviderTool(id=f"openai.{tool['type']}", name=str(tool["type"]), args=args)
    strict = tool.get("strict")
    known = ("type", "name", "description", "parameters", "strict")
    more = {key: found for key, found in tool.items() if key not in known}
    return FunctionTool(
        name=text_in(tool, "name"),
        description=text_in(tool, "description") if "description" in tool else None,
        input_schema=object_in(tool, "parameters"),
        strict=strict if isinstance(strict, bool) else None,
        provider_options={NAME: more} if more else None,
    )


def _choice(given: JsonValue) -> ToolChoice | None:
    if given in ("auto", "none", "required"):
        return ToolChoice(type="auto" if given == "auto" else "none" if given == "none" else "required")
    chosen = given if isinstance(given, dict) else NOTHING
    return ToolChoice(type="tool", tool_name=text_in(chosen, "name")) if chosen.get("type") == "function" else None


def _format(wanted: JsonObject) -> JsonFormat:
    strict = wanted.get("type") == "json_schema"
    return JsonFormat(
        schema=object_in(wanted, "schema") if strict else None,
        name=text_in(wanted, "name") or None,
        description=text_in(wanted, "description") or None,
    )


def meaning(body: JsonObject) -> dict[str, JsonValue]:
    """*body* without what may differ."""
    found: dict[str, JsonValue] = {key: _plain(value) for key, value in body.items() if value is not None}
    instructions = found.pop("instructions", None)
    items = found.get("input")
    plain: list[JsonValue] = [{"role": "system", "content": instructions}] if instructions else []
    found["input"] = plain + (items if isinstance(items, list) else [{"role": "user", "content": items}])
    for key in ("include", *(("stream",) if not found.get("stream") else ())):
        found.pop(key, None)
    return found


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _plain(found) for key, found in value.items() if found is not None}
    if kept.get("role") == "developer":
        kept["role"] = "system"
    if kept.get("type") == "function" and "parameters" in kept:
        kept.pop("strict", None)
    content = kept.get("content")
    only = content[0] if isinstance(content, list) and len(content) == 1 else None
    if isinstance(only, dict) and only.get("type") == "input_text":
        kept["content"] = only.get("text")
    return kept
