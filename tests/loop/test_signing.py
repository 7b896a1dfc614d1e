"""Signatures: one canonical text, as ECMAScript would write it, and no way round."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.loop.signing import canonical_json, is_signed, sign

if TYPE_CHECKING:
    from onion.spec import JsonValue

SECRET = "s3"
IDS = {"approval_id": "a", "tool_call_id": "c", "tool_name": "pay"}

NUMBERS = [
    (0.0, "0"),
    (-0.0, "0"),
    (10.0, "10"),
    (-1.5, "-1.5"),
    (1e21, "1e+21"),
    (1e20, "100000000000000000000"),
    (1.234e25, "1.234e+25"),
    (0.000001234, "0.000001234"),
    (1e-7, "1e-7"),
    (1.5e-7, "1.5e-7"),
    (5e-324, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (333333333.3333333, "333333333.3333333"),
    (2**53 + 1, "9007199254740992"),
    (10**22, "1e+22"),
    (-3, "-3"),
    (10**400, "1" + "0" * 400),
]


@pytest.mark.parametrize(("number", "written"), NUMBERS)
def test_numbers_are_written_as_ecmascript_writes_them(number: float, written: str) -> None:
    assert canonical_json(number) == written


def test_keys_are_sorted_by_their_utf_16_units() -> None:
    keys = {"\ufb33": 1, "\U0001f600": 2, "\r": 3, "1": 4, "\u20ac": 5, "\u00f6": 6, "\u0080": 7}

    assert list(json.loads(canonical_json(keys))) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_literals_lists_and_texts_are_compact_and_not_escaped() -> None:
    written = canonical_json({"b": [None, True, False, "é\n\u001f"], "a": ()})

    assert written == '{"a":[],"b":[null,true,false,"é\\n\\u001f"]}'


def test_the_signature_is_the_documented_one() -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(b'{"n":1}').digest()).rstrip(b"=").decode()
    message = json.dumps(["ai-sdk-tool-approval-v1", "a", "c", "pay", digest], separators=(",", ":"))
    wanted = base64.urlsafe_b64encode(hmac.digest(SECRET.encode(), message.encode(), "sha256")).rstrip(b"=").decode()

    assert sign(SECRET, **IDS, tool_input={"n": 1}) == wanted
    assert sign(SECRET.encode(), **IDS, tool_input={"n": 1.0}) == wanted
    assert is_signed(SECRET, wanted, **IDS, tool_input={"n": 1})


@pytest.mark.parametrize("changed", ["approval_id", "tool_call_id", "tool_name"])
def test_a_signature_holds_for_its_own_call_only(changed: str) -> None:
    signature = sign(SECRET, **IDS, tool_input={"n": 1})

    assert not is_signed(SECRET, signature, **(IDS | {changed: "other"}), tool_input={"n": 1})
    assert not is_signed(SECRET, signature, **IDS, tool_input={"n": 2})
    assert not is_signed("other", signature, **IDS, tool_input={"n": 1})
    assert not is_signed(SECRET, "é\ud800", **IDS, tool_input={"n": 1})


JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_a_round_trip_through_json_keeps_the_canonical_text(json_value: JsonValue) -> None:
    returned = json.loads(json.dumps(json_value), parse_int=float)

    assert canonical_json(returned) == canonical_json(json_value)
