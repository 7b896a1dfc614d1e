"""JSON to values: one decoder per type, made from the type hints on first use."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar, Literal, TypeAlias, Union, get_args, get_origin

from onion.errors import TypeValidationError
from onion.spec.base import is_array, is_object
from onion.spec.failures import error_from_json
from onion.spec.naming import TAGS, camel

Place: TypeAlias = "str | tuple[Place, str | int]"
"""Where something stands: a name, or a place and the key or index from there. Written out only when it is wrong."""

Decoder: TypeAlias = Callable[[object, Place], object]

_LIST = "a list"
_ALIASES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@functools.cache
def decoder(kind: object) -> Decoder:
    """What reads the JSON form of *kind*, given the data and its place."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if origin is tuple:
        return _items(get_args(kind)[0])
    if origin is Literal:
        return _literal(get_args(kind))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _members(kind)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return _error
    if origin is not None and issubclass(origin, Mapping):
        return _mapping
    return _LEAVES.get(kind, _anything) if isinstance(kind, type) else _anything


def where(place: Place) -> str:
    """*place* in words."""
    steps: list[str] = []
    while not isinstance(place, str):
        place, step = place
        steps.append(f".{step}" if isinstance(step, str) else f"[{step}]")
    return place + "".join(reversed(steps))


def fail(place: Place, wanted: str, found: object) -> TypeValidationError:
    """The error for data that is not what its place wants."""
    return TypeValidationError(f"{where(place)} must be {wanted}, not {_shown(found)}", value=found)


def _shown(found: object) -> str:
    return "an object" if is_object(found) else _LIST if is_array(found) else repr(found)[:80]


def _plain(kind: type) -> Decoder:
    accepted = (int, float) if kind is float else (kind,)

    def decode(data: object, place: Place) -> object:
        if type(data) in accepted or (isinstance(data, accepted) and not isinstance(data, bool)):
            return data
        raise fail(place, _ALIASES[kind], data)

    return decode


def _anything(data: object, _place: Place) -> object:
    if is_object(data) and is_object(error := data.get("$error")):
        return error_from_json(error, decoder)
    return data


def _error(data: object, place: Place) -> object:
    found = _anything(data, place)
    if isinstance(found, BaseException):
        return found
    raise fail(place, "an error", data)


def _mapping(data: object, place: Place) -> Mapping[str, object]:
    if is_object(data):
        return data
    raise fail(place, "an object", data)


def _moment(data: object, place: Place) -> object:
    if isinstance(data, datetime):
        return data
    try:
        moment = datetime.fromisoformat(data if isinstance(data, str) else "")
    except ValueError as error:
        raise fail(place, "an ISO 8601 time", data) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _bytes(data: object, place: Place) -> object:
    if isinstance(data, bytes):
        return data
    raise fail(place, "bytes", data)


_LEAVES: dict[type, Decoder] = {
    **{kind: _plain(kind) for kind in _ALIASES},
    datetime: _moment,
    bytes: _bytes,
}


def _literal(words: tuple[object, ...]) -> Decoder:
    known = frozenset(words)
    wanted = "one of " + ", ".join(repr(word) for word in words)

    def decode(data: object, place: Place) -> object:
        if isinstance(data, str) and data in known:
            return data
        raise fail(place, wanted, data)

    return decode


def _items(kind: object) -> Decoder:
    item = decoder(kind)

    def decode(data: object, place: Place) -> object:
        if not is_array(data):
            raise fail(place, _LIST, data)
        return tuple([item(member, (place, index)) for index, member in enumerate(data)])

    return decode


