from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.middleware.tool_call_repair.mending import decode_by_schema, parse, readings, similar_name

if TYPE_CHECKING:
    from onion.spec import JsonValue

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def best(text: str) -> tuple[str, tuple[str, ...]] | None:
    found = list(readings(text))
    return found[-1] if found else None


@pytest.mark.parametrize(
    ("text", "mended", "steps"),
    [
        ('{"a":1}', '{"a":1}', ()),
        ("", "", ()),
        ('```json\n{"a":1}\n```', '{"a":1}', ("fence",)),
        ('```\n{"a":1}\n```', '{"a":1}', ("fence",)),
        ('```JSON\n{"a":"x"', '{"a":"x"}', ("fence", "unclosed-bracket")),
        ('{"a":[1,2,],}', '{"a":[1,2]}', ("trailing-comma",)),
        ('{"a":"x"', '{"a":"x"}', ("unclosed-bracket",)),
        ('{"a":[{"b":true', '{"a":[{"b":true}]}', ("unclosed-bracket",)),
        ('{"a":["x","y"', '{"a":["x","y"]}', ("unclosed-bracket",)),
        ('{"a":{"b":1}', '{"a":{"b":1}}', ("unclosed-bracket",)),
        ('{"a":1}}', '{"a":1}', ("stray-bracket",)),
        ('"{\\"a\\":1}"', '{"a":1}', ("double-encoded",)),
        ('"```json\\n{\\"a\\":\\"x\\"\\n```"', '{"a":"x"}', ("double-encoded", "fence", "unclosed-bracket")),
        ('{ "price" : 1.10 , }', '{ "price" : 1.10 }', ("trailing-comma",)),
        ('{"a":"},]"}', '{"a":"},]"}', ()),
    ],
)
def test_a_text_is_read_in_the_one_way_it_can_be_read(text: str, mended: str, steps: tuple[str, ...]) -> None:
    assert best(text) == (mended, steps)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":10',
        '{"a":"Os',
        '{"a":"Oslo\\',
        '{"a":tru',
        '{"a":',
        '{"a"',
        '{"a":"x","b"',
        '{"a":"x",',
        '{"a":[',
        "{",
        "[1,2",
        '{"query": "test"}, "limit": 10}',
        '{"a":1]',
        "]",
        '{"a":,}',
        '{"a":1,,}',
        "{'a':1}",
        "not JSON",
        '{"a":NaN}',
        '```python\n{"a":1}\n```',
    ],
)
def test_nothing_is_made_up_where_something_is_missing(text: str) -> None:
    assert best(text) is None


def test_json_that_is_a_text_of_itself_too_often_is_left_alone() -> None:
    text = '{"a":1}'
    for _ in range(5):
        text = json.dumps(text)

    assert [steps for _, steps in readings(text)] == [(), ("double-encoded",), ("double-encoded",) * 2]


@pytest.mark.parametrize("text", ["NaN", '{"a":Infinity}', '{"a":-Infinity}'])
def test_what_only_python_takes_for_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no JSON"):
        parse(text)


@given(JSON)
def test_json_is_left_as_it_is(value: JsonValue) -> None:
    text = json.dumps(value)

    text_read, steps = next(readings(text))

    assert (text_read, steps) == (text, ())


@given(JSON, st.data())
def test_a_prefix_is_closed_only_by_brackets(value: JsonValue, data: st.DataObject) -> None:
    text = json.dumps([value])
    prefix = text[: data.draw(st.integers(1, len(text) - 1))]

    found = best(prefix)

    if found is not None and found[1] == ("unclosed-bracket",):
        assert found[0].startswith(prefix.rstrip())
        assert set(found[0][len(prefix.rstrip()) :]) <= {"]", "}"}


@given(st.text(alphabet='{}[]",:1ab \n\\`', max_size=30))
def test_whatever_is_read_is_json(text: str) -> None:
    for found, _ in readings(text):
        parse(found)


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_a_very_deep_text_does_no_harm(depth: int) -> None:
    assert best("[" * depth) is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("getWeather", "get_weather"),
        ("GET-WEATHER", "get_weather"),
        ("get weather", "get_weather"),
        ("weather", None),
        ("find_", "find"),
        ("__", None),
        ("sendmail", None),
    ],
)
def test_a_name_is_known_by_its_letters(name: str, found: str | None) -> None:
    assert similar_name(name, ["get_weather", "find", "send_mail", "sendMail"]) == found


SAVE: Mapping[str, JsonValue] = {
    "type": "object",
    "$defs": {"tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}, "tag": {"type": ["object", "null"]}},
    "properties": {
        "tags": {"$ref": "#/$defs/tags"},
        "note": {"type": "string"},
        "either": {"anyOf": [{"type": "array"}, {"type": "string"}]},
        "one": {"oneOf": [{"type": "array"}, {"type": "null"}]},
        "any": {},
        "lost": {"$ref": "https://x.example/"},
        "missing": {"$ref": "#/$defs/nowhere/deeper"},
        "self": {"$ref": "#/properties/self"},
        "count": {"type": "integer"},
    },
}


@pytest.mark.parametrize(
    ("value", "decoded"),
    [
        ({"tags": '[{"a":1}]', "note": "[1,2]"}, {"tags": [{"a": 1}], "note": "[1,2]"}),
        ({"tags": ['{"a":1}', None]}, {"tags": [{"a": 1}, None]}),
        ({"tags": "a, b"}, {"tags": "a, b"}),
        ({"tags": "3"}, {"tags": "3"}),
        ({"either": "[1]"}, {"either": "[1]"}),
        ({"one": "[1]"}, {"one": [1]}),
        ({"any": "[1]"}, {"any": "[1]"}),
        ({"lost": "[1]"}, {"lost": "[1]"}),
        ({"missing": "[1]"}, {"missing": "[1]"}),
        ({"self": "[1]"}, {"self": "[1]"}),
        ({"unknown": "[1]"}, {"unknown": "[1]"}),
        ({"count": "10"}, {"count": "10"}),
        ('{"note":"x"}', {"note": "x"}),
        (5, 5),
    ],
    ids=str,
)
def test_a_text_is_decoded_only_where_the_schema_takes_no_text(value: JsonValue, decoded: JsonValue) -> None:
    assert decode_by_schema(value, SAVE, SAVE) == decoded
