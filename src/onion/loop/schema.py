"""What a value has to look like: a JSON Schema to send, and a check that turns JSON into a Python value.

pydantic and jsonschema-rs are imported when the first schema is made, not before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field
from types import UnionType
from typing import TYPE_CHECKING, Never, TypeAlias, TypeGuard, TypeVar

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.loop.json_schema import closed, inlined
from onion.spec.base import JSONSchema, JsonValue, value

if TYPE_CHECKING:
    import jsonschema_rs
    from pydantic import TypeAdapter, ValidationError
    from pydantic.json_schema import GenerateJsonSchema

T = TypeVar("T")

MAX_PROBLEMS = 5
"""How many things that are wrong with one value an error names."""
MAX_PROBLEM_LENGTH = 300
"""Longest account of one problem, in characters: a validator may quote the whole value."""


@value
class Schema:
    """A shape of values.

    Attributes:
        json_schema: The shape as JSON Schema; every reference in it resolves inside of it.
        validate: Takes parsed JSON, gives the Python value, or raises TypeValidationError with the path. A raw JSON
            Schema gives the JSON back unchanged.
        validate_python: The same for a value that is Python's already, such as a context.
    """

    json_schema: JSONSchema
    validate: Callable[[JsonValue], object] = field(compare=False, repr=False)
    validate_python: Callable[[object], object] = field(compare=False, repr=False)


SchemaSource: TypeAlias = type[object] | UnionType | JSONSchema | Schema
"""A pydantic model, dataclass, TypedDict or any other type that pydantic knows; or a JSON Schema.

Before Python 3.12 pydantic reads the TypedDict of typing_extensions only, not that of typing.
"""


def schema_of(source: SchemaSource, *, parameter: str, where: str = "") -> Schema:
    """The schema that *source* describes. Types are looked at once, however often they are asked for.

    Args:
        source: A Python type, a JSON Schema, or a schema, which is given back.
        parameter: Name of the argument that holds it, for the error.
        where: What the argument belongs to, for the error: ``tool 'weather'``.

    Raises:
        InvalidArgumentError: When it is no shape of values, or none that JSON can carry.
    """
    if isinstance(source, Schema):
        return source
    place = f"{parameter} of {where}" if where else parameter
    if isinstance(source, Mapping):
        return _of_json_schema(source, parameter=parameter, place=place)
    if _is_hashable(source):
        return _of_known_type(source, parameter, place)
    return schema_of_type(source, parameter=parameter, place=place, unpack=_same)  # type: ignore[arg-type]  # union


def schema_of_type(kind: type[T], *, parameter: str, place: str, unpack: Callable[[T], object]) -> Schema:
    """The schema of a Python type, made anew.

    Args:
        kind: Anything that pydantic's TypeAdapter takes.
        parameter: Name of the argument that holds it, for the error.
        place: Name of the argument and of what it belongs to, for the error.
        unpack: Turns a validated value into what `validate` gives.

    Raises:
        InvalidArgumentError: When it is no shape of values, or none that JSON can carry.
    """
    from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter

    try:
        adapter = TypeAdapter(kind)
        json_schema = adapter.json_schema(schema_generator=_generator())
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        hint = "use a pydantic model, a dataclass, a TypedDict of typing_extensions or a JSON Schema"
        msg = f"{place} cannot be a schema: {reason_of(error)}; {hint}"
        raise InvalidArgumentError(msg, parameter=parameter, value=kind) from error
    check, check_python = _checks(adapter)
    return Schema(
        json_schema=closed(inlined(json_schema)),
        validate=lambda json: unpack(check(json)),
        validate_python=lambda given: unpack(check_python(given)),
    )


def reason_of(error: Exception) -> str:
    """The first sentence of pydantic's account: the rest advises on pydantic's own settings."""
    return str(error).splitlines()[0].split(". ")[0].removesuffix(".")


def _same(validated: object) -> object:
    return validated


def _is_hashable(source: object) -> TypeGuard[Hashable]:
    try:
        hash(source)
    except TypeError:  # such as Annotated[int, {}]
        return False
    return True


@functools.lru_cache(maxsize=512, typed=True)
def _of_known_type(kind: Hashable, parameter: str, place: str) -> Schema:
    return schema_of_type(kind, parameter=parameter, place=place, unpack=_same)  # type: ignore[arg-type]  # a union


@functools.cache
def _generator() -> type[GenerateJsonSchema]:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

    class WithoutFieldTitles(GenerateJsonSchema):
        """Leaves out the titles that pydantic makes up from field names, and defaults that JSON cannot carry."""

        ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # declared so by pydantic

        def field_title_should_be_set(self, schema: object) -> bool:
            return False

    return WithoutFieldTitles


def _checks(adapter: TypeAdapter[T]) -> tuple[Callable[[JsonValue], T], Callable[[object], T]]:
    from pydantic import ValidationError
    from pydantic_core import PydanticSerializationError, to_json

    validator = adapter.validator  # what the adapter's own method calls, after looking at arguments not given here

    def check(json: JsonValue) -> T:
        try:  # through JSON text, because a strict field takes "2026-01-31" for a date from JSON only
            checked: T = validator.validate_json(to_json(json))
        except ValidationError as error:
            raise TypeValidationError(_pydantic_problems(error), value=json) from error
        except PydanticSerializationError as error:
            msg = f"the value is not JSON: {error}"
            raise TypeValidationError(msg, value=json) from error
        return checked

    def check_python(given: object) -> T:
        try:
            return adapter.validate_python(given)
        except ValidationError as error:
            raise TypeValidationError(_pydantic_problems(error), value=given) from error

    return check, check_python


def _pydantic_problems(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return _account([(problem["loc"], problem["msg"]) for problem in found])


def _account(problems: Sequence[tuple[Sequence[str | int], str]]) -> str:
    """The first problems, each with the path to it: ``tags[0].name: Field required``."""
    told = [f"{path_text(path)}: {text[:MAX_PROBLEM_LENGTH]}" for path, text in problems[:MAX_PROBLEMS]]
    more = len(problems) - MAX_PROBLEMS
    return "; ".join([*told, f"and {more} more"] if more > 0 else told)


def path_text(path: Sequence[str | int]) -> str:
    """A path as Python would write it; the value itself is called ``value``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") if path else "value"


