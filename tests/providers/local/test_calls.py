import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.providers.local.calls import CallReader

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(name=st.text(max_size=8), arguments=JSON, indent=st.sampled_from([None, 2]), cuts=st.lists(st.integers(0, 200)))
def test_every_call_is_read_however_it_is_cut(
    name: str, arguments: object, indent: int | None, cuts: list[int]
) -> None:
    written = json.dumps({"name": name, "arguments": arguments}, indent=indent) + "\n"
    places = sorted({0, len(written), *(cut for cut in cuts if cut < len(written))})
    reader = CallReader()

    found = "".join(reader.feed(written[start:end]) for start, end in itertools.pairwise(places))

    assert reader.name == name
    assert json.loads(found) == arguments
    assert reader.written == written


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param('{"name": "f", "arguments": {"a": "cut o', '{"a": "cut o', id="cut off"),
        pytest.param('{"name": "f", "arguments": {"a": 1}, "more": 2}', '{"a": 1}', id="more behind it"),
        pytest.param('{"name": "f", "arguments": 12 }', "12", id="a number"),
        pytest.param('{"name": "f", "arguments": "a\\"}"}', '"a\\"}"', id="a text"),
        pytest.param('{"name": "f", "arguments": {"a": "}"}}', '{"a": "}"}', id="a bracket in a text"),
    ],
)
def test_the_arguments_end_where_their_value_ends(written: str, expected: str) -> None:
    assert CallReader().feed(written) == expected


@pytest.mark.parametrize("written", ["", "hello", '{"arguments": {}}', '{"name": 1, "arguments": {}}'])
def test_what_is_no_call_has_no_name(written: str) -> None:
    reader = CallReader()

    assert reader.feed(written) == ""
    assert reader.name is None
    assert reader.written == written


def test_a_name_with_an_unknown_escape_stays_as_it_is() -> None:
    reader = CallReader()
    reader.feed('{"name": "a\\qb", "arguments": {}}')

    assert reader.name == "a\\qb"
