"""A tool as a value: what the model is told of it, and what runs when it is called."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypedDict

from onion.errors import InvalidArgumentError
from onion.loop.functions import OfTwo, never_waits
from onion.loop.schema import Schema, SchemaSource
from onion.spec.base import JsonObject, JsonValue, ProviderOptions
from onion.spec.call import FunctionTool, ProviderTool, ToolInputExample

ToolKind: TypeAlias = Literal["function", "dynamic", "provider"]
ToolStyle: TypeAlias = Literal["none", "sync", "async", "generator"]
Function: TypeAlias = Callable[..., object]


class ToolSettings(TypedDict, total=False):
    """What every kind of tool may have.

    Attributes:
        description: What the tool does, for the model; without it, the docstring of the function that is its schema.
        title: What the tool is called in a user interface.
        needs_approval: Whether somebody has to agree before a call runs; or a function, plain or async, of the
            validated input, and of the ToolOptions if it takes two arguments, that says so.
        to_model_output: Turns the output into what the model is given, which is a `TextOutput`, one of its siblings,
            or the JSON form of those. Takes the output, or the output and the `TypedToolResult`; plain or async.
        strict: Whether the provider shall hold the model to the schema; None leaves it to the provider.
        input_examples: Inputs that show how the tool is meant to be called: ``{"input": {...}}``.
        provider_options: What only one provider understands.
        metadata: Yours; comes back as `tool_metadata` on calls and results.
        on_input_start: Called with the ToolOptions when the model begins to write an input; plain or async.
        on_input_delta: Called with a piece of the input's text and the ToolOptions.
        on_input_available: Called with the whole input and the ToolOptions.
        context_schema: What `context` has to look like for this tool.
        output_schema: What the tool gives back; for those who read it, not enforced.
    """

    description: str | None
    title: str | None
    needs_approval: bool | Callable[..., bool | Awaitable[bool]]
    to_model_output: Function | None
    strict: bool | None
    input_examples: Sequence[ToolInputExample | Mapping[str, JsonValue]] | None
    provider_options: ProviderOptions | None
    metadata: JsonObject | None
    on_input_start: Function | None
    on_input_delta: Function | None
    on_input_available: Function | None
    context_schema: SchemaSource | None
    output_schema: SchemaSource | None


def handed_back(_value: object, _options: object) -> object:
    """What stands for the function of a tool that has none.

    Raises:
        InvalidArgumentError: Always.
    """
    msg = "this tool has no `execute`: its calls are handed back to the caller, or the provider runs it"
    raise InvalidArgumentError(msg, parameter="execute")


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """A tool as the loop knows it; made by `tool`, `dynamic_tool` or `provider_tool`.

    Attributes:
        execute: The function as it was given. None: the provider runs the tool, or the call is handed back.
        start: Calls `execute` with a validated input and the ToolOptions, as far as it takes them.
        style: What `start` gives: an output (``sync``), an awaitable of it (``async``), or an async iterator of
            preliminary outputs whose last one is the output (``generator``). ``none``: there is nothing to call.
        needs_approval: True, False or a function that takes the validated input and the ToolOptions.
        to_model_output: Takes the output and the TypedToolResult.
        id: For provider-defined tools: ``provider.tool``.
        args: For provider-defined tools: their settings.
        supports_deferred_results: The provider may deliver a result in a later step than the call.
    """

    kind: ToolKind
    name: str
    input_schema: Schema
    description: str | None = None
    title: str | None = None
    execute: Function | None = None
    style: ToolStyle = "none"
    start: OfTwo = field(default=handed_back, repr=False)
    needs_approval: bool | Function = False
    to_model_output: Function | None = None
    strict: bool | None = None
    input_examples: tuple[ToolInputExample, ...] | None = None
    provider_options: ProviderOptions | None = None
    metadata: JsonObject | None = None
    on_input_start: Function | None = None
    on_input_delta: Function | None = None
    on_input_available: Function | None = None
    context_schema: Schema | None = None
    output_schema: Schema | None = None
    id: str | None = None
    args: JsonObject = field(default_factory=dict[str, JsonValue])
    is_provider_executed: bool = False
    supports_deferred_results: bool = False

    @functools.cached_property
    def never_waits(self) -> bool:
        """Whether `execute` is async but awaits nothing, so that a task of its own would gain nothing."""
        return self.execute is not None and never_waits(self.execute)

    @property
    def is_dynamic(self) -> bool:
        """Whether the type of its input is known only at run time."""
        return self.kind == "dynamic"

    @functools.cached_property
    def definition(self) -> FunctionTool | ProviderTool:
        """What a model is told of the tool."""
        if self.kind == "provider":
            return ProviderTool(id=self.id or "", name=self.name, args=self.args)
        return FunctionTool(
            name=self.name,
            input_schema=self.input_schema.json_schema,
            description=self.description,
            input_examples=self.input_examples,
            strict=self.strict,
            provider_options=self.provider_options,
            validate=self.input_schema.validate,
        )

    def named(self, name: str) -> Tool:
        """The same tool under another name."""
        return self if name == self.name else dataclasses.replace(self, name=name)
