"""One call of a model: its settings, tools and prompt."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypedDict

from onion.errors import mask_headers
from onion.spec.base import JsonObject, JSONSchema, JsonValue, ProviderOptions, record, value
from onion.spec.prompt import Message, Prompt
from onion.spec.slotted import MASKED

if TYPE_CHECKING:
    from typing import Unpack


ReasoningEffort: TypeAlias = Literal["provider-default", "none", "minimal", "low", "medium", "high", "xhigh"]


@value
class TextFormat:
    """The answer is plain text."""

    type: ClassVar[Literal["text"]] = "text"


@value
class JsonFormat:
    """The answer is JSON, of the given schema if there is one."""

    type: ClassVar[Literal["json"]] = "json"
    schema: JSONSchema | None = None
    name: str | None = None
    description: str | None = None


ResponseFormat: TypeAlias = TextFormat | JsonFormat


@value
class ToolInputExample:
    """An input that shows how a tool is meant to be called."""

    input: JsonValue


@value
class FunctionTool:
    """A tool whose schema the caller defines.

    Attributes:
        validate: The loop's own check of a parsed input, which raises for one that does not fit. In-process only:
            neither in JSON nor in equality.
    """

    type: ClassVar[Literal["function"]] = "function"
    name: str
    input_schema: JSONSchema
    description: str | None = None
    input_examples: tuple[ToolInputExample, ...] | None = None
    strict: bool | None = None
    provider_options: ProviderOptions | None = None
    validate: Callable[[JsonValue], object] | None = field(
        default=None, compare=False, repr=False, metadata={"json": False}
    )


@value
class ProviderTool:
    """A tool whose schema the provider defines; `id` is ``provider.tool``, `name` the caller's name for it.

    Providers offer such values, and the loop takes them among its tools. What they say to it stays in-process: neither
    in JSON nor in equality.

    Attributes:
        execute: Runs the calls at the caller's, where the provider does not.
        is_provider_executed: Whether the provider runs the calls; None: where there is no `execute`.
        supports_deferred_results: A result may come in a later step than the call.
        input_schema: Checks the inputs of calls that run at the caller's.
    """

    type: ClassVar[Literal["provider"]] = "provider"
    id: str
    name: str
    args: JsonObject
    execute: Callable[..., object] | None = field(default=None, compare=False, repr=False, metadata={"json": False})
    is_provider_executed: bool | None = field(default=None, compare=False, repr=False, metadata={"json": False})
    supports_deferred_results: bool = field(default=False, compare=False, repr=False, metadata={"json": False})
    input_schema: JSONSchema | None = field(default=None, compare=False, repr=False, metadata={"json": False})


Tool: TypeAlias = FunctionTool | ProviderTool


@value
class ToolChoice:
    """Whether the model may, must or must not call tools; ``tool`` means the one that `tool_name` names."""

    type: Literal["auto", "none", "required", "tool"]
    tool_name: str | None = None


@record
class RunInfo:
    """Which run, agent and step a call belongs to. In-process only.

    Attributes:
        run_id: Unique for each run of the loop.
        parent: The run whose tool started this one.
        agent: Name of the agent, if one runs.
        step_number: From 0.
        attempt: From 1; counts restarts of the step.
        messages: The messages of the step, without instructions.
        context: What the caller gave as `context=`.
        state: Room for layers, keyed by the layer; lives as long as the run.
    """

    run_id: str
    parent: RunInfo | None = None
    agent: str | None = None
    step_number: int = 0
    attempt: int = 1
    messages: tuple[Message, ...] = ()
    context: object = None
    state: dict[object, object] = field(default_factory=lambda: {})


class CallSettings(TypedDict, total=False):
    """The settings of a call that callers of the loop give by name; None leaves one to the provider."""

    max_output_tokens: int | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    presence_penalty: float | None
    frequency_penalty: float | None
    stop_sequences: tuple[str, ...] | None
    seed: int | None
    reasoning: ReasoningEffort | None
    headers: Mapping[str, str] | None
    provider_options: ProviderOptions | None


class CallChanges(CallSettings, total=False):
    """Every field of `CallOptions` by name."""

    prompt: Prompt
    response_format: ResponseFormat | None
    tools: tuple[Tool, ...] | None
    tool_choice: ToolChoice | None
    include_raw_chunks: bool | None
    run: RunInfo | None


@value
class CallOptions:
    """Everything that a model is told for one call; None means: left to the provider.

    Attributes:
        run: Which run the call belongs to. In-process only: not in JSON, equality or cache keys; kept by `replace`.
    """

    prompt: Prompt
    max_output_tokens: int | None = None
    temperature: float | None = None
    stop_sequences: tuple[str, ...] | None = None
    top_p: float | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_format: ResponseFormat | None = None
    seed: int | None = None
    tools: tuple[Tool, ...] | None = None
    tool_choice: ToolChoice | None = None
    include_raw_chunks: bool | None = None
    headers: Mapping[str, str] | None = field(default=None, metadata={MASKED: mask_headers})
    reasoning: ReasoningEffort | None = None
    provider_options: ProviderOptions | None = None
    run: RunInfo | None = field(default=None, compare=False, repr=False, metadata={"json": False})

    def replace(self, **changes: Unpack[CallChanges]) -> CallOptions:
        """A copy with *changes* made."""
        return dataclasses.replace(self, **changes)
