"""The body of a request of the Responses API: settings, tools, text format and input. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from onion.providers._json import NOTHING, object_in, text_in
from onion.providers._model import WireRequest
from onion.providers._tooling import fits_strict
from onion.providers._traits import effort_for
from onion.providers.openai_responses.files import own_options
from onion.providers.openai_responses.items import CLIENT_TOOLS, TOOL_PREFIX, TOOL_TYPES, tool_of
from onion.providers.openai_responses.prompt import to_input
from onion.spec.call import FunctionTool, JsonFormat, ProviderTool
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers.openai_responses.dialect import ResponsesDialect
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions, ToolChoice

PATH = "/responses"
_OPTIONS_OF_OURS = frozenset(
    {
        "include",
        "item_references",
        "logprobs",
        "reasoning_effort",
        "reasoning_summary",
        "strict_json_schema",
        "system_message_mode",
        "text_verbosity",
    }
)
_DEFAULT_SCHEMA_NAME = "response"
_INCLUDED_FOR_TOOLS = {
    "web_search": "web_search_call.action.sources",
    "web_search_preview": "web_search_call.action.sources",
    "code_interpreter": "code_interpreter_call.outputs",
}
"""What the API leaves out of the results of its tools unless it is asked for."""
_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
_ENCRYPTED = "reasoning.encrypted_content"
_LOGPROBS = "message.output_text.logprobs"


def to_request(
    model_id: str, params: CallOptions, dialect: ResponsesDialect, *, is_stream: bool = False
) -> WireRequest:
    """The request for one call.

    Provider options under the dialect's name go into the body as they are, the API's own names and the last word;
    None takes a member out. Ours among them: ``reasoning_effort``, ``reasoning_summary``, ``text_verbosity``,
    ``strict_json_schema``, ``logprobs`` (a number), ``system_message_mode``, ``item_references``; ``include`` adds to
    what is asked for anyway.

    Raises:
        UnsupportedFunctionalityError: When the prompt holds what the API has no word for.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    options = snake_case((params.provider_options or {}).get(dialect.name, NOTHING))
    warnings: list[CallWarning] = []
    traits = dialect.traits(model_id)
    role = "developer" if dialect.has_developer_role and traits.takes_effort else "system"
    body: dict[str, JsonValue] = {"model": model_id}
    body["input"] = to_input(
        params.prompt,
        dialect.name,
        system_role=text_in(options, "system_message_mode") or role,
        is_stored=options.get("store") is not False,
        is_continued=bool(options.get("conversation")),
        call_types=_call_types(params),
        warnings=warnings,
    )
    if options.get("item_references") and options.get("store") is not False:
        body["input"] = [_reference(item) for item in objects(body["input"])]
    body |= _settings(model_id, params, dialect, options, warnings)
    body |= _tools(params, dialect, warnings)
    body |= _text(params, options)
    body["include"] = _included(dialect, options, body, takes_effort=traits.takes_effort)
    if is_stream:
        body["stream"] = True
    for key, found in options.items():
        if key not in _OPTIONS_OF_OURS:
            body[key] = {**object_in(body, key), **found} if isinstance(found, Mapping) else found
    kept = {key: found for key, found in body.items() if found is not None}
    return WireRequest(path=PATH, body=kept, warnings=tuple(warnings))


def snake_case(options: JsonObject) -> JsonObject:
    """The options with the API's own names: ``previousResponseId``, as TypeScript has it, is taken as well."""
    return {_HUMP.sub(lambda hump: f"_{hump[0].lower()}", key): found for key, found in options.items()}


def objects(items: JsonValue) -> list[JsonObject]:
    """The objects in a list."""
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _reference(item: JsonObject) -> JsonObject:
    """What the server made, by its id alone; everything else as it is."""
    return {"type": "item_reference", "id": item["id"]} if item.get("id") else item


def _settings(
    model_id: str, params: CallOptions, dialect: ResponsesDialect, options: JsonObject, warnings: list[CallWarning]
) -> Mapping[str, JsonValue]:
    unknown: Mapping[str, object] = {
        "top_k": params.top_k,
        "presence_penalty": params.presence_penalty,
        "frequency_penalty": params.frequency_penalty,
        "seed": params.seed,
        "stop_sequences": params.stop_sequences or None,
    }
    warnings += [UnsupportedWarning(feature=name) for name, wanted in unknown.items() if wanted is not None]
    traits = dialect.traits(model_id)
    effort = options.get("reasoning_effort", effort_for(model_id, params.reasoning, traits, warnings))
    reasoning = {"effort": effort, "summary": options.get("reasoning_summary")}
    reasoning = {key: found for key, found in reasoning.items() if found is not None}
    settings: dict[str, JsonValue] = {
        "max_output_tokens": params.max_output_tokens,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "reasoning": reasoning or None,
    }
    count = options.get("logprobs")
    if isinstance(count, int) and not isinstance(count, bool):
        settings["top_logprobs"] = count
    said = object_in(options, "reasoning").get("effort", effort)
    refused = traits.refuses if said == "none" else traits.refuses | traits.refuses_unless_effort_none
    for key in sorted(refused):
        if settings.get(key) is not None:
            settings[key] = None
            details = f"{model_id} refuses it" + ("" if key in traits.refuses else " while it reasons")
            warnings.append(UnsupportedWarning(feature=key, details=details))
    return settings


