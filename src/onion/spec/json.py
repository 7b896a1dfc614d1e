"""`to_json` and `from_json`: the one pair that turns values of the contract into the AI SDK's JSON and back.

Keys are camelCase, tags kebab-case, absent members are left out, times are ISO 8601 in UTC with milliseconds, bytes
are base64. What users and providers own (options, metadata, schemas, tool inputs) passes untouched.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar, overload

from onion.errors import TypeValidationError
from onion.spec.base import is_array, is_object
from onion.spec.decoding import decoder
from onion.spec.failures import error_to_json
from onion.spec.naming import TAGS, camel

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

T = TypeVar("T")

FORMAT_VERSION = 1
"""Goes up when stored JSON of an older release can no longer be read."""


def to_json(value: object, *, version: bool = False) -> JsonValue:
    """The JSON form of *value*, new at every level that Onion owns.

    Args:
        value: A value of the contract, an error, or a tuple or list of them.
        version: Put ``version`` beside the members, for what is stored.

    Raises:
        TypeValidationError: When something in it has no JSON form.
    """
    try:
        encoded = _encode(value, "value")
    except RecursionError:
        msg = f"the {type(value).__name__} holds something that is nested too deeply, or holds itself"
        raise TypeValidationError(msg, value=value) from None
    if not version:
        return encoded
    if not isinstance(encoded, dict):
        msg = f"only an object can carry a version, not {type(value).__name__}"
        raise TypeValidationError(msg, value=value)
    return {"version": FORMAT_VERSION, **encoded}


@overload
def from_json(kind: type[T], data: object) -> T: ...
@overload
def from_json(kind: object, data: object) -> object: ...
def from_json(kind: object, data: object) -> object:
    """The value of type *kind* whose JSON form is *data*.

    Args:
        kind: A class of the contract, a union of them such as `Message`, or a tuple type such as `Prompt`.
        data: Parsed JSON. Keys in snake_case are taken as well.

    Raises:
        TypeValidationError: When *data* has another shape; the message names the place. Also for an unknown version.
    """
    if is_object(data) and "version" in data:
        members = dict(data)
        found = members.pop("version")
        if found != FORMAT_VERSION:
            msg = f"stored with format version {found!r}, but this release reads version {FORMAT_VERSION}"
            raise TypeValidationError(msg, value=found)
        data = members
    return decoder(kind)(data, kind.__name__ if isinstance(kind, type) else "value")


@functools.cache
def _members(kind: type) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str, bool], ...]]:
    """The constant tags of a class and its fields, each with the JSON key; for fields, whether None is written."""
    fields = [field for field in dataclasses.fields(kind) if field.metadata.get("json", True)]
    names = {field.name for field in fields}
    tags = [(camel(tag), getattr(kind, tag)) for tag in TAGS if tag not in names and hasattr(kind, tag)]
    required = {field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING}
    return tuple(tags), tuple((field.name, camel(field.name), field.name in required) for field in fields)


def _encode(value: object, place: str) -> JsonValue:
    if value is None or isinstance(value, str | int | float):
        return value
    if is_array(value):
        return [_encode(item, f"{place}[{index}]") for index, item in enumerate(value)]
    if is_object(value):
        return {str(key): _encode(item, f"{place}.{key}") for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        tags, fields = _members(type(value))
        encoded: dict[str, JsonValue] = dict(tags)
        for name, key, is_written in fields:
            member = getattr(value, name)
            if member is not None or is_written:
                encoded[key] = _encode(member, f"{place}.{key}")
        return encoded
    return _encode_leaf(value, place)


def _encode_leaf(value: object, place: str) -> JsonValue:
    if isinstance(value, datetime):
        try:
            moment = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        except OverflowError as error:
            raise TypeValidationError(f"{place} holds {value}, which no date in UTC can say", value=value) from error
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, BaseException):
        return {"$error": _encode(error_to_json(value), place)}
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        jsonable: JsonValue = to_jsonable_python(value)
    except PydanticSerializationError as error:
        msg = f"{place} holds a {type(value).__name__}, which has no JSON form: convert it first"
        raise TypeValidationError(msg, value=value) from error
    return jsonable