def _of_json_schema(source: JSONSchema, *, parameter: str, place: str) -> Schema:
    from pydantic_core import PydanticSerializationError, from_json, to_json

    try:
        text = to_json(source)
        validator = _validator(text)
    except (PydanticSerializationError, ValueError) as error:
        msg = f"{place} is no usable JSON Schema: {str(error).splitlines()[0]}"
        raise InvalidArgumentError(msg, parameter=parameter, value=source) from error

    def check(given: object) -> object:
        try:
            problems = (
                []
                if validator.is_valid(given)
                else [(e.instance_path, e.message) for e in validator.iter_errors(given)]
            )
        except ValueError as error:
            msg = f"the value is not JSON: {error}"
            raise TypeValidationError(msg, value=given) from error
        if problems:
            raise TypeValidationError(_account(problems), value=given)
        return given

    return Schema(json_schema=from_json(text), validate=check, validate_python=check)


@functools.lru_cache(maxsize=512)
def _validator(text: bytes) -> jsonschema_rs.Validator:
    import jsonschema_rs
    from pydantic_core import from_json

    schema = from_json(text)
    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse)
    except jsonschema_rs.ValidationError:
        if "$schema" in schema:
            raise
        try:  # draft 7 has a list of `items` where later drafts have `prefixItems`
            return jsonschema_rs.Draft7Validator(schema, retriever=_refuse)
        except jsonschema_rs.ValidationError:
            pass
        raise


def _refuse(uri: str) -> Never:
    msg = f"{uri} is another document, and none is fetched: write the schema out under $defs"
    raise ValueError(msg)
