"""What recorded exchanges show that a naive client gets wrong, one small body each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.google import tools
from onion.providers.google.chunks import ChunkReader
from onion.providers.google.toolbox import Toolbox
from onion.spec.content import Custom, File, Reasoning, Text, ToolCall, ToolResult, URLSource
from onion.spec.prompt import FileData
from onion.spec.usage import FinishReason
from tests.providers.google.bodies import (
    HELLO,
    NEWEST,
    USAGE,
    call,
    candidate,
    chunk,
    collected,
    read,
    sse,
    text,
    whole,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.content import Content
    from onion.spec.result import GenerateResult

SEARCHED: JsonObject = {
    "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s1", "args": {"queries": ["onion"]}},
    "thoughtSignature": "SIG-S",
}
FOUND: JsonObject = {
    "toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s1", "response": {"search_suggestions": "<b>"}},
    "thoughtSignature": "SIG-F",
}
CODE: JsonObject = {"executableCode": {"language": "PYTHON", "code": "1", "id": "c1"}, "thoughtSignature": "SIG-C"}
RAN: JsonObject = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "id": "c1"}}
MAX_TOKENS: JsonObject = {"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}]}
BLOCKED: JsonObject = {"blockReason": "MODEL_ARMOR", "blockReasonMessage": "no"}


def both(*parts: JsonObject, grounding: JsonObject | None = None, **more: JsonObject) -> GenerateResult:
    """What parts become, whole and streamed, which must be the same but for ids that are made up."""
    told: dict[str, JsonValue] = {**more, **({"groundingMetadata": grounding} if grounding else {})}
    body = whole(*parts)
    body["candidates"] = [candidate(*parts, **told)]
    last: JsonObject = {"candidates": [candidate(**told)], "usageMetadata": USAGE}
    result, in_pieces = read(body), collected(*(chunk(part) for part in parts), last)
    assert [part.type for part in in_pieces.content] == [part.type for part in result.content]
    assert in_pieces.provider_metadata == result.provider_metadata
    assert in_pieces.finish_reason == result.finish_reason
    return result


def google(part: Content) -> JsonValue:
    """Our metadata of a part."""
    return (part.provider_metadata or {}).get("google")


# --- framing and usage -----------------------------------------------------------------------------------------------


def test_lines_may_end_with_crlf_and_the_stream_needs_no_end_marker() -> None:
    body = sse(chunk(text("a")), chunk(text("b"), reason="STOP"))
    assert b"\r\n\r\n" in body

    events, decoder = SSEDecoder(), AnswerDecoder(ChunkReader(Toolbox(None, NEWEST)))
    parts = decoder.feed_events(events.feed(body)) + decoder.end()

    assert [part.type for part in parts][-2:] == ["text-end", "finish"]


def test_escapes_in_urls_are_read() -> None:
    events, decoder = SSEDecoder(), AnswerDecoder(ChunkReader(Toolbox(None, NEWEST)))
    page: JsonObject = {"groundingChunks": [{"web": {"uri": "https://a/?q=1"}}]}
    body = sse(chunk(reason="STOP", groundingMetadata=page)).replace(b"?q=1", rb"?q\u003d1")
    assert rb"\u003d" in body
    parts = decoder.feed_events(events.feed(body))

    sources = [part for part in [*parts, *decoder.end()] if isinstance(part, URLSource)]

    assert [source.url for source in sources] == ["https://a/?q=1"]


def test_usage_is_a_running_total_whose_last_figures_count() -> None:
    first: JsonObject = {**chunk(text("a")), "usageMetadata": {"promptTokenCount": 15, "totalTokenCount": 15}}
    only_traffic: JsonObject = {**chunk(text("b")), "usageMetadata": {"trafficType": "ON_DEMAND"}}
    last: JsonObject = {
        **chunk(reason="STOP"),
        "usageMetadata": {"promptTokenCount": 13, "candidatesTokenCount": 8, "totalTokenCount": 21},
    }

    usage = collected(first, only_traffic, last).usage

    assert (usage.input_tokens.total, usage.output_tokens.total) == (13, 8)
    assert usage.raw == {
        "promptTokenCount": 13,
        "candidatesTokenCount": 8,
        "totalTokenCount": 21,
        "trafficType": "ON_DEMAND",
    }


def test_an_account_without_counts_says_nothing() -> None:
    usage = read({"promptFeedback": BLOCKED, "usageMetadata": {"trafficType": "ON_DEMAND"}}).usage

    assert (usage.input_tokens.total, usage.output_tokens.total) == (None, None)
    assert usage.raw == {"trafficType": "ON_DEMAND"}


def test_thoughts_tool_results_and_cached_tokens_are_counted_where_they_belong() -> None:
    account: JsonObject = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "toolUsePromptTokenCount": 20,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 157,
    }

    usage = read({**whole(text("a")), "usageMetadata": account}).usage

    assert (usage.input_tokens.total, usage.input_tokens.no_cache, usage.input_tokens.cache_read) == (120, 60, 60)
    assert (usage.output_tokens.total, usage.output_tokens.text, usage.output_tokens.reasoning) == (37, 7, 30)


@pytest.mark.parametrize(
    ("account", "output"),
    [
        ({"promptTokenCount": 10, "thoughtsTokenCount": 5, "totalTokenCount": 15}, (5, 0)),
        ({"promptTokenCount": 10, "totalTokenCount": 10}, (0, 0)),
        ({"promptTokenCount": 10}, (None, None)),
        ({"thoughtsTokenCount": 5}, (5, None)),
        ({}, (None, None)),
    ],
)
def test_a_count_of_zero_is_left_away_and_follows_from_the_total(
    account: JsonObject, output: tuple[int | None, int | None]
) -> None:
    usage = read({**whole(text("a")), "usageMetadata": account}).usage

    assert (usage.output_tokens.total, usage.output_tokens.text) == output


# --- content ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"promptFeedback": BLOCKED}, FinishReason(unified="content-filter", raw="MODEL_ARMOR")),
        ({"candidates": [{"finishReason": "SAFETY"}]}, FinishReason(unified="content-filter", raw="SAFETY")),
        (MAX_TOKENS, FinishReason(unified="length", raw="MAX_TOKENS")),
        ({"candidates": [{"content": {"role": "model"}}]}, FinishReason(unified="stop")),
    ],
)
def test_an_answer_may_lack_candidates_content_and_parts(body: JsonObject, reason: FinishReason) -> None:
    result = read(body)

    assert (result.content, result.finish_reason) == ((), reason)


def test_an_empty_text_at_the_end_makes_no_block() -> None:
    result = both(text("a"), text(""))

    assert result.content == (Text(text="a"),)


def test_thoughts_are_reasoning_and_no_answer() -> None:
    result = both(text("Hm. ", thought=True), text("Ha.", thought=True), text("Yes."))

    assert result.content == (
        Reasoning(text="Hm. Ha.", provider_metadata={"google": {"thought": True}}),
        Text(text="Yes."),
    )


def test_calls_of_the_server_and_their_results_are_marked_and_named_as_the_caller_does() -> None:
    params = HELLO.replace(tools=(tools.google_search(name="look_up"),))

    result = read(whole(SEARCHED, FOUND), params)

    called, found = result.content
    assert called == ToolCall(
        tool_call_id="s1",
        tool_name="look_up",
        input='{"queries":["onion"]}',
        provider_executed=True,
        provider_metadata={
            "google": {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s1"}, "thoughtSignature": "SIG-S"}
        },
    )
    assert isinstance(found, ToolResult)
    assert (found.tool_name, found.result, found.dynamic) == ("look_up", {"search_suggestions": "<b>"}, None)
    assert result.finish_reason.unified == "stop"


def test_a_part_that_nobody_knows_is_kept() -> None:
    novelty: JsonObject = {"hologram": {"size": 3}, "thoughtSignature": "S"}

    result = both(novelty, {"odd": 1}, {})

    assert result.content == (
        Custom(kind="google.hologram", provider_metadata={"google": {"part": novelty}}),
        Custom(kind="google.unknown", provider_metadata={"google": {"part": {"odd": 1}}}),
    )


def test_code_and_what_it_printed_are_a_call_and_its_result_with_and_without_output() -> None:
    failed: JsonObject = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "boom"}}

    result = both(CODE, RAN, {"executableCode": {"code": "2"}}, failed)

    first, ran, second, boom = result.content
    assert isinstance(first, ToolCall)
    assert (first.tool_call_id, first.tool_name, first.dynamic) == ("c1", "code_execution", True)
    assert first.input == '{"language":"PYTHON","code":"1"}'
    assert isinstance(ran, ToolResult)
    assert (ran.tool_call_id, ran.result, ran.is_error) == ("c1", {"outcome": "OUTCOME_OK"}, None)
    assert isinstance(second, ToolCall)
    assert isinstance(boom, ToolResult)
    assert (boom.tool_call_id, boom.is_error) == (second.tool_call_id, True)


def test_a_result_whose_call_nobody_saw_has_a_name_and_an_id() -> None:
    result = both({"toolResponse": {"toolType": "URL_CONTEXT"}}, {"codeExecutionResult": {"id": "c9"}})

    fetched, ran = result.content
    assert isinstance(fetched, ToolResult)
    assert isinstance(ran, ToolResult)
    assert (fetched.tool_name, fetched.result, ran.tool_name, ran.tool_call_id) == (
        "url_context",
        None,
        "code_execution",
        "c9",
    )
    assert fetched.tool_call_id.startswith("call_")


def test_images_in_the_answer_are_files_with_their_signature() -> None:
    image: JsonObject = {"inlineData": {"data": "AAAA", "mimeType": "image/png"}}

    result = both({**image, "thoughtSignature": "S"}, {**image, "thought": True}, {"fileData": {"fileUri": "gs://f"}})

    drawn, draft, stored = result.content
    expected = File(
        media_type="image/png", data=FileData(data="AAAA"), provider_metadata={"google": {"thoughtSignature": "S"}}
    )
    assert drawn == expected
    assert draft.type == "reasoning-file"
    assert isinstance(stored, File)
    assert (stored.media_type, google(stored)) == ("application/octet-stream", None)


# --- signatures ------------------------------------------------------------------------------------------------------


def test_a_signature_stays_with_the_part_that_it_came_with() -> None:
    result = both(
        text("Think", thought=True, thoughtSignature="S0"),
        text("A", thoughtSignature="S1"),
        text("B"),
        call("f", thoughtSignature="S2"),
        call("f"),
        CODE,
    )

    assert [google(part) for part in result.content] == [
        {"thought": True, "thoughtSignature": "S0"},
        {"thoughtSignature": "S1"},
        None,
        {"functionCall": {}, "thoughtSignature": "S2"},
        {"functionCall": {}},
        {"executableCode": {"id": "c1"}, "thoughtSignature": "SIG-C"},
    ]


def test_a_signature_on_an_empty_text_belongs_to_the_text_before_it_or_stands_alone() -> None:
    after_text = both(text("Ans"), text("wer"), text("", thoughtSignature="TS"))
    after_call = both(call("f"), text("", thoughtSignature="TS"))

    assert after_text.content == (Text(text="Answer", provider_metadata={"google": {"thoughtSignature": "TS"}}),)
    assert after_call.content[1] == Text(text="", provider_metadata={"google": {"thoughtSignature": "TS"}})


# --- tool calls ------------------------------------------------------------------------------------------------------


def test_calls_without_an_id_an_empty_one_or_one_that_is_taken_get_ids_of_their_own() -> None:
    result = both(call("f"), call("f", call_id=""), call("f", call_id="x"), call("f", call_id="x"))

    calls = [part for part in result.content if isinstance(part, ToolCall)]
    assert len({each.tool_call_id for each in calls}) == 4
    assert calls[2].tool_call_id == "x"
    assert all(each.tool_call_id for each in calls)


def test_a_call_may_lack_its_arguments() -> None:
    result = both({"functionCall": {"name": "f"}}, call("g", {"n": 1}))

    assert [part.input for part in result.content if isinstance(part, ToolCall)] == ["{}", '{"n":1}']


@pytest.mark.parametrize("raw", ["STOP", "UNEXPECTED_TOOL_CALL"])
def test_an_answer_with_calls_ended_for_them_whatever_it_says(raw: str) -> None:
    result = read(whole(call("f"), reason=raw, finishMessage="Model generated function call(s)."))

    assert result.finish_reason == FinishReason(unified="tool-calls", raw=raw)
    assert result.provider_metadata == {"google": {"finishMessage": "Model generated function call(s)."}}


def test_calls_that_the_server_ran_are_no_reason_to_go_on() -> None:
    assert both(CODE, RAN).finish_reason.unified == "stop"


# --- finish ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content-filter"),
        ("RECITATION", "content-filter"),
        ("MODEL_ARMOR", "content-filter"),
        ("IMAGE_SAFETY", "content-filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
        ("OTHER", "other"),
        ("NOVELTY", "other"),
    ],
)
def test_the_reasons_of_the_api_have_words_of_ours(raw: str, unified: str) -> None:
    ratings: JsonValue = [{"category": "HARM_CATEGORY_HATE_SPEECH", "blocked": True}]

    result = read(whole(text("a"), reason=raw, safetyRatings=ratings))

    assert (result.finish_reason.unified, result.finish_reason.raw) == (unified, raw)
    assert result.provider_metadata == {"google": {"safetyRatings": ratings}}


def test_log_probabilities_of_all_chunks_are_one_list() -> None:
    first: JsonObject = {"chosenCandidates": [{"token": "a"}], "sum": 1}
    more: JsonObject = {"chosenCandidates": [{"token": "b"}], "sum": 2}

    result = collected(
        chunk(text("a"), logprobsResult=first), chunk(text("b"), reason="STOP", avgLogprobs=-1.5, logprobsResult=more)
    )

    told = {"chosenCandidates": [{"token": "a"}, {"token": "b"}], "sum": 2}
    assert result.provider_metadata == {"google": {"logprobsResult": told, "avgLogprobs": -1.5}}
