"""The body of a request of the Messages API: settings, tools, output format and messages. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.providers._model import WireRequest
from onion.providers.anthropic.betas import HEADER, betas_of
from onion.providers.anthropic.containers import container_of
from onion.providers.anthropic.conversation import Conversation
from onion.providers.anthropic.marks import Marks
from onion.providers.anthropic.names import in_wire_names, own_options
from onion.providers.anthropic.schema import fit_schema
from onion.providers.anthropic.settings import settings_of
from onion.providers.anthropic.thinking import is_thinking
from onion.providers.anthropic.toolbox import JSON_TOOL, Toolbox, json_tool
from onion.spec.call import JsonFormat
from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onion.providers.anthropic.traits import ModelTraits
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions

PATH = "/messages"
OURS = frozenset(
    {
        "anthropic_beta",
        "disable_parallel_tool_use",
        "effort",
        "send_reasoning",
        "structured_output_mode",
        "thinking",
        "tool_streaming",
    }
)
"""Options that are no members of the body by that name."""

_TOOL_STREAMING = "fine-grained-tool-streaming-2025-05-14"


def _now() -> datetime:
    return datetime.now(UTC)


def to_request(
    model_id: str,
    params: CallOptions,
    traits: ModelTraits,
    *,
    is_stream: bool = False,
    now: Callable[[], datetime] = _now,
) -> WireRequest:
    """The request for one call.

    Provider options under ``anthropic`` go into the body as they are, and are the last word; None takes a member out.
    Their names may be spelled as the API does or as the AI SDK does. Ours among them: ``thinking``, ``effort``,
    ``sendReasoning``, ``disableParallelToolUse``, ``structuredOutputMode``, ``anthropicBeta`` and ``toolStreaming``.

    Raises:
        UnsupportedFunctionalityError: When the prompt holds what the API has no word for.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    warnings: list[CallWarning] = []
    options = own_options(params.provider_options)
    body: dict[str, JsonValue] = {"model": model_id}
    body |= settings_of(params, options, traits, warnings)
    toolbox, marks = Toolbox(params.tools), Marks(warnings)
    if options.get("cache_control"):
        marks.take()
    body |= _tools(params, options, toolbox, marks, body, traits, warnings)
    talk = Conversation(
        toolbox,
        marks,
        warnings,
        takes_system=traits.takes_system_messages,
        sends_reasoning=options.get("send_reasoning") is not False,
    )
    talk.add(params.prompt)
    body["messages"] = talk.messages()
    if talk.system:
        body["system"] = talk.system
    container = container_of(params.prompt, now) if toolbox.has_server_tools else None
    if container:
        body["container"] = container
    if is_stream:
        body["stream"] = True
    body |= _own_members(options, body)
    body = {key: found for key, found in body.items() if found is not None}
    betas = [*betas_of(body), *_betas_in(options, is_stream=is_stream)]
    headers = {HEADER: ",".join(betas)} if betas else {}
    return WireRequest(path=PATH, body=body, warnings=tuple(warnings), headers=headers)


def uses_json_tool(params: CallOptions, traits: ModelTraits) -> bool:
    """Whether the answer is the input of a tool, since the model knows no structured output."""
    wanted = params.response_format
    if not isinstance(wanted, JsonFormat) or wanted.schema is None:
        return False
    mode = text_in(own_options(params.provider_options), "structured_output_mode")
    return mode == "jsonTool" or (mode != "outputFormat" and not traits.takes_schema)


def _tools(
    params: CallOptions,
    options: JsonObject,
    toolbox: Toolbox,
    marks: Marks,
    body: JsonObject,
    traits: ModelTraits,
    warnings: list[CallWarning],
) -> dict[str, JsonValue]:
    """The tools and what is to become of them, and the form of the answer, which may be a tool as well."""
    tools = toolbox.blocks(marks, warnings)
    can_force = traits.takes_forced_choice and not is_thinking(body.get("thinking"))
    wanted = params.response_format if isinstance(params.response_format, JsonFormat) else None
    if wanted is not None and wanted.schema is not None and uses_json_tool(params, traits):
        tool = json_tool(wanted.schema, wanted.description)
        return {"tools": [*tools, tool], "tool_choice": _forced(warnings, can_force=can_force, is_alone=not tools)}
    found: dict[str, JsonValue] = {}
    if wanted is not None and wanted.schema is not None:
        format_: JsonObject = {"type": "json_schema", "schema": fit_schema(wanted.schema)}
        found["output_config"] = {**object_in(body, "output_config"), "format": format_}
    elif wanted is not None:
        details = "JSON is sent for with a schema only: say in the prompt that you want JSON"
        warnings.append(UnsupportedWarning(feature="response_format", details=details))
    if tools:
        is_parallel = not options.get("disable_parallel_tool_use")
        found["tools"] = tools
        found["tool_choice"] = toolbox.choice(
            params.tool_choice, warnings, can_force=can_force, is_parallel=is_parallel
        )
    return found


def _forced(warnings: list[CallWarning], *, can_force: bool, is_alone: bool) -> JsonObject:
    """The choice of a tool where one of them is the answer."""
    choice: JsonObject = {"type": "tool", "name": JSON_TOOL} if is_alone else {"type": "any"}
    if not can_force:
        choice = {"type": "auto"}
        details = "the model cannot be made to answer in JSON, at least not while it reasons: it is only asked to"
        warnings.append(CompatibilityWarning(feature="response_format", details=details))
    return {**choice, "disable_parallel_tool_use": True}


def _own_members(options: JsonObject, body: JsonObject) -> dict[str, JsonValue]:
    own = in_wire_names({key: found for key, found in options.items() if key not in OURS})
    config = own.get("output_config")
    if isinstance(config, dict):
        own["output_config"] = {**object_in(body, "output_config"), **config}
    container = own.get("container")
    if isinstance(container, dict):
        known = {"id": body["container"]} if body.get("container") else {}
        own["container"] = container["id"] if set(container) == {"id"} else {**known, **container}
    return own


def _betas_in(options: JsonObject, *, is_stream: bool) -> list[str]:
    said = options.get("anthropic_beta")
    named: Sequence[JsonValue] = [said] if isinstance(said, str) else said if isinstance(said, list | tuple) else ()
    found = [name for name in named if isinstance(name, str)]
    if is_stream and options.get("tool_streaming"):
        found.append(_TOOL_STREAMING)
    return found
