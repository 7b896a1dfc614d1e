"""The first place where two JSON values differ."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from onion.spec.base import is_array, is_object

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

_MISSING = "missing"


def difference(one: JsonValue, other: JsonValue, *, ignored: Collection[str] = ()) -> str:
    """Where the values differ and how, in words; empty if they are equal. Keys in *ignored* count at no depth."""
    ones, others = dict(_leaves(one, ignored, "")), dict(_leaves(other, ignored, ""))
    for place in (*ones, *others):
        found = ones.get(place, _MISSING), others.get(place, _MISSING)
        if found[0] != found[1]:
            return f"{place or 'the value'} is {found[0][:100]} in one and {found[1][:100]} in the other"
    return ""


def _leaves(value: object, ignored: Collection[str], place: str) -> Iterator[tuple[str, str]]:
    """Every member that holds no others, with its place."""
    if is_object(value):
        for key, member in value.items():
            if key not in ignored:
                yield from _leaves(member, ignored, f"{place}.{key}".lstrip("."))
    elif is_array(value):
        for index, member in enumerate(value):
            yield from _leaves(member, ignored, f"{place}[{index}]")
    else:
        yield place, repr(value)
