"""`to_json` and `from_json`: the one pair that turns values of the contract into the AI SDK's JSON and back.

Keys are camelCase, tags kebab-case, absent members are left out, times are ISO 8601 in UTC with milliseconds, bytes
are base64. What users and providers own (options, metadata, schemas, tool inputs) passes untouched.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

from onion.errors import TypeValidationError
from onion.spec.base import is_array, is_object
from onion.spec.decoding import Place, decoder, where
from onion.spec.failures import error_to_json
from onion.spec.naming import TAGS, camel

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

T = TypeVar("T")
_Encoder: TypeAlias = "Callable[[object, Place], JsonValue]"

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


_SCALARS = (str, int, float)
_PLAIN = frozenset({*_SCALARS, bool, type(None)})


def _encode(value: object, place: Place) -> JsonValue:
    if value is None or isinstance(value, _SCALARS):
        return value
    kind: type = type(value)
    members = _members(kind)
    if members is not None:
        return members(value, place)
    if is_array(value):
        return [_encode(item, (place, index)) for index, item in enumerate(value)]
    if is_object(value):
        return {str(key): _encode(item, (place, str(key))) for key, item in value.items()}
    return _encode_leaf(value, place)


@functools.lru_cache(maxsize=1024)  # bounded, because classes may be made on the fly
def _members(kind: type) -> _Encoder | None:
    """A function written for dataclass *kind*, which gives its constant tags and its fields; None for another class."""
    if not dataclasses.is_dataclass(kind):
        return None
    fields = [field for field in dataclasses.fields(kind) if field.metadata.get("json", True)]
    names = {field.name for field in fields}
    tags = {camel(tag): getattr(kind, tag) for tag in TAGS if tag not in names and hasattr(kind, tag)}
    lines = [f"encoded = {tags!r}"]
    for field in fields:
        is_required = field.default is field.default_factory is dataclasses.MISSING
        key = repr(camel(field.name))
        lines += [
            f"member = value.{field.name}",
            "if True:" if is_required else "if member is not None:",
            f"    encoded[{key}] = member if type(member) in _PLAIN else _encode(member, (place, {key}))",
        ]
    source = "def encode(value, place):\n    " + "\n    ".join([*lines, "return encoded"])
    written: dict[str, _Encoder] = {}
    exec(source, {"_PLAIN": _PLAIN, "_encode": _encode}, written)  # noqa: S102 - names of fields and nothing else
    return written["encode"]


def _encode_leaf(value: object, place: Place) -> JsonValue:
    if isinstance(value, datetime):
        try:
            moment = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        except OverflowError as error:
            msg = f"{where(place)} holds {value}, which no date in UTC can say"
            raise TypeValidationError(msg, value=value) from error
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, BaseException):
        return {"$error": _encode(error_to_json(value), place)}
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        jsonable: JsonValue = to_jsonable_python(value)
    except PydanticSerializationError as error:
        msg = f"{where(place)} holds a {type(value).__name__}, which has no JSON form: convert it first"
        raise TypeValidationError(msg, value=value) from error
    return jsonable
