"""Runtime types against declared ones, and differences of JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

import pytest

from onion.spec import JsonValue, Text, TextPart, UserMessage
from onion.testing.differences import difference
from onion.testing.fitting import misfit

T = TypeVar("T")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1, int),
        (1, float),
        (None, str | None),
        ("stop", Literal["stop", "length"]),
        (({"a": [1]},), tuple[JsonValue, ...]),
        ({"a": {"b": 1}}, Mapping[str, Mapping[str, int]]),
        (["a"], Sequence[str]),
        (print, Callable[[str], None]),
        (print, Callable[[str], None] | None),
        (UserMessage(content=(TextPart(text="hi"),)), UserMessage),
        (object(), T),
    ],
    ids=repr,
)
def test_what_has_its_declared_type_fits(value: object, kind: object) -> None:
    assert misfit(value, kind, "it") == ""


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("1", int, "it must be int, not '1'"),
        (True, int, "it must be int, not True"),
        (None, str, "it must be str, not None"),
        ("end", Literal["stop", "length"], "it must be Literal['stop', 'length'], not 'end'"),
        (["a"], tuple[str, ...], "it must be tuple, not ['a']"),
        ("abc", Sequence[str], "it must be Sequence, not 'abc'"),
        (("a", 1), tuple[str, ...], "it[1] must be str, not 1"),
        ([], Mapping[str, int], "it must be Mapping, not []"),
        ({1: 1}, Mapping[str, int], "a key of it must be str, not 1"),
        ({"a": "b"}, Mapping[str, int], "it['a'] must be int, not 'b'"),
        (1, str | None, "it must be str or NoneType, not 1"),
        (3, Callable[[str], None], "it must be Callable, not 3"),
    ],
    ids=repr,
)
def test_what_does_not_fit_is_named_with_its_place(value: object, kind: object, words: str) -> None:
    assert misfit(value, kind, "it") == words


def test_a_wrong_member_deep_inside_is_found() -> None:
    part = TextPart(text="hi")
    object.__setattr__(part, "text", 7)

    found = misfit(UserMessage(content=(part,)), UserMessage | Text, "message")

    assert found == "message.content[0].text must be str, not 7"


def test_equal_values_have_no_difference() -> None:
    assert difference({"a": [1, {"b": None}], "id": 1}, {"a": [1, {"b": None}], "id": 2}, ignored=["id"]) == ""


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (1, 2, "the value is 1 in one and 2 in the other"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "a[1] is 2 in one and 3 in the other"),
        ({"a": {"b": 1}}, {"a": {}}, "a.b is 1 in one and missing in the other"),
        ([], ["x"], "[0] is missing in one and 'x' in the other"),
    ],
    ids=["the whole", "an item", "a missing member", "an added item"],
)
def test_the_first_difference_is_named_with_its_place(one: JsonValue, other: JsonValue, words: str) -> None:
    assert difference(one, other) == words
