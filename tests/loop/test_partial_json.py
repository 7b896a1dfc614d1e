from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from onion.loop.allowance import Allowance
from onion.loop.json_grammar import MISSING, Missing
from onion.loop.partial_json import PartialJSON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec import JsonValue

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.text(alphabet='"\\/\b\f\n\r\t\x00é你😀\ud83d\ude00aZ'),
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)
STYLES = st.sampled_from([(None, None), (None, (",", ":")), (2, None), (1, (" ,", " : "))])


@st.composite
def texts(draw: st.DrawFn) -> str:
    indent, separators = draw(STYLES)
    return json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)


@st.composite
def chunkings(draw: st.DrawFn, whole: st.SearchStrategy[str]) -> list[str]:
    text = draw(whole)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=30)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def fed(chunks: Sequence[str]) -> PartialJSON:
    parser = PartialJSON()
    for chunk in chunks:
        parser.feed(chunk)
    return parser


@given(chunkings(texts()))
def test_under_every_chunking_the_last_value_is_that_of_the_whole_text(chunks: list[str]) -> None:
    parser = fed(chunks)

    parser.finish()

    assert parser.value == json.loads("".join(chunks))
    assert parser.is_complete


@given(chunkings(texts()))
def test_a_value_is_said_to_have_changed_exactly_when_it_has(chunks: list[str]) -> None:
    parser = PartialJSON()
    before: JsonValue | Missing = MISSING

    for chunk in chunks:
        has_changed = parser.feed(chunk)
        assert has_changed is (parser.value != before)
        before = parser.value


@settings(max_examples=40)
@given(texts())
def test_the_value_of_a_text_does_not_depend_on_where_it_was_cut(text: str) -> None:
    parser = PartialJSON()

    for end in range(len(text)):
        parser.feed(text[end])
        if end < 64:
            assert parser.value == fed([text[: end + 1]]).value


@settings(max_examples=40)
@given(texts())
def test_partials_are_those_of_the_reference_parser_where_both_mean_the_same(text: str) -> None:
    # It leaves out words and numbers that are not whole, and refuses halves of surrogate pairs.
    assume(re.search(r"\\ud|[\ud800-\udfff]", text) is None)
    for end in range(1, len(text) + 1):
        start = text[:end]
        if start.rstrip()[-1:] not in ('"', "}", "]", "{", "[", ":"):
            continue
        parser = fed([start])
        parser.finish()
        assert parser.value == from_json(start, allow_partial="trailing-strings")


@given(chunkings(texts()))
def test_a_value_that_was_handed_out_never_changes(chunks: list[str]) -> None:
    parser = PartialJSON()
    handed_out: list[tuple[JsonValue | Missing, str]] = []

    for chunk in chunks:
        parser.feed(chunk)
        handed_out.append((parser.value, repr(parser.value)))

    assert [repr(value) for value, _ in handed_out] == [shown for _, shown in handed_out]


@given(st.text(alphabet='{}[]",:\\u0d8tfnrue1.-+eE \n\x01x'), st.text(alphabet='{}[]",:\\u0d8tfn1.-eE \n'))
def test_a_text_that_is_no_json_never_passes_for_a_whole_one(one: str, other: str) -> None:
    parser = fed([one, other])
    parser.finish()

    try:
        whole = json.loads(one + other)
    except ValueError:
        assert not parser.is_complete
    else:
        assert parser.is_complete
        assert parser.value == whole


OPEN_TEXTS: list[tuple[str, JsonValue | Missing]] = [
    ("", MISSING),
    ("  ", MISSING),
    ("-", MISSING),
    ('{"na', {}),
    ('{"name"', {}),
    ('{"name": ', {}),
    ('{"name": "', {"name": ""}),
    ('{"name": "Gr', {"name": "Gr"}),
    ('{"a": 1, "b"', {"a": 1}),
    ('{"a": 4', {"a": 4}),
    ('{"a": -', {}),
    ('{"a": 1.', {"a": 1}),
    ('{"a": 1.5e', {"a": 1.5}),
    ('{"a": 1.5e-', {"a": 1.5}),
    ('{"a": t', {"a": True}),
    ('{"a": fal', {"a": False}),
    ("nu", None),
    ("12", 12),
    ('["v', ["v"]),
    ("[[1], {", [[1], {}]),
    ('["caf\\', ["caf"]),
    ('["caf\\u00e', ["caf"]),
    ('["caf\\u00e9', ["café"]),
    ('["\\ud83d', [""]),
    ('["\\ud83d\\ude0', [""]),
    ('["\\ud83d\\ude00', ["😀"]),
    ('["\\ud83dx', ["\ud83dx"]),
]


@pytest.mark.parametrize(("text", "value"), OPEN_TEXTS)
def test_what_is_open_is_shown_as_far_as_it_goes(text: str, value: object) -> None:
    assert fed([text]).value == value
    assert fed(list(text)).value == value


NO_JSON = [
    "{]", "[}", "]", "}", "[1,]", '{"a":1,}', "[,1]", "[1 2]", '{"a" 1}', '{"a":1 "b":2}', "{1:2}", "01", "[01]",
    "1-", "+1", "tru3", "[nul1", "nan", "1 2", "{} x", "1,2", '"a\nb"', '["\\x"]', '["\\ug"]', '{"\\x":1}', '["\\x',
    "[" + "1" * 5000 + "]", "1" * 5000, '["' + "y" * 100 + '\\x"]', '["' + "y" * 100 + "\n",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_JSON)
