"""The rules of comparison, each seen to let through what it should and to notice what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.compare import compare

if TYPE_CHECKING:
    from onion.spec import JsonValue
    from tests.conformance.data import Record

DELTAS: list[JsonValue] = [
    {"type": "text-start", "id": "a"},
    {"type": "text-delta", "id": "a", "text": "on"},
    {"type": "text-delta", "id": "a", "text": "e"},
    {"type": "text-delta", "id": "b", "text": "two"},
    {"type": "text-delta", "id": "b", "text": ""},
]
JOINED: JsonValue = [
    {"type": "text-start", "id": "a"},
    {"type": "text-delta", "id": "a", "text": "one"},
    {"type": "text-delta", "id": "b", "text": "two"},
]
EQUAL: dict[str, tuple[Record, Record]] = {
    "null is absent": ({"text": None}, {}),
    "false flags are absent": ({"steps": [{"dynamic": False}]}, {"steps": [{}]}),
    "numbers by value": ({"n": 9}, {"n": 9.0}),
    "order of members": ({"o": {"a": 1, "b": 2}}, {"o": {"b": 2, "a": 1}}),
    "any text": ({"text": "Error: <*>!"}, {"text": "Error: something\nlong!"}),
    "timestamps": ({"t": "<timestamp>"}, {"t": "2026-01-01T00:00:00.000Z"}),
    "a placeholder is bound": ({"a": ["<approval-id-1>"] * 2}, {"a": ["x", "x"]}),
    "words of an error": ({"error": {"name": "E", "message": "a"}}, {"error": {"name": "E", "message": "b"}}),
    "skipped keys": ({"loggedWarnings": [1]}, {"errorPhase": "call"}),
    "cuts of deltas": ({"fullStream": DELTAS}, {"fullStream": JOINED}),
    "what is no list of parts": ({"fullStream": ["x"]}, {"fullStream": ["x"]}),
}
DIFFERENT: dict[str, tuple[Record, Record]] = {
    "items that are null count": ({"a": [None]}, {"a": []}),
    "true is not 1": ({"a": True}, {"a": 1}),
    "a number": ({"a": 1}, {"a": 2}),
    "a text": ({"a": "x"}, {"a": "y"}),
    "another kind": ({"a": "1"}, {"a": 1}),
    "a missing member": ({"o": {"a": 1}}, {"o": {}}),
    "one member more": ({"o": {}}, {"o": {"a": 1}}),
    "one key more": ({}, {"text": "x"}),
    "one item more": ({"a": [1]}, {"a": [1, 1]}),
    "text that does not fit": ({"text": "Error: <*>"}, {"text": "Failure: x"}),
    "no text where any will do": ({"t": "<response-id>"}, {"t": ""}),
    "a placeholder that changes": ({"a": ["<part-id-1>"] * 2}, {"a": ["x", "y"]}),
    "two placeholders for one": ({"a": ["<part-id-1>", "<part-id-2>"]}, {"a": ["x", "x"]}),
    "an error without words": ({"error": {"name": "E", "message": "a"}}, {"error": {"name": "E", "message": 1}}),
    "other deltas": ({"fullStream": DELTAS}, {"fullStream": DELTAS[:2]}),
    "events": ({"events": ["a", "b"]}, {"events": ["b", "a"]}),
}


@pytest.mark.parametrize(("expected", "actual"), EQUAL.values(), ids=EQUAL)
def test_what_means_the_same_is_equal(expected: Record, actual: Record) -> None:
    assert compare(expected, actual) == []


@pytest.mark.parametrize(("expected", "actual"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_means_something_else_is_different(expected: Record, actual: Record) -> None:
    assert compare(expected, actual) != []


def test_order_of_events_does_not_matter_around_an_abort() -> None:
    assert compare({"events": ["a", "b"]}, {"events": ["b", "a"]}, tags=["abort"]) == []


def test_cuts_of_deltas_matter_where_the_scenario_says_so() -> None:
    assert compare({"fullStream": DELTAS}, {"fullStream": JOINED}, tags=["exact-chunks"]) != []


def test_a_scenario_may_ask_for_some_keys_only() -> None:
    assert compare({"text": "a"}, {"text": "a", "output": "b"}, only=["text"]) == []
    assert compare({"text": "a"}, {}, only=["text"]) != []


def test_long_values_are_cut_in_what_is_said_of_them() -> None:
    (difference,) = compare({"text": "x" * 1000}, {"text": "y"})

    assert len(difference) < 500
