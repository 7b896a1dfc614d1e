"""Whatever a server sends, the decoders end, keep the grammar, and raise nothing but Onion's own errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import OnionError
from onion.providers._chat import ChunkReader, to_result
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from tests.providers.chat.decoding import NAME, checked
from tests.providers.openai_chat.bodies import COMPLETION, STREAM

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

FEWER = settings(max_examples=40)
"""Each example is checked against every rule of the contract; `tests.fuzz` tries more of them."""

KEYS = st.sampled_from(
    [
        *("id", "model", "created", "choices", "usage", "error", "index", "delta", "message", "finish_reason", "type"),
        *("content", "reasoning", "reasoning_content", "reasoning_details", "thinking", "text", "refusal", "logprobs"),
        *("tool_calls", "function", "name", "arguments", "function_call", "extra_content", "custom", "input"),
        *("annotations", "url_citation", "url", "images", "image_url", "audio", "data", "transcript", "executed_tools"),
        *("citations", "search_results", "output", "prompt_tokens", "completion_tokens", "total_tokens", "x_groq"),
        *("prompt_tokens_details", "cached_tokens", "code", "status", "object", "data", "summary", "signature"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["", "{", "{}", "stop", "error", "reasoning.text", "\ud83d", "\ude00", "data:", "AAAA", "c1"]),
)
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)
MESSAGES = st.dictionaries(KEYS, JSON, max_size=6)


def in_a_chunk(message: JsonValue, rest: JsonObject) -> JsonValue:
    """A chunk around *message*."""
    return {**rest, "choices": [{"index": 0, "delta": message, "finish_reason": rest.get("id")}]}


def in_a_completion(message: JsonValue) -> JsonValue:
    """A completion around *message*."""
    return {"choices": [{"message": message}]}


CHUNKS = st.builds(in_a_chunk, MESSAGES, st.dictionaries(KEYS, JSON, max_size=3))


def decode(pieces: list[bytes]) -> list[StreamPart]:
    """All parts of a body, or none if it fails as a whole."""
    events, decoder = SSEDecoder(), AnswerDecoder(ChunkReader(NAME))
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
@given(st.lists(CHUNKS | JSON, max_size=6))
def test_any_chunks_make_a_stream_or_an_error(chunks: list[JsonValue]) -> None:
    decode([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks])


@FEWER
@given(st.lists(st.binary(max_size=20) | st.sampled_from([*STREAM, b"data: ", b"\n\n", b"[DONE]"]), max_size=12))
def test_any_bytes_make_a_stream_or_an_error(pieces: list[bytes]) -> None:
    decode(pieces)


@FEWER
@given(JSON | st.builds(in_a_completion, MESSAGES))
def test_any_body_makes_a_result_or_an_error(body: JsonValue) -> None:
    try:
        result = to_result(body, name=NAME)
    except OnionError:
        return
    assert result.finish_reason.unified


def test_a_stream_that_is_cut_anywhere_is_whole_only_with_its_terminal_marker() -> None:
    body = b"".join(STREAM)
    reason = body.index(b'"tool_calls"}]}', body.index(b'":2}"'))

    for cut in range(len(body)):
        parts = decode([body[:cut]])
        is_whole = bool(parts) and parts[-2].type != "error"
        assert not is_whole or cut > reason


def test_the_sample_answer_is_whole() -> None:
    assert to_result(dict(COMPLETION), name=NAME).text == "Hello, world"
