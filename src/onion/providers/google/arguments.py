"""Arguments of a call that come in pieces, each with its place: ``{"jsonPath": "$.a[0].b", "stringValue": "x"}``."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from onion.providers._json import text_in

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9})\]|\[(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\]")
_VALUES = ("stringValue", "numberValue", "boolValue")

Place: TypeAlias = dict[str, "JsonValue"] | list["JsonValue"]


class Arguments:
    """The arguments of one call in the making."""

    def __init__(self) -> None:
        self.whole: dict[str, JsonValue] = {}

    def add(self, piece: JsonObject) -> None:
        """Put *piece* into its place; texts for the same place are joined. What has no place is left out."""
        steps = _steps(text_in(piece, "jsonPath"))
        if not steps:
            return
        value = next((piece[key] for key in _VALUES if key in piece), None)
        place: Place = self.whole
        for step, following in pairwise(steps):
            place = _inside(place, step, following)
        before = _at(place, steps[-1])
        is_more = isinstance(before, str) and isinstance(value, str)
        _put(place, steps[-1], f"{before}{value}" if is_more else value)


def _steps(path: str) -> list[str | int]:
    """The keys and indices of a path; empty for one that cannot be read."""
    steps: list[str | int] = []
    position = 1 if path.startswith("$") else 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return []
        position = step.end()
        key, index, single, double = step.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(key if key is not None else re.sub(r"\\(.)", r"\1", single or double or ""))
    return steps


def _inside(place: Place, step: str | int, following: str | int) -> Place:
    """What is at *step*, made where there is nothing to go into."""
    found = _at(place, step)
    if isinstance(found, dict) or (isinstance(found, list) and not isinstance(following, str)):
        return found
    made: Place = {} if isinstance(following, str) else []
    _put(place, step, made)
    return made


def _at(place: Place, step: str | int) -> JsonValue:
    if isinstance(place, dict):
        return place.get(str(step))
    return place[step] if isinstance(step, int) and step < len(place) else None


def _put(place: Place, step: str | int, value: JsonValue) -> None:
    """Set a member; an index past the end of a list adds to it, whatever the server says of the gap."""
    if isinstance(place, dict):
        place[str(step)] = value
    elif isinstance(step, int) and step < len(place):
        place[step] = value
    else:
        place.append(value)
