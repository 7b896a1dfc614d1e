"""Recorded requests of the Gemini API: read back into a call, and compared with what we would send for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import object_in, objects_in, text_in
from onion.providers.google.request import to_request
from onion.providers.google.traits import traits_of
from onion.spec.call import CallOptions, FunctionTool, JsonFormat, ProviderTool, ToolChoice
from onion.spec.content import Text, ToolCall, ToolResult
from onion.spec.naming import camel
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    ErrorJsonOutput,
    FileData,
    FilePart,
    FileURL,
    JsonOutput,
    SystemMessage,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from tests.recorded.exchanges import members
from tests.recorded.gemini import GEMINI

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.content import Content
    from onion.spec.prompt import AssistantPart, Message
    from tests.recorded.exchanges import Exchange

INEXPRESSIBLE = {
    "pa-google-model-thinking-part-iter-0": "a function described in the older way, with types in capitals",
}
"""Recorded requests that no call of ours leads to, and why."""

ACCEPTED = {
    "names with underscores": "the API takes both spellings",
    "the role of the system instruction": "says nothing",
    "neighbouring contents of one role": "are one content",
    "texts that are empty": "are left out",
    "the name under which a result stands": "is output, which the API asks for",
    "a list of all functions beside the mode ANY": "is what ANY means",
    "objects that are empty": "say nothing",
}
"""Differences in form that are none in meaning, and why; `normalized` takes them out."""

_FOREIGN_INSIDES = frozenset({"args", "properties", "response", "responseJsonSchema", "responseSchema"})


def differences(exchange: Exchange) -> list[str]:
    """Where our request for the recorded call differs from the recorded one."""
    recorded = members(spelled(exchange.request))
    traits = traits_of(exchange.model)
    sent = to_request(exchange.model, to_call(recorded), traits, is_stream=exchange.sse is not None).body
    wanted, made = normalized(recorded), normalized(sent)
    return [
        f"{key}: {str(made.get(key))[:500]} instead of {str(wanted.get(key))[:500]}"
        for key in sorted({*wanted, *made})
        if made.get(key) != wanted.get(key)
    ]


def spelled(value: JsonValue, key: str = "") -> JsonValue:
    """*value* with the API's names in capitals, but for names that are a user's."""
    if isinstance(value, Mapping) and key not in _FOREIGN_INSIDES:
        return {camel(name): spelled(member, camel(name)) for name, member in value.items()}
    return [spelled(item) for item in value] if isinstance(value, list | tuple) else value


def normalized(body: JsonObject) -> dict[str, JsonValue]:
    """*body* in one of the forms that mean the same."""
    contents: list[dict[str, JsonValue]] = []
    for content in objects_in(body, "contents"):
        parts: list[JsonValue] = [_plain(part) for part in objects_in(content, "parts") if part.get("text") != ""]
        if parts and contents and contents[-1]["role"] == content["role"]:
            before = contents[-1]["parts"]
            contents[-1]["parts"] = [*(before if isinstance(before, list) else []), *parts]
        elif parts:
            contents.append({"role": content["role"], "parts": parts})
    system: JsonValue = [*objects_in(object_in(body, "systemInstruction"), "parts")]
    found = {**body, "contents": contents, "systemInstruction": system, "toolConfig": _tool_config(body)}
    return {key: member for key, member in found.items() if member not in ({}, [], None)}


def _plain(part: JsonObject) -> JsonObject:
    response = object_in(part, "functionResponse")
    if not response:
        return part
    given = object_in(response, "response")
    if response.get("parts"):
        given = {}
    elif "error" not in given and set(given) != {"output"}:
        given = {"output": given}
    return {"functionResponse": {**response, "response": given}}


def _tool_config(body: JsonObject) -> JsonObject:
    config = dict(object_in(body, "toolConfig"))
    calling = dict(object_in(config, "functionCallingConfig"))
    if calling.get("allowedFunctionNames") == [text_in(each, "name") for each in _functions(body)]:
        del calling["allowedFunctionNames"]
    return {**config, "functionCallingConfig": calling} if calling else config


def _functions(body: JsonObject) -> list[JsonObject]:
    return [each for tool in objects_in(body, "tools") for each in objects_in(tool, "functionDeclarations")]


def to_call(body: JsonObject) -> CallOptions:
    """The call that *body* was made for."""
    config = dict(object_in(body, "generationConfig"))
    mode = text_in(object_in(object_in(body, "toolConfig"), "functionCallingConfig"), "mode")
    choices = {"ANY": ToolChoice(type="required"), "NONE": ToolChoice(type="none")}
    own = {key: found for key, found in body.items() if key not in ("contents", "systemInstruction", "tools")}
    if mode in choices:
        own["toolConfig"] = {key: found for key, found in object_in(body, "toolConfig").items() if "Server" in key}
    wanted = None
    if "responseJsonSchema" in config:
        wanted = JsonFormat(schema=object_in(config, "responseJsonSchema"))
        own["generationConfig"] = {key: found for key, found in config.items() if key == "responseModalities"}
    names = _call_names(body)
    system = objects_in(object_in(body, "systemInstruction"), "parts")
    said = [message for content in objects_in(body, "contents") for message in _messages(content, names)]
    return CallOptions(
        prompt=(*(SystemMessage(content=text_in(part, "text")) for part in system), *said),
        tools=tuple(_tools(body)) or None,
        tool_choice=choices.get(mode),
        response_format=wanted,
        provider_options={"google": own},
    )


def _call_names(body: JsonObject) -> dict[str, str]:
    parts = [part for content in objects_in(body, "contents") for part in objects_in(content, "parts")]
    calls = [object_in(part, "functionCall") for part in parts]
    return {text_in(call, "id"): text_in(call, "name") for call in calls}


def _tools(body: JsonObject) -> Iterator[FunctionTool | ProviderTool]:
    for tool in objects_in(body, "tools"):
        for kind in tool:
            if kind != "functionDeclarations":
                snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind)
                yield ProviderTool(id=f"google.{snake}", name=snake, args=object_in(tool, kind))
    for each in _functions(body):
        schema = object_in(each, "parametersJsonSchema")
        yield FunctionTool(name=text_in(each, "name"), description=text_in(each, "description"), input_schema=schema)


def _messages(content: JsonObject, names: Mapping[str, str]) -> Iterator[Message]:
    parts = objects_in(content, "parts")
    if content.get("role") == "model":
        yield AssistantMessage(content=tuple(_kept(said) for part in parts for said in _read(part)))
        return
    for part in parts:
        if "functionResponse" in part:
            yield ToolMessage(content=(_result(object_in(part, "functionResponse"), names),))
        else:
            yield UserMessage(content=(_part(part),))


def _read(part: JsonObject) -> tuple[Content, ...]:
    return GEMINI.read({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}).content


def _part(part: JsonObject) -> TextPart | FilePart:
    if "text" in part:
        return TextPart(text=text_in(part, "text"))
    inline, stored = object_in(part, "inlineData"), object_in(part, "fileData")
    data = FileData(data=text_in(inline, "data")) if inline else FileURL(url=text_in(stored, "fileUri"))
    return FilePart(media_type=text_in(inline or stored, "mimeType"), data=data)


def _result(response: JsonObject, names: Mapping[str, str]) -> ToolResultPart:
    call_id, given = text_in(response, "id"), object_in(response, "response")
    output: JsonOutput | ErrorJsonOutput = JsonOutput(value=given["output"] if set(given) == {"output"} else given)
    if "error" in given:
        output = ErrorJsonOutput(value=given["error"])
    files = tuple(map(_part, objects_in(response, "parts")))
    return ToolResultPart(
        tool_call_id=call_id, tool_name=names[call_id], output=ContentOutput(value=files) if files else output
    )


def _kept(part: Content) -> AssistantPart:
    """What a part of an answer leaves in a history."""
    options = part.provider_metadata
    match part:
        case Text():
            return TextPart(text=part.text, provider_options=options)
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
        case _:
            raise AssertionError(f"a recorded history holds {part.type}")