def _union(kinds: tuple[object, ...]) -> Decoder:
    if any(get_origin(kind) is Sequence for kind in kinds):
        return _anything  # JsonValue
    classes = [kind for kind in kinds if isinstance(kind, type) and dataclasses.is_dataclass(kind)]
    others = [decoder(kind) for kind in kinds if not dataclasses.is_dataclass(kind) and kind is not type(None)]
    tagged = _tagged(classes) if len(classes) > 1 else decoder(classes[0]) if classes else None
    only = tagged if not others else others[0] if tagged is None and len(others) == 1 else None
    if only is not None:
        return _optional(only) if type(None) in kinds else only
    is_optional = type(None) in kinds

    def decode(data: object, place: Place) -> object:
        if data is None and is_optional:
            return None
        if tagged is not None and (is_object(data) or type(data) in classes):
            return tagged(data, place)
        for other in others[:-1]:
            try:
                return other(data, place)
            except TypeValidationError:
                continue
        return others[-1](data, place)

    return decode


def _optional(read: Decoder) -> Decoder:
    def decode(data: object, place: Place) -> object:
        return None if data is None else read(data, place)

    return decode


def _tagged(classes: Sequence[type]) -> Decoder:
    names = [name for name in TAGS if any(hasattr(kind, name) for kind in classes)]
    table = {tuple(getattr(kind, name, None) for name in names): decoder(kind) for kind in classes}
    firsts = [tags[0] for tags in table]
    sure = {tags[0]: reader for tags, reader in table.items() if firsts.count(tags[0]) == 1}
    keys = [camel(name) for name in names]
    known = ", ".join(dict.fromkeys(repr(tags[0]) for tags in table))

    def decode(data: object, place: Place) -> object:
        if type(data) in classes:
            return data
        if not is_object(data):
            raise fail(place, "an object", data)
        first = data.get(keys[0])
        if isinstance(first, str) and first in sure:
            return sure[first](data, place)
        found = tuple(data.get(key, data.get(name)) for key, name in zip(keys, names, strict=True))
        try:
            reader = table.get(found)
        except TypeError:  # a tag that is a list or an object
            reader = None
        if reader is None:
            raise fail((place, keys[0]), f"one of {known}", found[0])
        return reader(data, place)

    return decode


class _Member:
    """One key of an object.

    Attributes:
        name: The field that it fills.
        plain: Values of just that class need no reading.
        read: Reads all others. It is worked out when first called, since types may recur.
    """

    __slots__ = ("is_required", "name", "plain", "read")

    read: Decoder

    def __init__(self, name: str, hint: object, *, is_required: bool) -> None:
        def first(data: object, place: Place) -> object:
            self.read = decoder(hint)
            return self.read(data, place)

        self.name = name
        self.is_required = is_required
        self.plain = next((kind for kind in _ALIASES if hint in (kind, kind | None)), None)
        self.read = first


def _members(kind: type) -> Decoder:
    hints = typing.get_type_hints(kind)
    constants = {name for name, hint in hints.items() if get_origin(hint) is ClassVar}
    fields = [field for field in dataclasses.fields(kind) if field.metadata.get("json", True)]
    required = sorted(field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING)
    members = {
        key: _Member(field.name, hints[field.name], is_required=field.name in required)
        for field in fields
        for key in (field.name, camel(field.name))
    }
    ignored = constants | {camel(name) for name in constants}

    def decode(data: object, place: Place) -> object:
        if type(data) is kind:
            return data
        if not is_object(data):
            raise fail(place, "an object", data)
        found: dict[str, object] = {}
        for key, datum in data.items():
            member = members.get(key)
            if member is not None:
                if type(datum) is member.plain:
                    found[member.name] = datum
                elif datum is not None or member.is_required:
                    found[member.name] = member.read(datum, (place, key))
            elif key not in ignored:
                known = ", ".join(sorted({camel(field.name) for field in fields}))
                raise TypeValidationError(f"{where(place)} has no member {key!r}: known are {known}", value=data)
        for name in required:
            if name not in found:
                lacking = ", ".join(repr(camel(name)) for name in required if name not in found)
                raise TypeValidationError(f"{where(place)} lacks {lacking}", value=data)
        return kind(**found)

    return decode
