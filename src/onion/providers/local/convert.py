"""A call as a request to the engine, in the OpenAI chat format and the local model's own dialect. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from onion.errors import InvalidArgumentError
from onion.providers._json import NOTHING, dump_json
from onion.providers.local.prompt import PROVIDER, to_messages
from onion.providers.local.tools import CALL_CLOSE, CALL_OPEN, call_schema, guided, list_tools
from onion.spec.base import JsonObject
from onion.spec.call import FunctionTool, JsonFormat
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions

ToGrammar: TypeAlias = Callable[[JsonObject], str]
"""The engine's own way from a JSON schema to a grammar."""

CallMode: TypeAlias = Literal["no tools", "may call", "must call"]

FREE_TEMPERATURE = 0.2
"""Default for text; the engine's own, 0.8, is too much for a model this small (SmolLM2 model card, read 2026-12-01)."""
EXACT_TEMPERATURE = 0.0
"""Default for what has to fit a schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, what it leaves out, and how the answer is to be read."""

    body: JsonObject
    warnings: tuple[CallWarning, ...]
    mode: CallMode


def to_request(params: CallOptions, to_grammar: ToGrammar) -> Request:
    """The request for *params*.

    Raises:
        InvalidArgumentError: When `tool_choice` names a tool that is not there.
        UnsupportedFunctionalityError: For content that the model cannot take.
    """
    warnings: list[CallWarning] = []
    tools = _tools(params, warnings)
    callable_tools = _callable(params, tools)
    mode: CallMode = "must call" if callable_tools else "may call" if tools else "no tools"
    if params.reasoning not in (None, "none", "provider-default"):
        warnings.append(UnsupportedWarning(feature="reasoning", details="the local model has no levels of reasoning"))
    system = [list_tools(tools)] if tools else []
    schema: JsonObject | None = None
    if callable_tools:
        schema = call_schema(callable_tools)
    elif isinstance(params.response_format, JsonFormat):
        schema = guided(params.response_format.schema or {"type": "object"})
        system.append(_describe(params.response_format))
    body: dict[str, JsonValue] = {
        "messages": to_messages(
            params.prompt, system=system, prefill=f"{CALL_OPEN}\n" if callable_tools else "", warnings=warnings
        ),
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a chunk for each batch of the prompt: there, too, a call can be stopped
        "temperature": FREE_TEMPERATURE if schema is None else EXACT_TEMPERATURE,
    }
    if schema is not None:
        body["grammar"] = to_grammar(schema)
    body |= _settings(params, extra_stop=(CALL_CLOSE,) if callable_tools else ())
    body |= params.provider_options.get(PROVIDER, NOTHING) if params.provider_options else NOTHING
    return Request(body=body, warnings=tuple(warnings), mode=mode)


def _tools(params: CallOptions, warnings: list[CallWarning]) -> list[FunctionTool]:
    """The tools that the model is told of."""
    if params.tool_choice is not None and params.tool_choice.type == "none":
        return []
    told: list[FunctionTool] = []
    for tool in params.tools or ():
        if isinstance(tool, FunctionTool):
            told.append(tool)
        else:
            warnings.append(
                UnsupportedWarning(
                    feature=f"provider tool {tool.id}", details="the local model has no tools of its own"
                )
            )
    return told


def _callable(params: CallOptions, tools: list[FunctionTool]) -> list[FunctionTool]:
    """The tools of which one must be called; none if the model is free not to."""
    choice = params.tool_choice
    if choice is None or choice.type in ("auto", "none"):
        return []
    if choice.type == "required":
        return tools
    named = [tool for tool in tools if tool.name == choice.tool_name]
    if not named:
        msg = f"tool_choice names the tool {choice.tool_name!r}, but the call has {[tool.name for tool in tools]}"
        raise InvalidArgumentError(msg, parameter="tool_choice", value=choice.tool_name)
    return named


def _describe(wanted: JsonFormat) -> str:
    lines = ["Answer with JSON only."]
    if wanted.name or wanted.description:
        lines.append(": ".join(text for text in (wanted.name, wanted.description) if text))
    if wanted.schema is not None:
        lines.append(f"It must fit this JSON schema: {dump_json(wanted.schema).decode()}")
    return "\n".join(lines)


def _settings(params: CallOptions, *, extra_stop: tuple[str, ...]) -> dict[str, JsonValue]:
    stop = (*(params.stop_sequences or ()), *extra_stop)
    settings: dict[str, JsonValue] = {
        "max_tokens": params.max_output_tokens,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        "presence_penalty": params.presence_penalty,
        "frequency_penalty": params.frequency_penalty,
        "seed": params.seed,
        "stop": list(stop) or None,
    }
    return {name: setting for name, setting in settings.items() if setting is not None}
