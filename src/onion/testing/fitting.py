"""Whether a value has the type that is declared for it, all the way down."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Literal, Union, get_args, get_origin

from onion.spec.base import is_array, is_object

_UNIONS: tuple[object, ...] = (Union, types.UnionType)


def misfit(value: object, kind: object, place: str) -> str:
    """Where *value* is not of the type *kind*, in words that begin with *place*; empty if it fits."""
    origin = _origin(kind)
    arguments = get_args(kind)
    if origin in _UNIONS:
        return _in_union(value, arguments, place)
    if origin is Literal:
        return "" if value in arguments else _wrong(value, kind, place)
    if not isinstance(origin, type):
        return ""  # a Callable: there is nothing to look into
    if arguments and issubclass(origin, Mapping):
        return _in_mapping(value, arguments, place)
    if arguments and issubclass(origin, Sequence):
        return _in_sequence(value, tuple if origin is tuple else Sequence, arguments[0], place)
    return _in_class(value, origin, place)


def _origin(kind: object) -> object:
    return get_origin(kind) or kind


@functools.cache
def _members(kind: type) -> tuple[tuple[str, object], ...]:
    if not dataclasses.is_dataclass(kind):
        return ()
    hints = typing.get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in dataclasses.fields(kind))


def _in_class(value: object, kind: type, place: str) -> str:
    accepted = (int, float) if kind is float else kind
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind in (int, float)):
        return _wrong(value, kind, place)
    members = _members(kind)
    wrong = (misfit(getattr(value, name), member, f"{place}.{name}") for name, member in members)
    return next(filter(None, wrong), "")


def _in_union(value: object, kinds: Sequence[object], place: str) -> str:
    if type(value) in kinds:
        return misfit(value, type(value), place)  # its own words say more than those of the whole union
    if any(not misfit(value, kind, place) for kind in kinds):
        return ""
    return _wrong(value, " or ".join(map(_word, kinds)), place)


def _in_sequence(value: object, container: type[object], kind: object, place: str) -> str:
    if not is_array(value) or not isinstance(value, container):
        return _wrong(value, container, place)
    wrong = (misfit(item, kind, f"{place}[{index}]") for index, item in enumerate(value))
    return next(filter(None, wrong), "")


def _in_mapping(value: object, kinds: Sequence[object], place: str) -> str:
    if not is_object(value):
        return _wrong(value, Mapping, place)
    for key, member in value.items():
        wrong = misfit(key, kinds[0], f"a key of {place}") or misfit(member, kinds[1], f"{place}[{key!r}]")
        if wrong:
            return wrong
    return ""


def _word(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def _wrong(value: object, wanted: object, place: str) -> str:
    word = wanted if isinstance(wanted, str) else _word(wanted)
    return f"{place} must be {word[:120]}, not {repr(value)[:80]}"