def _text(params: CallOptions, options: JsonObject) -> Mapping[str, JsonValue]:
    text: dict[str, JsonValue] = {}
    wanted = params.response_format
    if isinstance(wanted, JsonFormat):
        text["format"] = _format(wanted, options)
    verbosity = options.get("text_verbosity")
    if verbosity is not None:
        text["verbosity"] = verbosity
    return {"text": text} if text else {}


def _format(wanted: JsonFormat, options: JsonObject) -> JsonObject:
    if wanted.schema is None:
        return {"type": "json_object"}
    said = options.get("strict_json_schema")
    schema: dict[str, JsonValue] = {
        "type": "json_schema",
        "name": wanted.name or _DEFAULT_SCHEMA_NAME,
        "schema": wanted.schema,
        "strict": said if isinstance(said, bool) else fits_strict(wanted.schema),
    }
    if wanted.description is not None:
        schema["description"] = wanted.description
    return schema


def _included(dialect: ResponsesDialect, options: JsonObject, body: JsonObject, *, takes_effort: bool) -> JsonValue:
    said = options.get("include")
    included: list[JsonValue] = list(said) if isinstance(said, list | tuple) else []
    if dialect.has_encrypted_reasoning and takes_effort:
        included.append(_ENCRYPTED)
    kinds = [text_in(tool, "type") for tool in objects(body.get("tools"))]
    included += [_INCLUDED_FOR_TOOLS[kind] for kind in kinds if kind in _INCLUDED_FOR_TOOLS]
    if "top_logprobs" in body or options.get("top_logprobs") is not None:
        included.append(_LOGPROBS)
    return list(dict.fromkeys(included)) or None


def tool_type(tool: ProviderTool) -> str | None:
    """The type on the wire of a tool that the API defines; None for one of another API."""
    if not tool.id.startswith(TOOL_PREFIX):
        return None
    own = tool.id.removeprefix(TOOL_PREFIX)
    return TOOL_TYPES.get(own, own)


def _call_types(params: CallOptions) -> Mapping[str, str]:
    """By name of a tool that the API defines and the caller runs, the type of the items that call it."""
    types = {found.tool: kind for kind, found in CLIENT_TOOLS.items()}
    tools = [tool for tool in params.tools or () if isinstance(tool, ProviderTool)]
    return {tool.name: types[own] for tool in tools if (own := tool_of(tool.id)) in types}


def _tools(params: CallOptions, dialect: ResponsesDialect, warnings: list[CallWarning]) -> Mapping[str, JsonValue]:
    tools: list[JsonValue] = []
    for tool in params.tools or ():
        match tool:
            case FunctionTool():
                tools.append(_function(tool, dialect.name, warnings))
            case ProviderTool():
                kind = tool_type(tool)
                if kind is None:
                    details = "it belongs to another API; left out of the request"
                    warnings.append(UnsupportedWarning(feature=f"provider tool {tool.id}", details=details))
                else:
                    name: JsonObject = {"name": tool.name} if kind == "custom" else NOTHING
                    tools.append({"type": kind, **_default_args(kind), **name, **tool.args})
            case _:
                assert_never(tool)
    if not tools:
        return {}
    return {"tools": tools, "tool_choice": _choice(params.tool_choice, params) if params.tool_choice else None}


def _default_args(kind: str) -> JsonObject:
    """What the API demands and almost nobody chooses."""
    return {"container": {"type": "auto"}} if kind == "code_interpreter" else NOTHING


def _function(tool: FunctionTool, name: str, warnings: list[CallWarning]) -> JsonObject:
    if tool.input_examples:
        details = "left out; the layer AddToolInputExamples puts them into the description"
        warnings.append(UnsupportedWarning(feature=f"input examples of tool {tool.name}", details=details))
    function: dict[str, JsonValue] = {"type": "function", "name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    # Without `strict` the API makes every schema a strict one, and optional members required.
    function |= {"parameters": tool.input_schema, "strict": fits_strict(tool.input_schema)}
    if tool.strict is not None:
        function["strict"] = tool.strict
    return function | own_options(tool.provider_options, name)


def _choice(choice: ToolChoice, params: CallOptions) -> JsonValue:
    if choice.type != "tool":
        return choice.type
    chosen = next((tool for tool in params.tools or () if tool.name == choice.tool_name), None)
    if not isinstance(chosen, ProviderTool):
        return {"type": "function", "name": choice.tool_name}
    kind = tool_type(chosen)
    if kind == "custom":
        return {"type": "custom", "name": choice.tool_name}
    if kind == "mcp":
        return {"type": "mcp", "server_label": chosen.args.get("server_label")}
    return {"type": kind}
