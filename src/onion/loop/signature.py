"""Turns a function's signature into the schema of a tool's input."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn, TypeAlias, Union, get_args, get_origin

from onion.errors import InvalidArgumentError
from onion.loop.docstrings import read_docstring
from onion.loop.functions import written
from onion.loop.options import ToolOptions
from onion.loop.schema import Schema, reason_of, schema_of_type
from onion.spec.base import value

if TYPE_CHECKING:
    from pydantic import BaseModel

_OPTIONS_TEXT = re.compile(r"(\w+\.)*ToolOptions(\[.*\])?(\s*\|\s*None)?")
_UNFIT_KINDS = {
    inspect.Parameter.VAR_POSITIONAL: "collects any number of values: take a list instead",
    inspect.Parameter.VAR_KEYWORD: "collects arguments of any name: name each of them, or take a dict",
    inspect.Parameter.POSITIONAL_ONLY: "has no name that a caller could use: remove the / behind it",
}


_Member: TypeAlias = tuple[object, object]
"""Type and field, as pydantic's create_model wants them."""


@value
class _Field:
    annotation: object
    default: object
    description: str | None


@value
class Signature:
    """What a function wants.

    Attributes:
        schema: Validated, it gives the arguments by name; those that the model left out are absent.
        options_parameter: Name of the parameter that takes the ToolOptions, if there is one.
        description: From the docstring.
    """

    schema: Schema
    options_parameter: str | None
    description: str | None


def read_signature(function: Callable[..., object], *, tool_name: str) -> Signature:
    """The schema, the options parameter and the description of *function*.

    Raises:
        InvalidArgumentError: When a parameter cannot be part of a schema; the message names tool and parameter.
    """
    source = written(function)
    docstring = read_docstring(inspect.getdoc(source))
    options_parameter: str | None = None
    fields: dict[str, _Field] = {}
    for name, parameter in _parameters(function, tool_name).items():
        annotation = _annotation(source, parameter, tool_name)
        if annotation is ToolOptions:
            options_parameter = name
        else:
            description = docstring.arguments.get(name)
            fields[name] = _Field(annotation=annotation, default=parameter.default, description=description)
    schema = _arguments_schema(fields, tool_name)
    return Signature(schema=schema, options_parameter=options_parameter, description=docstring.description)


def _refuse(tool_name: str, parameter: str, reason: str, found: object) -> NoReturn:
    msg = f"tool {tool_name!r}: parameter {parameter!r} {reason}"
    raise InvalidArgumentError(msg, parameter=parameter, value=found)


def _parameters(function: Callable[..., object], tool_name: str) -> Mapping[str, inspect.Parameter]:
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        msg = f"tool {tool_name!r}: {function!r} has no signature to read: give an input_schema"
        raise InvalidArgumentError(msg, parameter="execute", value=function) from error
    for name, parameter in found.items():
        if parameter.kind in _UNFIT_KINDS:
            _refuse(tool_name, name, _UNFIT_KINDS[parameter.kind], parameter)
    return found


def _annotation(source: object, parameter: inspect.Parameter, tool_name: str) -> object:
    """The parameter's type, or `ToolOptions` for the one that takes them."""
    written: object = parameter.annotation
    if written is inspect.Parameter.empty:
        _refuse(tool_name, parameter.name, "has no type: annotate it, so that the model is told what to give", written)
    if isinstance(written, str) and _OPTIONS_TEXT.fullmatch(written):  # its import may be for type checkers only
        return ToolOptions
    holder = types.SimpleNamespace(__annotations__={parameter.name: written})
    try:
        hints = typing.get_type_hints(holder, getattr(source, "__globals__", {}), include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        reason = f"has the type {written!r}, which cannot be resolved ({error}): import or define it at module level"
        _refuse(tool_name, parameter.name, reason, written)
    hint: object = hints[parameter.name]
    choices = get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)
    return ToolOptions if any(ToolOptions in (choice, get_origin(choice)) for choice in choices) else hint


def _arguments_schema(fields: Mapping[str, _Field], tool_name: str) -> Schema:
    from pydantic import PydanticUndefinedAnnotation, PydanticUserError

    # fields called `json` or `copy` would shadow the model's own, hence the numbers
    names = {f"p{number}": name for number, name in enumerate(fields)}
    members = {attribute: _member(tool_name, name, fields[name]) for attribute, name in names.items()}

    pairs = tuple(names.items())

    def unpack(arguments: BaseModel) -> dict[str, object]:
        given = arguments.model_fields_set
        if len(given) == len(names):
            return {name: getattr(arguments, attribute) for attribute, name in pairs}
        return {name: getattr(arguments, attribute) for attribute, name in pairs if attribute in given}

    def build(place: str, name: str, *attributes: str) -> Schema:
        try:
            model = _model({attribute: members[attribute] for attribute in attributes})
            schema = schema_of_type(model, parameter=name, place=place, unpack=unpack)
        except (PydanticUserError, PydanticUndefinedAnnotation) as error:
            msg = f"{place} cannot be a schema: {reason_of(error)}"
            raise InvalidArgumentError(msg, parameter=name, value=members) from error
        untitled = {key: member for key, member in schema.json_schema.items() if key != "title"}
        return dataclasses.replace(schema, json_schema=untitled)

    def problem(attribute: str, name: str) -> InvalidArgumentError | None:
        try:
            build(f"parameter {name!r} of tool {tool_name!r}", name, attribute)
        except InvalidArgumentError as error:
            return error
        return None

    try:
        return build(f"the signature of tool {tool_name!r}", "execute", *members)
    except InvalidArgumentError as error:
        raise next(filter(None, map(problem, names, names.values())), error) from error.__cause__


def _model(members: Mapping[str, _Member]) -> type[BaseModel]:
    from pydantic import create_model

    return create_model("Arguments", __config__={"extra": "forbid"}, **members)  # type: ignore[call-overload,no-any-return]  # computed


def _member(tool_name: str, name: str, found: _Field) -> _Member:
    from pydantic import Field
    from pydantic.fields import FieldInfo

    if isinstance(found.default, FieldInfo):
        reason = "has a Field(...) for its default: write Annotated[..., Field(...)] and a plain default"
        _refuse(tool_name, name, reason, found.default)
    extras = get_args(found.annotation)[1:]
    own = next((extra.description for extra in extras if isinstance(extra, FieldInfo) and extra.description), None)
    description = own or found.description
    if found.default is inspect.Parameter.empty:
        return found.annotation, Field(alias=name, description=description)
    return found.annotation, Field(default=found.default, alias=name, description=description)
