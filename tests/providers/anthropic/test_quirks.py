"""What a naive client gets wrong: the points of QUIRKS-anthropic.md beside the recordings, with bodies of our own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion.errors import StreamInterruptedError
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.anthropic.context import context_of
from onion.providers.anthropic.events import EventReader
from onion.spec.content import Custom, Reasoning, Text, ToolCall, ToolResult, URLSource
from onion.spec.parts import ErrorPart, FinishPart, ToolInputDelta
from onion.spec.usage import FinishReason, InputTokens, OutputTokens
from tests.providers.anthropic.bodies import (
    HELLO,
    NEWEST,
    block,
    called,
    collected,
    decoded,
    message,
    over,
    read,
    said,
    sse,
    start,
    text,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

PING: JsonObject = {"type": "ping"}
SEARCH: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND: JsonObject = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "url": "https://a", "title": "A", "page_age": "1 day"}],
}
CITATION: JsonObject = {
    "type": "web_search_result_location",
    "url": "https://a",
    "title": "A",
    "cited_text": "said there",
    "encrypted_index": "Eo8B",
}


# --- framing and events --------------------------------------------------------------------------------------------


def test_pings_may_come_anywhere() -> None:
    begin, delta, end = said(0, "hi")

    result = collected(PING, start(), PING, begin, PING, delta, PING, end, PING, *over(), PING)

    assert result.text == "hi"


def test_blanks_before_the_closing_brace_are_padding() -> None:
    decoder = AnswerDecoder(EventReader(context_of(HELLO, NEWEST)))
    padded = b"".join(
        line[:-1] + b"      }\n" if line[:5] == b"data:" else line + b"\n"
        for line in sse(start(), *said(0, "hi"), *over()).split(b"\n")[:-1]
    )

    parts = decoder.feed_events(SSEDecoder().feed(padded))

    assert decoder.is_over
    assert [part.type for part in parts] == ["response-metadata", "text-start", "text-delta", "text-end"]


def test_a_message_may_begin_with_all_of_its_content_in_it() -> None:
    call: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": "roll", "input": {"n": 1}, "caller": {"type": "c"}}
    whole = start(content=[call], stop_reason="tool_use", container={"id": "container_1"})

    result = collected(whole, {"type": "message_stop"})

    assert [part for part in result.content if isinstance(part, ToolCall)] == [
        ToolCall(
            tool_call_id="toolu_1",
            tool_name="roll",
            input='{"n":1}',
            provider_metadata={"anthropic": {"caller": {"type": "c"}}},
        )
    ]
    assert result.finish_reason == FinishReason(unified="tool-calls", raw="tool_use")


def test_a_second_message_start_is_taken_for_the_first_as_long_as_nothing_was_said() -> None:
    again = collected(start(), start(), *said(0, "hi"), *over())
    replaced = collected(start(), said(0)[0], start(id="msg_2"), *said(0, "hi"), *over())

    assert again.text == replaced.text == "hi"
    assert replaced.response is not None
    assert replaced.response.id == "msg_2"


def test_an_answer_that_begins_anew_after_a_part_was_passed_on_fails_and_is_not_doubled() -> None:
    parts = decoded(start(), *said(0, "half")[:2], start(id="msg_2"), *said(0, "half and more"), *over())

    errors = [part.error for part in parts if isinstance(part, ErrorPart)]
    assert [type(error) for error in errors] == [StreamInterruptedError]
    assert [part.type for part in parts].count("text-delta") == 1
    with pytest.raises(StreamInterruptedError, match="anew"):
        decoded(start(), called(0, "t")[0], start(), *called(0, "t"), *over("tool_use"))


def test_a_repeated_start_in_the_middle_that_repeats_no_block_is_harmless() -> None:
    result = collected(start(), *said(0, "a"), start(), *said(1, "b"), *over())

    assert result.text == "ab"


def test_an_empty_piece_of_input_is_no_input_at_the_end_and_nothing_before() -> None:
    parts = decoded(
        start(), *called(0, "stop", ""), *called(1, "go", "", '{"n"', ":1}", call_id="t2"), *over("tool_use")
    )

    calls = [part for part in parts if isinstance(part, ToolCall)]
    assert [(call.tool_name, call.input) for call in calls] == [("stop", "{}"), ("go", '{"n":1}')]
    assert [part.delta for part in parts if isinstance(part, ToolInputDelta)] == ['{"n"', ":1}"]


def test_a_block_may_begin_with_its_whole_input() -> None:
    parts = decoded(start(), *block(0, SEARCH), *over())

    assert [part.delta for part in parts if isinstance(part, ToolInputDelta)] == ['{"query":"q"}']
    assert [part.input for part in parts if isinstance(part, ToolCall)] == ['{"query":"q"}']


def test_results_and_redacted_thinking_come_complete_at_the_start_of_their_block() -> None:
    redacted: JsonObject = {"type": "redacted_thinking", "data": "RD=="}

    result = collected(start(), *block(0, redacted), *block(1, SEARCH), *block(2, FOUND), *over())

    assert result.content[0] == Reasoning(text="", provider_metadata={"anthropic": {"redactedData": "RD=="}})
    assert isinstance(result.content[2], ToolResult)
    assert result.content[2].result == FOUND["content"]


def test_a_block_that_opens_before_the_former_was_closed_loses_nothing() -> None:
    first, second = said(0, "a", "b"), said(1, "c")
    crossed = [first[0], first[1], second[0], first[2], second[1], *over()]

    result = collected(start(), *crossed)

    assert [part.text for part in result.content if isinstance(part, Text)] == ["ab", "c"]


def test_unknown_deltas_and_events_are_skipped() -> None:
    events = block(0, text(""), {"type": "text_delta", "text": "hi"}, {"type": "novel_delta", "novelty": 1})

    result = collected(start(), {"type": "novelty"}, *events, {"type": "content_block_delta", "index": 7}, *over())

    assert result.text == "hi"


def test_a_citation_comes_before_its_text_and_blocks_join_without_a_separator() -> None:
    cited = block(1, text("", citations=[]), {"type": "citations_delta", "citation": CITATION}, {"text": " is so"})

    result = collected(start(), *said(0, "It"), *cited, *said(2, "."), *over())

    assert result.text == "It is so."
    assert [part.provider_metadata for part in result.content if isinstance(part, Text)] == [
        None,
        {"anthropic": {"citations": [CITATION]}},
        None,
    ]
    assert [part for part in result.content if isinstance(part, URLSource)] == [
        URLSource(
            id="source-1",
            url="https://a",
            title="A",
            provider_metadata={"anthropic": {"citedText": "said there", "encryptedIndex": "Eo8B"}},
        )
    ]


# --- usage ---------------------------------------------------------------------------------------------------------


def test_the_last_counts_are_totals_and_replace_the_first() -> None:
    first: JsonObject = {"input_tokens": 10, "output_tokens": 4, "cache_read_input_tokens": 5}
    last: JsonObject = {"input_tokens": 30, "output_tokens": 9}

    usage = collected(start(usage=first), *said(0, "x"), *over(usage=last)).usage

    assert usage.input_tokens == InputTokens(total=35, no_cache=30, cache_read=5, cache_write=None)
    assert usage.output_tokens == OutputTokens(total=9)
    assert usage.raw == {"input_tokens": 30, "output_tokens": 9, "cache_read_input_tokens": 5}


def test_counts_that_do_not_come_again_hold() -> None:
    usage = collected(start(usage={"input_tokens": 17, "output_tokens": 1}), *said(0, "x"), *over()).usage

    assert (usage.input_tokens.total, usage.output_tokens.total) == (17, 9)


def test_cached_tokens_are_extra_and_reasoning_is_counted_apart() -> None:
    account: JsonObject = {
        "input_tokens": 6,
        "cache_creation_input_tokens": 3337,
        "cache_read_input_tokens": 6289,
        "output_tokens": 198,
        "output_tokens_details": {"thinking_tokens": 47},
        "server_tool_use": {"web_search_requests": 2},
    }

    usage = read(message(text("x"), usage=account)).usage

    assert usage.input_tokens == InputTokens(total=9632, no_cache=6, cache_read=6289, cache_write=3337)
    assert usage.output_tokens == OutputTokens(total=198, text=151, reasoning=47)
    assert usage.raw == account


def test_of_the_iterations_only_compaction_is_counted_beside_the_totals() -> None:
    iterations: list[JsonObject] = [
        {"type": "compaction", "input_tokens": 60, "output_tokens": 5, "cache_creation_input_tokens": 7},
        {"type": "message", "input_tokens": 6, "output_tokens": 2},
        {"type": "advisor_message", "model": "claude-y", "input_tokens": 900, "output_tokens": 900},
    ]
    account: JsonObject = {"input_tokens": 6, "output_tokens": 2, "iterations": iterations}

    usage = read(message(text("x"), usage=account)).usage

    assert (usage.input_tokens.total, usage.input_tokens.cache_write, usage.output_tokens.total) == (73, 7, 7)


# --- blocks --------------------------------------------------------------------------------------------------------


def test_a_thinking_block_with_a_signature_and_no_text_is_kept() -> None:
    thinking: JsonObject = {"type": "thinking", "thinking": "", "signature": ""}

    result = collected(start(), *block(0, thinking, {"type": "signature_delta", "signature": "SIG"}), *over())

    assert result.content == (Reasoning(text="", provider_metadata={"anthropic": {"signature": "SIG"}}),)


def test_server_tools_are_calls_that_the_provider_executed() -> None:
    result = read(message(SEARCH, FOUND))

    call, found, source = result.content
    assert isinstance(call, ToolCall)
    assert (call.provider_executed, call.dynamic, call.input) == (True, True, '{"query":"q"}')
    assert isinstance(found, ToolResult)
    assert (found.tool_name, found.tool_call_id, found.is_error) == ("web_search", "srvtoolu_1", None)
    assert isinstance(source, URLSource)
    assert source.provider_metadata == {"anthropic": {"pageAge": "1 day"}}


def test_a_result_without_its_call_belongs_to_the_answer_before() -> None:
    found: JsonObject = {
        "type": "tool_search_tool_result",
        "tool_use_id": "srvtoolu_9",
        "content": {"type": "tool_search_tool_search_result", "tool_references": []},
    }

    result = read(message(found))

    assert isinstance(result.content[0], ToolResult)
    assert result.content[0].tool_name == "tool_search"


def test_a_call_may_wait_for_its_result_until_the_next_answer() -> None:
    result = read(message(SEARCH, stop_reason="pause_turn"))

    assert [part.type for part in result.content] == ["tool-call"]
    assert result.finish_reason == FinishReason(unified="stop", raw="pause_turn")


def test_a_result_that_is_an_error_is_marked_as_one() -> None:
    failed: JsonObject = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}

    result = read(message(SEARCH, {**FOUND, "content": failed}))

    assert isinstance(result.content[1], ToolResult)
    assert (result.content[1].is_error, result.content[1].result) == (True, failed)


def test_results_of_nested_calls_keep_their_place_and_their_caller() -> None:
    outer: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_0", "name": "code_execution", "input": {}}
    caller: JsonObject = {"type": "code_execution_20260120", "tool_id": "srvtoolu_0"}
    ran: JsonObject = {
        "type": "code_execution_tool_result",
        "tool_use_id": "srvtoolu_0",
        "content": {"type": "code_execution_result", "stdout": "", "return_code": 0},
    }

    result = read(message(outer, {**SEARCH, "caller": caller}, {**FOUND, "caller": caller}, ran))

    found = [part for part in result.content if isinstance(part, ToolResult)]
    assert [part.tool_call_id for part in found] == ["srvtoolu_1", "srvtoolu_0"]
    assert found[0].provider_metadata == {"anthropic": {"type": "web_search_tool_result", "caller": caller}}


def test_mcp_calls_name_their_server() -> None:
    call: JsonObject = {"type": "mcp_tool_use", "id": "m1", "name": "echo", "input": {"a": 1}, "server_name": "s"}
    told: JsonObject = {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": [text("no")]}

    result = read(message(call, told))

    made, given = result.content
    assert isinstance(made, ToolCall)
    assert (made.tool_name, made.provider_executed, made.dynamic) == ("echo", True, True)
    assert made.provider_metadata == {"anthropic": {"type": "mcp_tool_use", "name": "echo", "server_name": "s"}}
    assert isinstance(given, ToolResult)
    assert (given.tool_name, given.is_error, given.dynamic) == ("echo", True, True)


def test_blocks_that_nobody_knows_are_kept_whole() -> None:
    fallback: JsonObject = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}
    summary: JsonObject = {"type": "compaction", "content": None}
    delta: JsonObject = {"type": "compaction_delta", "content": "so far"}

    whole = read(message(fallback, {}))
    streamed = collected(start(), *block(0, summary, delta, delta), *over())

    assert whole.content[0] == Custom(kind="anthropic.fallback", provider_metadata={"anthropic": {"block": fallback}})
    assert whole.content[1] == Custom(kind="anthropic.unknown", provider_metadata={"anthropic": {"block": {}}})
    grown: JsonObject = {"type": "compaction", "content": "so farso far"}
    assert streamed.content == (Custom(kind="anthropic.compaction", provider_metadata={"anthropic": {"block": grown}}),)


# --- stop reasons and envelope -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("tool_use", "tool-calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content-filter"),
        ("novelty", "other"),
    ],
)
def test_a_stop_reason_is_said_in_our_words_and_theirs(raw: str, unified: str) -> None:
    result = read(message(text("x"), stop_reason=raw))

    assert (result.finish_reason.unified, result.finish_reason.raw) == (unified, raw)


def test_a_refusal_may_have_no_content_and_no_details() -> None:
    details: JsonObject = {"type": "refusal", "category": "cyber"}
    delta: JsonObject = {"stop_reason": "refusal", "stop_details": details}

    bare = read(message(stop_reason="refusal"))
    streamed = decoded(start(), {"type": "message_delta", "delta": delta, "usage": {}}, {"type": "message_stop"})

    assert bare.content == ()
    finish = streamed[-1]
    assert isinstance(finish, FinishPart)
    assert finish.finish_reason.unified == "content-filter"
    assert finish.provider_metadata == {"anthropic": {"stopDetails": details}}


def test_what_is_said_of_the_answer_is_metadata() -> None:
    edits: JsonObject = {"applied_edits": []}

    whole = read(message(text("x"), stop_reason="stop_sequence", stop_sequence="END", context_management=edits))
    streamed = collected(start(), *said(0, "x"), *over(context_management=edits))

    assert whole.provider_metadata == {"anthropic": {"stopSequence": "END", "contextManagement": edits}}
    assert streamed.provider_metadata == {"anthropic": {"contextManagement": edits}}


def test_characters_of_four_bytes_come_whole_also_when_their_halves_come_apart() -> None:
    halves = [{"type": "text_delta", "text": "\ud83e"}, {"type": "text_delta", "text": "\uddc5!"}]
    thinking: JsonObject = {"type": "thinking", "thinking": "", "signature": ""}
    thought = [{"type": "thinking_delta", "thinking": "\ud83e"}, {"type": "thinking_delta", "thinking": "\uddc5"}]

    result = collected(
        start(),
        *block(0, thinking, *thought),
        *block(1, text(""), *halves),
        *called(2, "t", '{"a":"\ud83e', '\uddc5"}'),
        *block(3, text("\ud83e")),
        *block(4, {**thinking, "thinking": "\ud83e"}),
        *called(5, "t", '{"a":"\ud83e', call_id="t2"),
        *over("tool_use"),
    )

    assert [part.text for part in result.content if isinstance(part, Text | Reasoning)] == ["🧅", "🧅!", "�", "�"]
    calls = [part for part in result.content if isinstance(part, ToolCall)]
    assert json.loads(calls[0].input) == {"a": "🧅"}
    assert calls[1].input.endswith("�")