def test_text_that_cannot_become_json_is_noticed_and_keeps_the_value(text: str) -> None:
    parser = PartialJSON()
    before = parser.value
    for character in text:
        before = parser.value
        parser.feed(character)
        if parser.is_broken:
            break
    parser.finish()

    assert parser.is_broken
    assert not parser.is_complete
    assert not parser.feed('{"more": 1}')
    assert parser.value == before


@pytest.mark.parametrize("cut", [1, 3, 40, 100])
def test_long_strings_grow_with_every_bit_of_text(cut: int) -> None:
    text = 'ab\\n"é😀'.replace('"', '\\"') * 50
    parser = fed(['{"essay": "' + "-" * 70])

    for start in range(0, len(text), cut):
        parser.feed(text[start : start + cut])
    parser.feed('", "after": 1}')

    assert parser.value == {"essay": "-" * 70 + 'ab\n"é😀' * 50, "after": 1}
    assert parser.is_complete


def test_endless_white_space_is_read_in_linear_time_and_changes_nothing() -> None:
    parser = fed(['{"a": 1, '])

    changes = [parser.feed("\n" * 16) for _ in range(10_000)]
    parser.feed('"b": 2}')
    parser.finish()

    assert not any(changes)
    assert parser.value == {"a": 1, "b": 2}


def test_what_waited_for_more_text_is_read_at_the_end() -> None:
    parser = fed(["[1" + " " * 600, ",2"])

    has_changed = parser.finish()

    assert has_changed
    assert parser.value == [1, 2]


def test_a_short_text_is_read_at_once_even_after_white_space() -> None:
    parser = fed(["[1" + " " * 200])

    has_changed = parser.feed(",2")

    assert has_changed
    assert parser.value == [1, 2]


def test_only_the_open_parts_of_a_value_are_new() -> None:
    parser = fed(['{"done": {"x": ["' + "y" * 600 + '"]}, "open": ['])
    first = parser.value
    parser.feed("2")
    second = parser.value

    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first is not second
    assert first["open"] is not second["open"]
    assert first["done"] is second["done"]


def test_the_cost_of_a_value_counts_what_is_open_around_its_last_short_part() -> None:
    parser = PartialJSON()

    parser.feed('{"a": [' + "1, " * 300 + "3")
    while_open = parser.cost
    parser.feed("]")
    after_list = parser.cost
    parser.feed(', "b": "' + "x" * 6400)

    assert while_open > after_list + 300
    assert parser.cost >= after_list + 100


UNUSUAL: list[tuple[list[str], JsonValue]] = [
    (['[{"a": "\\u', "d83d", '"}]'], [{"a": "\ud83d"}]),
    (['[{"a": "\ud83d', '"}]'], [{"a": "\ud83d"}]),
    (['[{"a": "}}}}', '", "b": [1', "]}]"], [{"a": "}}}}", "b": [1]}]),
    (['[{"a": {"b": {"c": {"d": {}', "}}}}", "]"], [{"a": {"b": {"c": {"d": {}}}}}]),
    (["[" * 400, "]" * 400], json.loads("[" * 400 + "]" * 400)),
    (['{"a": "' + "y" * 500, "z" * 30, '"}'], {"a": "y" * 500 + "z" * 30}),
]


@pytest.mark.parametrize(("chunks", "value"), UNUSUAL)
def test_a_short_part_that_is_unusual_means_the_same(chunks: list[str], value: JsonValue) -> None:
    parser = fed(chunks)

    assert parser.value == value
    assert parser.is_complete


@pytest.mark.parametrize("rest", ["1e", "1e-", "1.", "-", "t", "tru", "fals", "n"])
def test_what_is_not_whole_is_shown_in_a_short_part_as_anywhere_else(rest: str) -> None:
    inside, alone = fed(['{"a": [{"b": "t\\"', '", "c": ', rest]), fed([rest])

    shown = {} if alone.value is MISSING else {"c": alone.value}

    assert inside.value == {"a": [{"b": 't"', **shown}]}


@pytest.mark.parametrize("wrong", ['", "e": xa', '", "e": tx', "\\x", "\\ug", "\ud83d\n"])
def test_the_value_stays_when_a_short_part_turns_out_to_be_wrong(wrong: str) -> None:
    parser = fed(['{"a": [1, 2], "b": {"c": "d'])
    before = parser.value

    parser.feed(wrong)

    assert parser.is_broken
    assert parser.value == before


def test_a_short_part_that_was_wrong_all_along_is_noticed_at_its_end() -> None:
    parser = fed(['{"a": [1, {"b": 2}, {"c": 3 "d": {"e"', ": 4, "])
    before = parser.value

    parser.feed('"f": 5}')

    assert parser.is_broken
    assert parser.value == before


def seconds_for(size: int) -> float:
    item = '{"id":17,"name":"item number 17","tags":["red","green","blue"],"score":8.5,"ok":true}'
    text = '{"items":[' + ",".join([item] * (size // len(item))) + "]}"
    best = float("inf")
    for _ in range(3):
        parser, allowance = PartialJSON(), Allowance()
        started = time.process_time()
        for start in range(0, len(text), 16):
            allowance.earn(16)
            if parser.feed(text[start : start + 16]) and allowance.pay(parser.cost):
                assert parser.value
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.slow
def test_ten_times_the_text_takes_about_ten_times_the_time() -> None:
    assert seconds_for(400_000) < 14 * seconds_for(40_000)


@pytest.mark.parametrize("text", ["[1 2]", '["a" "b"]', "[,1]", '{"a": 1 "b": 2}'])
def test_a_comma_that_is_missing_or_too_many_breaks_the_text(text: str) -> None:
    parser = PartialJSON()

    parser.feed(text)

    assert parser.is_broken
