"""Whatever a server sends, the decoder ends, keeps the grammar, and raises nothing but Onion's own errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import OnionError
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.google.chunks import ChunkReader
from onion.providers.google.schema import fit_schema
from onion.providers.google.toolbox import Toolbox
from onion.spec.parts import FinishPart
from onion.testing.rules import StreamRules
from tests.providers.google.bodies import NEWEST, call, read, sse, streamed, text, whole
from tests.providers.google.test_model import ANSWER

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

SHORT = whole(text("hi 🧅"), call("wave", {"n": 2}))
FEWER = settings(max_examples=40)
"""Each example is checked against every rule of the contract; `tests.fuzz` tries more of them."""

KEYS = st.sampled_from(
    [
        *("candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall", "name", "args"),
        *("id", "partialArgs", "jsonPath", "stringValue", "numberValue", "willContinue", "toolCall", "toolResponse"),
        *("toolType", "response", "executableCode", "codeExecutionResult", "outcome", "inlineData", "mimeType"),
        *("data", "fileData", "fileUri", "groundingMetadata", "groundingChunks", "web", "uri", "groundingSupports"),
        *("segment", "startIndex", "endIndex", "groundingChunkIndices", "finishReason", "index", "promptFeedback"),
        *("blockReason", "usageMetadata", "promptTokenCount", "totalTokenCount", "error", "createTime", "modelVersion"),
        *("logprobsResult", "retrievedContext", "title", "partMetadata"),
    ]
)
WORDS = st.sampled_from(["STOP", "SAFETY", "$.a[0].b", "$.a", "$", "\ud83d", "\ude00", "c1", "", "GOOGLE_SEARCH_WEB"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 9), st.floats(), st.text(max_size=4), WORDS)
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)
PARTS = st.dictionaries(KEYS, JSON, max_size=4)


def as_chunk(parts: list[JsonObject], more: JsonObject, beside: JsonObject) -> JsonObject:
    """A chunk with those parts in its candidate."""
    return {**beside, "candidates": [{**more, "content": {"parts": parts}}]}


CHUNKS: st.SearchStrategy[JsonValue] = st.one_of(st.builds(as_chunk, st.lists(PARTS, max_size=4), PARTS, PARTS), JSON)


def decode(pieces: list[bytes]) -> list[StreamPart]:
    """All parts of a body, or none if it fails as a whole."""
    events, decoder = SSEDecoder(), AnswerDecoder(ChunkReader(Toolbox(None, NEWEST)))
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
@given(st.lists(CHUNKS, max_size=6))
def test_any_chunks_make_a_stream_or_an_error(chunks: list[JsonValue]) -> None:
    decode([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks])


@FEWER
@given(st.lists(st.binary(max_size=20) | st.sampled_from([sse(each) for each in streamed(ANSWER)]), max_size=12))
def test_any_bytes_make_a_stream_or_an_error(pieces: list[bytes]) -> None:
    decode(pieces)


@FEWER
@given(CHUNKS | st.lists(CHUNKS, max_size=3))
def test_any_body_makes_a_result_or_an_error(body: JsonValue) -> None:
    try:
        result = read(body)
    except OnionError:
        return
    assert result.finish_reason.unified


@FEWER
@given(st.dictionaries(st.sampled_from(["allOf", "anyOf", "properties", "$defs", "$ref", "const", "x"]), JSON))
def test_any_schema_is_fitted(schema: JsonObject) -> None:
    assert "const" not in fit_schema(schema)


def test_a_stream_that_is_cut_anywhere_is_whole_only_with_its_finish_reason() -> None:
    body = sse(*streamed(SHORT))
    whole_from = len(body.rstrip())

    for cut in range(len(body)):
        parts = decode([body[:cut]])
        finish = parts[-1] if parts else None
        is_whole = isinstance(finish, FinishPart) and finish.finish_reason.unified == "tool-calls"
        assert is_whole is (cut >= whole_from), cut
