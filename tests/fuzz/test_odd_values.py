"""Every member of an answer in turn is missing, or is what no reader reckons with; and the faults that were found."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from onion.spec.content import ToolCall
from onion.spec.parts import TextDelta
from tests.fuzz.mutation import ODD
from tests.fuzz.seeds import seeds_of
from tests.fuzz.target import check_rounds, check_stream, check_whole
from tests.recorded.exchanges import RECORDINGS
from tests.recorded.run import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onion.spec.base import JsonValue
    from tests.recorded.checks import WireFormat

HUGE = 10**400
STEP = 29
"""Of all that can be put somewhere only every 29th is tried: all of it takes minutes, and was found to hold."""
every_form = pytest.mark.parametrize("name", FORMATS)


def variants(value: JsonValue, instead: JsonValue) -> Iterator[JsonValue]:
    """*value* with *instead* in the place of each thing in it, one at a time."""
    yield instead
    if isinstance(value, dict):
        for key, found in value.items():
            yield from ({**value, key: changed} for changed in variants(found, instead))
    elif isinstance(value, list):
        for place, found in enumerate(value):
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in variants(found, instead))


def lacking(value: JsonValue) -> Iterator[JsonValue]:
    """*value* without each member in it, one at a time."""
    if isinstance(value, dict):
        for key, found in value.items():
            yield {name: kept for name, kept in value.items() if name != key}
            yield from ({**value, key: changed} for changed in lacking(found))
    elif isinstance(value, list):
        for place, found in enumerate(value):
            yield [*value[:place], *value[place + 1 :]]
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in lacking(found))


def sse(*chunks: JsonValue) -> bytes:
    """A stream of *chunks*, with the marker that some formats end with; a chunk that is a text is no JSON."""
    told = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in (*chunks, "[DONE]")]
    return b"".join(b"data: " + chunk.encode("utf-8", "surrogatepass") + b"\n\n" for chunk in told)


@every_form
def test_a_whole_answer_may_hold_anything_anywhere(name: str, tmp_path: Path) -> None:
    bodies = (
        changed
        for seed in seeds_of(name, tmp_path)
        if not seed.is_stream
        for odd in ODD
        for changed in (*variants(seed.chunks[0], odd), *lacking(seed.chunks[0]))
    )

    outcomes = {check_whole(FORMATS[name], json.dumps(body).encode()) for body in islice(bodies, 0, None, STEP)}

    assert outcomes >= {"stop", "tool-calls", "TypeValidationError"}


@every_form
def test_a_stream_may_hold_anything_anywhere(name: str, tmp_path: Path) -> None:
    bodies = (
        (*seed.chunks[:place], changed, *seed.chunks[place + 1 :])
        for seed in seeds_of(name, tmp_path)
        if seed.is_stream
        for odd in ODD
        for place, chunk in enumerate(seed.chunks)
        for changed in (*variants(chunk, odd), *lacking(chunk))
    )

    outcomes = {streamed(FORMATS[name], body) for body in islice(bodies, 0, None, STEP)}

    assert outcomes >= {"stream", "TypeValidationError"}


def streamed(form: WireFormat, chunks: tuple[JsonValue, ...]) -> str:
    """What comes of a stream of *chunks*, whole and event by event."""
    body = sse(*chunks)
    return check_stream(form, body, body.splitlines(keepends=True))


@every_form
@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
def test_counts_beyond_all_measure_are_none(name: str, tmp_path: Path, *, is_stream: bool) -> None:
    seed = next(seed for seed in seeds_of(name, tmp_path) if seed.is_stream is is_stream)
    body = sse(*seed.chunks) if is_stream else json.dumps(seed.chunks[0]).encode()
    huge = body.replace(b": 2", b": %d" % HUGE).replace(b": 3", b": %d" % HUGE)

    assert huge.count(str(HUGE).encode()) > 1
    assert check_rounds(FORMATS[name], huge, is_stream=is_stream) == "sent 3"


@every_form
def test_json_that_is_nested_beyond_all_measure_is_an_error(name: str) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000

    assert check_whole(FORMATS[name], b'{"a": ' + deep + b"}") == "JSONParseError"
    assert check_stream(FORMATS[name], b"data: " + deep + b"\n\n", [b"data: ", deep, b"\n\n"]) == "JSONParseError"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-04-02T17:03:50.5", datetime(2026, 4, 2, 17, 3, 50, 500000, tzinfo=UTC)),
        ("2026-04-02T17:03:50.5Z", datetime(2026, 4, 2, 17, 3, 50, 500000, tzinfo=UTC)),
        ("soon", None),
    ],
)
def test_a_time_without_a_zone_is_that_of_greenwich(text: str, moment: datetime | None) -> None:
    result = FORMATS["gemini"].read({"candidates": [], "createTime": text, "responseId": "r"})

    assert result.response is not None
    assert result.response.timestamp == moment


@pytest.mark.parametrize("created", [HUGE, 1e308, True, "soon"])
def test_a_time_that_is_none_is_unknown(created: JsonValue) -> None:
    chat: JsonValue = {"id": "r", "created": created, "choices": [{"message": {"content": "hi"}}]}
    response: JsonValue = {"id": "r", "created_at": created, "output": [], "status": "completed"}

    told = [FORMATS["openai-chat"].read(chat).response, FORMATS["openai-responses"].read(response).response]

    assert [found and (found.id, found.timestamp) for found in told] == [("r", None), ("r", None)]


def test_text_that_comes_after_its_item_was_done_is_dropped() -> None:
    item: JsonValue = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "hi"}]}
    late: JsonValue = {"type": "response.output_text.delta", "output_index": 0, "content_index": 1, "delta": "late"}
    whole: JsonValue = {"type": "response.completed", "response": {"status": "completed", "output": [item]}}
    done: JsonValue = {"type": "response.output_item.done", "output_index": 0, "item": item}

    parts, _ = FORMATS["openai-responses"].decode([sse(done, late, whole)])

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["hi"]
    assert check_stream(FORMATS["openai-responses"], sse(done, late, whole), [sse(done, late, whole)]) == "stream"


def test_an_item_that_is_done_as_another_kind_of_call_than_it_began_is_a_call_of_its_own() -> None:
    begun: JsonValue = {"type": "file_search_call", "id": "fs_1", "queries": []}
    item: JsonValue = {"type": "tool_search_call", "id": "ts_1", "execution": "client", "arguments": {"a": 1}}
    added: JsonValue = {"type": "response.output_item.added", "output_index": 0, "item": begun}
    done: JsonValue = {"type": "response.output_item.done", "output_index": 0, "item": item}
    whole: JsonValue = {"type": "response.completed", "response": {"status": "completed", "output": []}}

    parts, _ = FORMATS["openai-responses"].decode([sse(added, done, whole)])

    calls = [(part.tool_call_id, part.tool_name) for part in parts if isinstance(part, ToolCall)]
    assert calls == [("fs_1", "file_search"), ("ts_1", "tool_search")]
    assert check_stream(FORMATS["openai-responses"], sse(added, done, whole), [sse(added, done, whole)]) == "stream"


def test_an_item_that_is_announced_at_one_place_and_done_at_another_is_one() -> None:
    item: JsonValue = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "look", "arguments": "{}"}
    added: JsonValue = {"type": "response.output_item.added", "output_index": 4, "item": item}
    done: JsonValue = {"type": "response.output_item.done", "output_index": 2, "item": item}
    whole: JsonValue = {"type": "response.completed", "response": {"status": "completed", "output": [item]}}

    parts, _ = FORMATS["openai-responses"].decode([sse(added, done, whole)])

    assert [part.tool_call_id for part in parts if isinstance(part, ToolCall)] == ["mcpr_1"]


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not here: ../shared/recordings")
@every_form
def test_recorded_answers_are_what_the_fuzzer_begins_with(name: str, tmp_path: Path) -> None:
    assert len(seeds_of(name)) > len(seeds_of(name, tmp_path)) + 20
