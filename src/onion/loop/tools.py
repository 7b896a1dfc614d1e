"""Tools: what a model may call, and what runs when it does.

Two questions tell the kinds apart: who defines the schema (`tool`, `dynamic_tool`: the caller; `provider_tool`: the
provider), and who executes (the loop, the caller of the loop, or the provider).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, overload

from onion.errors import InvalidArgumentError
from onion.loop.functions import OfTwo, of_keywords, of_two, style_of
from onion.loop.kinds import check_names
from onion.loop.options import ToolOptions
from onion.loop.schema import Schema, SchemaSource, schema_of
from onion.loop.signature import read_signature
from onion.loop.tool_value import Function, Tool, ToolKind, ToolSettings, handed_back
from onion.spec.call import ToolInputExample
from onion.spec.json import from_json

if TYPE_CHECKING:
    from types import UnionType
    from typing import Unpack

    from onion.spec.base import JsonObject, JSONSchema, JsonValue

__all__ = ["Tool", "ToolOptions", "ToolSettings", "dynamic_tool", "provider_tool", "tool"]

InputT = TypeVar("InputT")
ContextT = TypeVar("ContextT")

_SETTINGS = frozenset(ToolSettings.__annotations__)
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
"""What at least one provider takes for the name of a tool."""


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(*, name: str = "", **settings: Unpack[ToolSettings]) -> Callable[[Function], Tool]: ...
@overload
def tool(*, name: str = "", execute: Function, **settings: Unpack[ToolSettings]) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    input_schema: type[InputT],
    execute: Callable[[InputT], object] | Callable[[InputT, ToolOptions[ContextT]], object] | None = None,
    **settings: Unpack[ToolSettings],
) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    input_schema: UnionType | JSONSchema | Schema,
    execute: Function | None = None,
    **settings: Unpack[ToolSettings],
) -> Tool: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str = "",
    input_schema: SchemaSource | None = None,
    execute: Function | None = None,
    **settings: Unpack[ToolSettings],
) -> Tool | Callable[[Function], Tool]:
    """Make a tool: as a decorator, from a signature, or from a schema and a function.

    ``@tool`` and ``@tool(name="sum")`` go before a function, ``tool(input_schema=City, execute=look_up)`` stands alone.

    Decorated, the function's parameters are the schema, its docstring the description, and the Args in there describe
    the parameters. A parameter annotated `ToolOptions` gets those and is no part of the schema.

    Args:
        function: The decorated function.
        name: Without it, the name of the function; in a mapping of tools the key decides.
        input_schema: A pydantic model, dataclass, TypedDict or JSON Schema. Without it, the signature of `execute`.
        execute: Gets the validated input, and the ToolOptions if it takes two arguments. A plain function runs in a
            thread; an async generator yields preliminary outputs, the last of which is the output. Without it, the
            call is handed back to the caller.
        settings: See `ToolSettings`.

    Raises:
        TypeError: For a setting that no tool has.
        InvalidArgumentError: When a name or a schema cannot be used; it names the tool and the parameter.
    """
    check_names(settings, _SETTINGS, function="tool")
    run = function or execute
    if run is None and input_schema is None:
        return lambda decorated: _made("function", name, decorated, None, settings)
    return _made("function", name, run, input_schema, settings)


def dynamic_tool(
    *,
    name: str = "",
    input_schema: SchemaSource,
    execute: Function | None = None,
    **settings: Unpack[ToolSettings],
) -> Tool:
    """Make a tool whose type is known only at run time, such as one that a tool server offers.

    Its calls and results are marked `dynamic`. Arguments and errors are those of `tool`.
    """
    check_names(settings, _SETTINGS, function="dynamic_tool")
    return _made("dynamic", name, execute, input_schema, settings)


def provider_tool(
    *,
    id: str,
    args: JsonObject | None = None,
    name: str = "",
    input_schema: SchemaSource | None = None,
    execute: Function | None = None,
    is_provider_executed: bool | None = None,
    supports_deferred_results: bool = False,
    **settings: Unpack[ToolSettings],
) -> Tool:
    """Make a tool whose schema the provider defines.

    Args:
        id: ``provider.tool``, the provider's word for it.
        args: Settings of the tool, as the provider names them.
        name: What the model calls it here; without it, the second half of `id`.
        input_schema: Checks the inputs of calls that run here.
        execute: Runs the calls here.
        is_provider_executed: Whether the provider runs the tool; without it, yes if there is no `execute`.
        supports_deferred_results: The provider may deliver a result in a later step than the call.
        settings: See `ToolSettings`.

    Raises:
        TypeError: For a setting that no tool has.
        InvalidArgumentError: When the id is none, or both sides were to execute.
    """
    check_names(settings, _SETTINGS, function="provider_tool")
    provider, _, own_name = id.partition(".")
    if not provider or not own_name:
        msg = f"the id of a provider tool is `provider.tool`, not {id!r}"
        raise InvalidArgumentError(msg, parameter="id", value=id)
    if is_provider_executed and execute is not None:
        msg = f"tool {id!r} has an `execute` that would never run, since the provider executes it: remove one of them"
        raise InvalidArgumentError(msg, parameter="execute", value=execute)
    schema: SchemaSource = {} if input_schema is None else input_schema
    made = _made("provider", name or own_name.replace(".", "_"), execute, schema, settings)
    return dataclasses.replace(
        made,
        id=id,
        args=dict(args or {}),
        is_provider_executed=execute is None if is_provider_executed is None else is_provider_executed,
        supports_deferred_results=supports_deferred_results,
    )


def check_name(name: str) -> None:
    """Refuse a *name* that no provider would take.

    Raises:
        InvalidArgumentError: Always, for such a name.
    """
    if not _NAME.fullmatch(name):
        msg = f"{name!r} cannot be the name of a tool: use 1 to 128 of the letters a to z, digits and _ . : -"
        raise InvalidArgumentError(msg, parameter="name", value=name)


def _made(
    kind: ToolKind, name: str, execute: Function | None, source: SchemaSource | None, settings: ToolSettings
) -> Tool:
    own_name = str(getattr(execute, "__name__", "")).replace("<lambda>", "")
    name = name or own_name
    if name:
        check_name(name)
    where = f"tool {name or '(not named)'!r}"
    schema, start, docstring = _callable_part(name, where, execute, source)
    examples = settings.get("input_examples")
    approval, model_output = settings.get("needs_approval", False), settings.get("to_model_output")
    return Tool(
        kind=kind,
        name=name,
        input_schema=schema,
        execute=execute,
        start=start,
        style="none" if execute is None else style_of(execute, where=where),
        description=settings.get("description") or docstring,
        title=settings.get("title"),
        needs_approval=approval
        if isinstance(approval, bool)
        else of_two(approval, parameter="needs_approval", where=where),
        to_model_output=None
        if model_output is None
        else of_two(model_output, parameter="to_model_output", where=where),
        strict=settings.get("strict"),
        input_examples=None if examples is None else tuple(map(_example, examples)),
        provider_options=settings.get("provider_options"),
        metadata=settings.get("metadata"),
        on_input_start=settings.get("on_input_start"),
        on_input_delta=settings.get("on_input_delta"),
        on_input_available=settings.get("on_input_available"),
        context_schema=_optional_schema(settings.get("context_schema"), "context_schema", where),
        output_schema=_optional_schema(settings.get("output_schema"), "output_schema", where),
    )


def _callable_part(
    name: str, where: str, execute: Function | None, source: SchemaSource | None
) -> tuple[Schema, OfTwo, str | None]:
    """The schema, what calls the function, and what its docstring says if its signature is the schema."""
    if source is not None:
        schema = schema_of(source, parameter="input_schema", where=where)
        kind = schema.json_schema.get("type")
        if isinstance(kind, str) and kind != "object":
            msg = f"input_schema of {where} describes no object, but a model can only give one: put it in an object"
            raise InvalidArgumentError(msg, parameter="input_schema", value=source)
        return schema, handed_back if execute is None else of_two(execute, parameter="execute", where=where), None
    if execute is None:
        msg = f"{where} has neither an input_schema nor an `execute` whose signature could be one: give one of them"
        raise InvalidArgumentError(msg, parameter="input_schema")
    signature = read_signature(execute, tool_name=name or "(not named)")
    return signature.schema, of_keywords(execute, options_parameter=signature.options_parameter), signature.description


def _example(example: ToolInputExample | Mapping[str, JsonValue]) -> ToolInputExample:
    return example if isinstance(example, ToolInputExample) else from_json(ToolInputExample, example)


def _optional_schema(source: SchemaSource | None, parameter: str, where: str) -> Schema | None:
    return None if source is None else schema_of(source, parameter=parameter, where=where)
