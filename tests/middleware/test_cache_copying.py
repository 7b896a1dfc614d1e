"""What the cache gives out is the caller's own wherever it can be changed, and shared where it cannot."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings

from onion.middleware.caching.copying import fresh
from onion.middleware.caching.entry import marked
from onion.middleware.caching.readings import MAX_CHARACTERS, MAX_READINGS, Reading, Readings
from onion.spec import (
    FinishReason,
    GenerateResult,
    OtherWarning,
    RequestInfo,
    ResponseInfo,
    StreamPart,
    Text,
    TextDelta,
    Usage,
    to_json,
)
from onion.testing import answer, call, text
from onion.testing.strategies import answers, streams
from tests.middleware.test_cache_faults import entry_like

FULL = GenerateResult(
    content=(Text(text="hi"),),
    finish_reason=FinishReason(unified="stop"),
    usage=Usage(raw={"a": [1]}),
    warnings=(OtherWarning(message="careful"),),
    provider_metadata={"openai": {"id": "i"}},
    request=RequestInfo(body={}),
    response=ResponseInfo(id="r", timestamp=datetime(2026, 1, 2, tzinfo=UTC)),
    structured_output_text="{}",
)


@settings(max_examples=30)
@given(answers())
def test_a_copy_of_an_answer_is_equal(found: GenerateResult) -> None:
    assert to_json(fresh(found)) == to_json(found)


@settings(max_examples=30)
@given(streams())
def test_copies_of_parts_are_equal_and_those_of_deltas_are_new(parts: tuple[StreamPart, ...]) -> None:
    copied = fresh(parts)

    assert to_json(copied) == to_json(parts)
    assert not any(one is other for one, other in zip(copied, parts, strict=True) if isinstance(one, TextDelta))


def test_an_answer_in_which_nothing_can_be_changed_is_its_own_copy() -> None:
    plain = answer("hi", call("f", {"a": 1}))

    assert fresh(plain) is plain


def test_whatever_can_be_changed_is_copied_and_the_rest_is_not() -> None:
    copied = fresh(FULL)

    assert copied == FULL
    assert copied.content is FULL.content
    assert copied.usage.raw is not FULL.usage.raw
    assert copied.usage.input_tokens is FULL.usage.input_tokens
    assert copied.provider_metadata is not FULL.provider_metadata


def test_a_mark_changes_the_metadata_and_nothing_else() -> None:
    found = marked(FULL, {"hit": True})

    assert found.provider_metadata == {"openai": {"id": "i"}, "onion": {"cache": {"hit": True}}}
    assert replace(found, provider_metadata=FULL.provider_metadata) == FULL
    defaults = {field.name: field.default for field in dataclasses.fields(FULL)}
    assert not [name for name, default in defaults.items() if getattr(FULL, name) == default]  # none is overlooked


def test_a_text_that_comes_again_is_not_read_again() -> None:
    readings = Readings()
    first = readings.read(entry_like(), "k")

    assert readings.read(entry_like(), "k") is first
    assert readings.read(entry_like(created=1.0), "k").created == 1.0


@pytest.mark.parametrize("what", ["others came since", "it is long"])
def test_a_reading_is_not_kept_for_ever(what: str) -> None:
    readings = Readings()
    is_long = what == "it is long"
    written = entry_like(result=to_json(text("x" * MAX_CHARACTERS))) if is_long else entry_like()
    first = readings.read(written, "k")

    for number in range(0 if is_long else MAX_READINGS):
        readings.read(entry_like(key=str(number)), str(number))
    again = readings.read(written, "k")

    assert isinstance(again, Reading)
    assert again is not first
