"""The rules by which a record is compared with an expectation (FORMAT.md, section 9)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from onion.spec import JsonValue
    from tests.conformance.data import Record

SKIPPED = frozenset({"loggedWarnings", "errorPhase"})
FALSE_IS_ABSENT = frozenset({"dynamic", "preliminary", "providerExecuted", "invalid", "isAutomatic", "isError"})
PART_LISTS = frozenset({"fullStream", "streamParts"})
DELTA_TEXTS = {"text-delta": ("text", "delta"), "reasoning-delta": ("text", "delta"), "tool-input-delta": ("delta",)}

_PLACEHOLDER = re.compile(r"<(approval-id|part-id|generated-id)-\d+>")
_ANY_TEXT = frozenset({"<timestamp>", "<response-id>", "<signature>"})
_ABSENT = "(absent)"
_MAX_SHOWN = 300


def compare(
    expected: Record, actual: Record, *, tags: Sequence[str] = (), only: Sequence[str] | None = None
) -> list[str]:
    """The differences, each with its path; an empty list is equality.

    Args:
        expected: The keys of `expect`.
        actual: What was observed, with the same keys.
        tags: Of the scenario: ``exact-chunks`` and ``abort`` change the rules.
        only: Compare what is expected only; the record may hold more.
    """
    comparer = _Comparer()
    keys = expected.keys() if only is not None else expected.keys() | actual.keys()
    for key in sorted(keys - SKIPPED):
        wanted, found = prune(expected.get(key)), prune(actual.get(key))
        if key in PART_LISTS and "exact-chunks" not in tags:
            wanted, found = _coalesced(wanted), _coalesced(found)
        if key == "events" and "abort" in tags:
            wanted, found = _in_any_order(wanted), _in_any_order(found)
        comparer.compare(key, wanted, found)
    return comparer.differences


def prune(value: JsonValue) -> JsonValue:
    """Without members that are null, and without flags that are false where that means absent."""
    if isinstance(value, Mapping):
        return {
            key: prune(member)
            for key, member in value.items()
            if member is not None and not (member is False and key in FALSE_IS_ABSENT)
        }
    if is_list(value):
        return [prune(item) for item in value]
    return value


def is_list(value: JsonValue) -> TypeGuard[Sequence[JsonValue]]:
    """Whether *value* is a JSON list: a text is a sequence too."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_number(value: JsonValue) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _in_any_order(events: JsonValue) -> JsonValue:
    return sorted(map(str, events)) if is_list(events) else events


def _coalesced(parts: JsonValue) -> JsonValue:
    """Neighbouring deltas of one block joined, empty ones dropped: where a block was cut is not significant."""
    if not is_list(parts):
        return parts
    joined: list[dict[str, JsonValue]] = []
    for part in parts:
        if not isinstance(part, Mapping):
            return parts
        last = joined[-1] if joined else {}
        fields = DELTA_TEXTS.get(str(part.get("type")), ())
        is_more = fields and last.get("type") == part["type"] and last.get("id") == part.get("id")
        if is_more and "providerMetadata" not in part and "providerMetadata" not in last:
            last |= {field: f"{last.get(field, '')}{part[field]}" for field in fields if field in part}
        else:
            joined.append(dict(part))
    return [part for part in joined if not _is_empty_delta(part)]


def _is_empty_delta(part: Mapping[str, JsonValue]) -> bool:
    fields = DELTA_TEXTS.get(str(part.get("type")))
    return fields is not None and "providerMetadata" not in part and not any(part.get(field) for field in fields)


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."


class _Comparer:
    """Compares values, and binds numbered placeholders to what they meet first."""

    def __init__(self) -> None:
        self.differences: list[str] = []
        self._bound: dict[str, str] = {}
        self._taken: dict[str, str] = {}

    def compare(self, path: str, expected: JsonValue, actual: JsonValue) -> None:
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            self._compare_members(path, expected, actual)
        elif is_list(expected) and is_list(actual) and len(expected) == len(actual):
            for index, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
                self.compare(f"{path}[{index}]", wanted, found)
        elif isinstance(expected, str) and isinstance(actual, str):
            self._compare_text(path, expected, actual)
        elif _is_number(expected) and _is_number(actual):
            if expected != actual:
                self._differ(path, expected, actual)
        elif type(expected) is not type(actual) or expected != actual:
            self._differ(path, expected, actual)

    def _compare_members(self, path: str, expected: Mapping[str, JsonValue], actual: Mapping[str, JsonValue]) -> None:
        for key in sorted(expected.keys() | actual.keys()):
            if key not in expected or key not in actual:
                self._differ(f"{path}.{key}", expected.get(key, _ABSENT), actual.get(key, _ABSENT))
            elif key != "message" or "name" not in expected or not isinstance(actual[key], str):
                self.compare(f"{path}.{key}", expected[key], actual[key])  # the words of an error are its own

    def _compare_text(self, path: str, expected: str, actual: str) -> None:
        if expected in _ANY_TEXT:
            is_equal = bool(actual)
        elif _PLACEHOLDER.fullmatch(expected):
            is_bound = self._bound.setdefault(expected, actual) == actual
            is_equal = is_bound and self._taken.setdefault(actual, expected) == expected
        elif "<*>" in expected:
            pattern = ".*".join(map(re.escape, expected.split("<*>")))
            is_equal = re.fullmatch(pattern, actual, re.DOTALL) is not None
        else:
            is_equal = expected == actual
        if not is_equal:
            self._differ(path, expected, actual)

    def _differ(self, path: str, expected: JsonValue, actual: JsonValue) -> None:
        self.differences.append(f"{path}: expected {_shown(expected)}, got {_shown(actual)}")
