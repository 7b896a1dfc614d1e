"""Whatever a server sends, the decoder ends, keeps the grammar, and raises nothing but Onion's own errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import OnionError
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.openai_responses.events import EventReader
from onion.providers.openai_responses.items import CLIENT_TOOLS, OUTPUTS, SERVER_TOOLS
from onion.providers.openai_responses.request import to_request
from onion.providers.openai_responses.result import to_result
from onion.spec.call import CallOptions
from tests.providers.openai_responses.bodies import NAME, STREAM, both, checked
from tests.providers.openai_responses.test_request import PLAIN
from tests.providers.openai_responses.test_round_trip import TURNS

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

FEWER = settings(max_examples=40)
"""Each example is checked against every rule of the contract, which takes its time."""

KEYS = st.sampled_from(
    [
        *("id", "model", "created_at", "output", "usage", "error", "status", "incomplete_details", "reason", "type"),
        *("item", "output_index", "content_index", "summary_index", "delta", "annotation", "response", "part", "text"),
        *("content", "summary", "encrypted_content", "annotations", "logprobs", "url", "role", "phase", "call_id"),
        *("name", "arguments", "input", "code", "container_id", "outputs", "result", "action", "environment", "caller"),
        *("input_tokens", "output_tokens", "input_tokens_details", "cached_tokens", "partial_image_b64", "execution"),
    ]
)
ITEMS = [*SERVER_TOOLS, *CLIENT_TOOLS, *OUTPUTS, "message", "reasoning", "function_call", "mcp_approval_request"]
TYPES = st.sampled_from([*ITEMS, "output_text", "refusal", "summary_text", "url_citation", "file_citation", "local"])
EVENTS = st.sampled_from(
    [
        *("created", "completed", "incomplete", "failed", "output_item.added", "output_item.done"),
        *("output_text.delta", "refusal.delta", "reasoning_text.delta", "reasoning_summary_text.delta"),
        *("function_call_arguments.delta", "code_interpreter_call_code.delta", "custom_tool_call_input.delta"),
        *("output_text.annotation.added", "image_generation_call.partial_image", "reasoning_summary_part.added"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(),
    st.text(max_size=5),
    TYPES,
    st.sampled_from(["", "\ud83d"]),
)
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)
MEMBERS = st.dictionaries(KEYS, JSON, max_size=6)


def _item(kind: str, members: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {**members, "type": kind}


def _body(items: list[dict[str, JsonValue]], members: dict[str, JsonValue]) -> JsonValue:
    return {**members, "output": items}


def _event(kind: str, index: int, item: JsonValue, members: dict[str, JsonValue]) -> JsonValue:
    return {**members, "type": f"response.{kind}", "output_index": index, "item": item}


ITEM = st.builds(_item, TYPES, MEMBERS)
EVENT = st.builds(_event, EVENTS, st.integers(0, 2), ITEM, MEMBERS)


def decode(pieces: list[bytes]) -> list[StreamPart]:
    """All parts of a body, or none if it fails as a whole."""
    events, decoder = SSEDecoder(), AnswerDecoder(EventReader(NAME))
    parts: list[StreamPart] = []
    for piece in pieces:
        parts += decoder.feed_events(events.feed(piece))
    parts += decoder.feed_events(events.end(), is_rest=True)
    try:
        parts += decoder.end()
    except OnionError:
        assert not decoder.has_content
        return []
    return checked(parts)


@FEWER
@given(st.lists(EVENT | JSON, max_size=8))
def test_any_events_make_a_stream_or_an_error(events: list[JsonValue]) -> None:
    decode([b"data: " + json.dumps(event).encode() + b"\n\n" for event in events])


@FEWER
@given(st.lists(st.binary(max_size=20) | st.sampled_from([*STREAM, b"data: ", b"\n\n", b"[DONE]"]), max_size=20))
def test_any_bytes_make_a_stream_or_an_error(pieces: list[bytes]) -> None:
    decode(pieces)


@FEWER
@given(JSON | st.builds(_body, st.lists(ITEM, max_size=4), MEMBERS))
def test_any_body_makes_a_result_or_an_error(body: JsonValue) -> None:
    try:
        result = to_result(body, name=NAME)
    except OnionError:
        return
    assert result.finish_reason.unified


@FEWER
@given(MEMBERS)
def test_any_options_make_a_request(options: dict[str, JsonValue]) -> None:
    request = to_request("m", CallOptions(prompt=(), provider_options={NAME: options}), PLAIN)

    assert [request.body.get("model")] == [options.get("model", "m")]  # in lists even NaN is what it is
    assert None not in request.body.values()


@FEWER
@given(st.lists(st.sampled_from([item for turn in TURNS.values() for item in turn]), max_size=6))
def test_items_in_any_order_are_the_same_whole_and_streamed(items: list[JsonObject]) -> None:
    unique = [{**item, "id": f"{item['id']}-{number}"} for number, item in enumerate(items)]

    assert len(both(*unique).content) >= len(items)
