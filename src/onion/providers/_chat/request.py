"""The body of a request in the chat format: settings, tools, response format and messages. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from onion.providers._chat.messages import to_messages
from onion.providers._json import NOTHING, count_in, text_in
from onion.providers._tooling import fits_strict
from onion.providers._traits import effort_for
from onion.spec.base import JsonObject, JsonValue, value
from onion.spec.call import FunctionTool, JsonFormat, ProviderTool
from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.providers._chat.dialect import ChatDialect
    from onion.spec.call import CallOptions, ToolChoice

_OPTIONS_OF_OURS = frozenset({"strict_json_schema", "system_message_mode", "text_verbosity"})
_DEFAULT_SCHEMA_NAME = "response"
_JSON: JsonObject = {"type": "json_object"}
_FEATURES = {"stop": "stop_sequences", "reasoning_effort": "reasoning"}
"""Wire names of settings and what they are called in `CallOptions`, where it is another word."""


@value
class ChatRequest:
    """A request's body, and warnings of what the format lacks."""

    body: dict[str, JsonValue]
    warnings: tuple[CallWarning, ...] = ()


def to_request(model_id: str, params: CallOptions, dialect: ChatDialect, *, is_stream: bool = False) -> ChatRequest:
    """The request for one call.

    Provider options under the dialect's name go into the body as they are, the API's own names and the last word;
    None takes a member out. Ours among them: ``strict_json_schema``, ``system_message_mode``, ``text_verbosity``, and
    a number for ``logprobs``.

    Raises:
        UnsupportedFunctionalityError: When the prompt holds what the format has no word for.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    options = (params.provider_options or {}).get(dialect.name, NOTHING)
    role = text_in(options, "system_message_mode") or "system"
    messages, warnings = to_messages(params.prompt, dialect, system_role=role)
    body: dict[str, JsonValue] = {"model": model_id, "messages": messages}
    body |= _settings(model_id, params, dialect, options, warnings)
    if isinstance(params.response_format, JsonFormat):
        body["response_format"] = _response_format(params.response_format, options, dialect, warnings)
    body |= _tools(params, dialect, warnings)
    if is_stream:
        body["stream"] = True
        if dialect.includes_usage:
            body["stream_options"] = {"include_usage": True}
    body |= _own_options(options)
    if (count_in(body, "n") or 1) > 1:
        details = "only the first answer is read; all are in the body of a whole one, and in the raw chunks of a stream"
        warnings.append(CompatibilityWarning(feature="n", details=details))
    return ChatRequest(body={key: found for key, found in body.items() if found is not None}, warnings=tuple(warnings))


def _settings(
    model_id: str, params: CallOptions, dialect: ChatDialect, options: JsonObject, warnings: list[CallWarning]
) -> Mapping[str, JsonValue]:
    if params.top_k is not None and not dialect.takes_top_k:
        warnings.append(UnsupportedWarning(feature="top_k"))
    traits = dialect.traits(model_id)
    effort = effort_for(model_id, params.reasoning, traits, warnings)
    settings: dict[str, JsonValue] = {
        dialect.max_tokens_key: params.max_output_tokens,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k if dialect.takes_top_k else None,
        "presence_penalty": params.presence_penalty,
        "frequency_penalty": params.frequency_penalty,
        "stop": list(params.stop_sequences) if params.stop_sequences else None,
        dialect.seed_key: params.seed,
        "reasoning_effort": effort,
    }
    if effort == "none" and dialect.reasoning_off is not None:
        settings |= {"reasoning_effort": None, **dialect.reasoning_off}
    for key in sorted(dialect.lacks):
        if settings.get(key) is not None:
            settings[key] = None
            details = f"{dialect.name} knows no such setting"
            warnings.append(UnsupportedWarning(feature=_FEATURES.get(key, key), details=details))
    is_reasoning = options.get("reasoning_effort", effort) != "none"
    refused = traits.refuses | traits.refuses_unless_effort_none if is_reasoning else traits.refuses
    for key in sorted(refused):
        if settings.get(key) is not None:
            settings[key] = None
            details = f"{model_id} refuses it" + ("" if key in traits.refuses else " while it reasons")
            warnings.append(UnsupportedWarning(feature=_FEATURES.get(key, key), details=details))
    return settings


def _response_format(
    wanted: JsonFormat, options: JsonObject, dialect: ChatDialect, warnings: list[CallWarning]
) -> JsonObject:
    if wanted.schema is None:
        any_object: JsonObject = {"name": wanted.name or _DEFAULT_SCHEMA_NAME, "schema": {"type": "object"}}
        return _JSON if dialect.takes_json_object else {"type": "json_schema", "json_schema": any_object}
    if not dialect.takes_json_schema:
        details = "the server knows no json_schema: it is asked for JSON of any shape"
        warnings.append(UnsupportedWarning(feature="response_format schema", details=details))
        return _JSON
    said = options.get("strict_json_schema")
    schema: dict[str, JsonValue] = {
        "name": wanted.name or _DEFAULT_SCHEMA_NAME,
        "schema": wanted.schema,
        "strict": said if isinstance(said, bool) else fits_strict(wanted.schema),
    }
    if wanted.description is not None:
        schema["description"] = wanted.description
    return {"type": "json_schema", "json_schema": schema}


def _tools(params: CallOptions, dialect: ChatDialect, warnings: list[CallWarning]) -> Mapping[str, JsonValue]:
    tools: list[JsonValue] = []
    for tool in params.tools or ():
        match tool:
            case FunctionTool():
                tools.append(_function(tool, dialect, warnings))
            case ProviderTool():
                details = "the chat format knows function tools only"
                warnings.append(UnsupportedWarning(feature=f"provider tool {tool.id}", details=details))
            case _:
                assert_never(tool)
    if not tools:
        return {}
    return {"tools": tools, "tool_choice": _choice(params.tool_choice) if params.tool_choice else None}


def _function(tool: FunctionTool, dialect: ChatDialect, warnings: list[CallWarning]) -> JsonObject:
    if tool.input_examples:
        details = "left out; the layer AddToolInputExamples puts them into the description"
        warnings.append(UnsupportedWarning(feature=f"input examples of tool {tool.name}", details=details))
    function: dict[str, JsonValue] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = tool.input_schema
    if tool.strict is not None:
        function["strict"] = tool.strict
    options = (tool.provider_options or {}).get(dialect.name, NOTHING)
    return {"type": "function", "function": function, **options}


def _choice(choice: ToolChoice) -> JsonValue:
    if choice.type == "tool":
        return {"type": "function", "function": {"name": choice.tool_name}}
    return choice.type


def _own_options(options: JsonObject) -> JsonObject:
    own = {key: found for key, found in options.items() if key not in _OPTIONS_OF_OURS}
    verbosity = options.get("text_verbosity")
    if verbosity is not None:
        own["verbosity"] = verbosity
    count = options.get("logprobs")
    if isinstance(count, int) and not isinstance(count, bool):
        own |= {"logprobs": True, "top_logprobs": count}
    return own
