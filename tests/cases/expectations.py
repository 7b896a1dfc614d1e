"""Compares what was observed with what a case expects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cases.case import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.base import JsonObject, JsonValue

_UNLESS_RAISED = frozenset({"text", "finish", "finish_count", "reasoning"})
_GENERATED = "<non-empty, unique>"
_SKIPPED = frozenset({"raises_ok", "comment", "note"})


def differences(expect: JsonObject, observed: Mapping[str, JsonValue]) -> list[str]:
    """What differs, a line each; an expectation that nothing was observed for is a difference."""
    is_raised = bool(observed.get("raised"))
    faults: list[str] = []
    for key, wanted in expect.items():
        if key in _SKIPPED or (key in _UNLESS_RAISED and is_raised and expect.get("raises_ok")):
            continue
        faults += _check(key, wanted, observed)
    return faults


def _check(key: str, wanted: JsonValue, observed: Mapping[str, JsonValue]) -> list[str]:
    if key == "any_of":
        found = [differences(each, observed) for each in rows(wanted)]
        return [] if any(not faults for faults in found) else [f"none of {len(found)} alternatives holds: {found}"]
    if key == "tool_calls":
        return _check_calls(rows(wanted), rows(observed.get(key)))
    for suffix, holds in (("_any_of", _is_one_of), ("_contains", _contains), ("_not", _is_not)):
        name = key.removesuffix(suffix)
        if name != key and name in observed:
            return [] if holds(wanted, observed[name]) else [f"{key}: {observed[name]!r} for {wanted!r}"]
    if key not in observed:
        return [f"nothing observed for {key!r}"]
    return [] if _equals(wanted, observed[key]) else [f"{key}: {observed[key]!r} instead of {wanted!r}"]


def _check_calls(wanted: list[JsonObject], found: list[JsonObject]) -> list[str]:
    if len(wanted) != len(found):
        return [f"{len(found)} tool calls instead of {len(wanted)}: {found!r}"]
    ids = [call.get("id") for call in found]
    faults = (
        ["the ids of the calls are empty or not unique"] if len(set(map(str, ids))) < len(ids) or not all(ids) else []
    )
    for each, call in zip(wanted, found, strict=True):
        for key, value in each.items():
            if value != _GENERATED and not _equals(value, call.get(key)):
                faults.append(f"tool call {call.get('id')}: {key} is {call.get(key)!r} instead of {value!r}")
    return faults


def _equals(wanted: JsonValue, found: JsonValue) -> bool:
    """Equality; of an object that is found, members that nobody asks for do not matter."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(key in found and _equals(value, found[key]) for key, value in wanted.items())
    return wanted == found and isinstance(wanted, bool) == isinstance(found, bool)


def _is_one_of(wanted: JsonValue, found: JsonValue) -> bool:
    return isinstance(wanted, list) and any(_equals(each, found) for each in wanted)


def _contains(wanted: JsonValue, found: JsonValue) -> bool:
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return all(str(each) in text for each in (wanted if isinstance(wanted, list) else [wanted]))


def _is_not(wanted: JsonValue, found: JsonValue) -> bool:
    return not _equals(wanted, found)
