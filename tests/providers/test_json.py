"""JSON on the wire: what servers send, strict or not, and what a request may hold."""

import pytest

from onion.errors import JSONParseError, TypeValidationError
from onion.providers._json import count_in, dump_json, object_in, objects_in, parse_json, text_in
from onion.spec.base import JsonValue


def test_a_half_of_a_surrogate_pair_is_read() -> None:
    assert parse_json('{"a":"\\ud83d"}') == {"a": "\ud83d"}


def test_bytes_that_are_not_utf8_are_read_with_replacements() -> None:
    assert parse_json(b'{"a":"\xff"}') == {"a": "\ufffd"}


@pytest.mark.parametrize("text", [b"", b'{"a":', b"<html>", "[" * 100_000], ids=["empty", "cut", "html", "too deep"])
def test_what_is_no_json_is_an_error_that_shows_its_beginning(text: bytes | str) -> None:
    with pytest.raises(JSONParseError, match="not JSON") as caught:
        parse_json(text)

    assert len(str(caught.value)) < 400


def test_a_text_may_hold_a_half_of_a_surrogate_pair() -> None:
    assert parse_json('{"a": "\ud83d"}') == {"a": "\ud83d"}
    with pytest.raises(JSONParseError, match="not JSON"):
        parse_json('{"a": "\ud83d"')


def test_a_request_may_hold_a_half_of_a_surrogate_pair() -> None:
    assert dump_json({"a": "\ud83d", "b": "é"}) == b'{"a": "\\ud83d", "b": "\\u00e9"}'


def test_numbers_that_json_lacks_are_null() -> None:
    odd: JsonValue = {"a": float("nan"), "b": [float("-inf"), 1.5]}

    assert dump_json(odd) == b'{"a":null,"b":[null,1.5]}'
    assert dump_json([odd, "\ud83d", (1, 2)]) == b'[{"a": null, "b": [null, 1.5]}, "\\ud83d", [1, 2]]'


def test_a_value_that_is_nested_beyond_all_measure_has_no_json_form() -> None:
    deep: JsonValue = 0
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(TypeValidationError, match="no JSON form"):
        dump_json(deep)


def test_a_value_without_a_json_form_is_named() -> None:
    odd: dict[str, object] = {"a": object()}
    value: JsonValue = odd  # type: ignore[assignment]  # what a caller without a type checker may do

    with pytest.raises(TypeValidationError, match="no JSON form"):
        dump_json(value)


def test_members_are_read_if_they_are_what_they_should_be() -> None:
    source = parse_json('{"text":"a","object":{"x":1},"list":[{"y":2},3,null],"null":null}')

    assert isinstance(source, dict)
    assert (text_in(source, "text"), text_in(source, "null"), text_in(source, "none")) == ("a", "", "")
    assert (object_in(source, "object"), object_in(source, "list")) == ({"x": 1}, {})
    assert (objects_in(source, "list"), objects_in(source, "text")) == ([{"y": 2}], [])


@pytest.mark.parametrize(
    ("found", "count"),
    [
        *((3, 3), (0, 0), (3.0, 3), (3.5, None), (-1, None), (True, None), ("3", None), (None, None)),
        *((float("nan"), None), (1e308, None), (10**400, None), (2**63, None), (2**63 - 1, 2**63 - 1)),
    ],
)
def test_counts_are_whole_numbers_of_zero_or_more(found: JsonValue, count: int | None) -> None:
    assert count_in({"count": found}, "count") == count


def test_infinity_is_no_count() -> None:
    assert count_in({"count": float("inf")}, "count") is None
