"""Copies of answers that share what nobody can change."""

from __future__ import annotations

import dataclasses
import functools
from typing import TypeVar

from onion.spec.base import is_array, is_object

T = TypeVar("T")

_PLAIN = frozenset({str, int, float, bool, type(None)})


def fresh(value: T) -> T:
    """A copy of *value* in which nothing that can be changed is shared with it; itself if it holds nothing such."""
    copied: T = _fresh(value)  # type: ignore[assignment]  # a copy is of the class of its original
    return copied


def _fresh(value: object) -> object:
    kind: type = type(value)
    if kind in _PLAIN:
        return value
    found = _fields(kind)
    if found is None:
        return _fresh_json(value)
    names, is_frozen = found
    given = [getattr(value, name) for name in names]
    copied = [member if type(member) in _PLAIN else _fresh(member) for member in given]
    if is_frozen and all(map(_is_same, copied, given)):
        return value
    made: object = kind(**dict(zip(names, copied, strict=True)))
    return made


def _fresh_json(value: object) -> object:
    if is_object(value):
        return {key: _fresh(member) for key, member in value.items()}
    if not is_array(value):
        return value
    items = [_fresh(item) for item in value]
    if not isinstance(value, tuple):
        return items
    return value if all(map(_is_same, items, value)) else tuple(items)


def _is_same(one: object, other: object) -> bool:
    return one is other


@functools.lru_cache(maxsize=1024)  # bounded, because classes may be made on the fly
def _fields(kind: type) -> tuple[tuple[str, ...], bool] | None:
    """The fields of a dataclass, and whether its instances are frozen; None for another class."""
    if not dataclasses.is_dataclass(kind):
        return None
    is_frozen = kind.__setattr__ is not object.__setattr__
    return tuple(field.name for field in dataclasses.fields(kind)), is_frozen
