"""Whatever a server sends, the decoder ends, keeps the grammar, and raises nothing but Onion's own errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import OnionError
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.anthropic.context import context_of
from onion.providers.anthropic.events import EventReader
from onion.testing.rules import StreamRules
from tests.providers.anthropic.bodies import HELLO, NEWEST, message, read, sse, streamed, text
from tests.providers.anthropic.test_events import AS_TOOL
from tests.providers.anthropic.test_model import ANSWER

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.parts import StreamPart

SHORT = message(
    text("hi 🧅"), {"type": "tool_use", "id": "t", "name": "wave", "input": {"n": 2}}, stop_reason="tool_use"
)
FEWER = settings(max_examples=40)
"""Each example is checked against every rule of the contract; `tests.fuzz` tries more of them."""

KEYS = st.sampled_from(
    [
        *("type", "index", "message", "content", "content_block", "delta", "id", "name", "input", "tool_use_id"),
        *("text", "thinking", "signature", "data", "partial_json", "citation", "citations", "url", "title", "source"),
        *("usage", "input_tokens", "output_tokens", "iterations", "output_tokens_details", "stop_reason", "container"),
        *("error", "caller", "is_error", "document_index", "stop_sequence", "model", "media_type", "page_age"),
    ]
)
WORDS = st.sampled_from(
    [
        *("message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta", "error"),
        *("content_block_stop", "text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use"),
        *("web_search_tool_result", "tool_search_tool_result", "web_search_result", "document", "compaction", "json"),
        *("end_turn", "\ud83d", "\ude00", "{", "{}", "t1", "", "overloaded_error"),
    ]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.floats(), st.text(max_size=4), WORDS)
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)
INDICES = st.integers(0, 2)


def members(required: JsonObject) -> st.SearchStrategy[JsonObject]:
    """Objects with those members, and any others."""
    return st.dictionaries(KEYS, JSON, max_size=4).map(lambda others: {**others, **required})


def as_start(index: int, block: JsonObject) -> JsonObject:
    """An event that begins a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def as_delta(index: int, delta: JsonObject) -> JsonObject:
    """An event with more of a block."""
    return {"type": "content_block_delta", "index": index, "delta": delta}


def as_message(blocks: list[JsonObject]) -> JsonObject:
    """A message that is there as a whole."""
    return {"type": "message_start", "message": {"content": blocks}}


BLOCKS = WORDS.flatmap(lambda word: members({"type": word}))
EVENTS: st.SearchStrategy[JsonValue] = st.one_of(
    BLOCKS,
    st.builds(as_start, INDICES, BLOCKS),
    st.builds(as_delta, INDICES, members({})),
    st.builds(as_message, st.lists(BLOCKS, max_size=3)),
    JSON,
)
BODIES: st.SearchStrategy[JsonValue] = st.one_of(
    JSON, st.builds(as_message, st.lists(BLOCKS, max_size=4)).map(lambda event: event["message"])
)
PARAMS = st.sampled_from([HELLO, AS_TOOL])


def decode(pieces: list[bytes], params: CallOptions = HELLO) -> list[StreamPart]:
    """All parts of a body, or none if it fails as a whole."""
    events, decoder = SSEDecoder(), AnswerDecoder(EventReader(context_of(params, NEWEST)))
    parts: list[StreamPart] = []
    for piece in pieces:
        parts += decoder.feed_events(events.feed(piece))
    parts += decoder.feed_events(events.end(), is_rest=True)
    try:
        parts += decoder.end()
    except OnionError:
        assert not decoder.has_content
        return []
    rules = StreamRules("the decoder", strict=True)
    for part in parts:
        rules.feed(part)
    rules.ended()
    return parts


@FEWER
@given(st.lists(EVENTS, max_size=8), PARAMS)
def test_any_events_make_a_stream_or_an_error(events: list[JsonValue], params: CallOptions) -> None:
    decode([b"data: " + json.dumps(event).encode() + b"\n\n" for event in events], params)


@FEWER
@given(st.lists(st.binary(max_size=20) | st.sampled_from([sse(event) for event in streamed(ANSWER)]), max_size=12))
def test_any_bytes_make_a_stream_or_an_error(pieces: list[bytes]) -> None:
    decode(pieces)


@FEWER
@given(BODIES, PARAMS)
def test_any_body_makes_a_result_or_an_error(body: JsonValue, params: CallOptions) -> None:
    try:
        result = read(body, params)
    except OnionError:
        return
    assert result.finish_reason.unified


def test_a_stream_that_is_cut_anywhere_is_whole_only_with_its_stop_reason() -> None:
    body = sse(*streamed(SHORT))
    reason = body.index(b'"stop_reason": "tool_use"')

    for cut in range(len(body)):
        parts = decode([body[:cut]])
        is_whole = bool(parts) and parts[-2].type != "error"
        assert not is_whole or cut > reason
