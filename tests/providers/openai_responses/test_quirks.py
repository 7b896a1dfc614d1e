"""What recorded exchanges of Responses servers show that a naive client gets wrong, a test for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.errors import StreamProviderError
from onion.providers.openai_responses.result import to_result
from onion.spec.content import Custom, Reasoning, Text, ToolCall, ToolResult
from onion.spec.parts import FinishPart, RawPart, TextDelta
from tests.providers.openai_responses.bodies import (
    CALL,
    EVENTS,
    HEAD,
    MESSAGE,
    NAME,
    REASONING,
    STREAM,
    both,
    collected,
    decode,
    event,
    message,
    parts_of,
    response,
    sse,
    streamed,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject


def test_a_done_marker_that_is_no_json_ends_nothing_and_harms_nothing() -> None:
    body = sse(*EVENTS[:-1]) + b"data: [DONE]\n\n" + sse(EVENTS[-1]) + b"data: [DONE]\n\n"

    assert decode([body]) == decode(STREAM)


def test_a_resumed_stream_begins_with_another_event() -> None:
    queued = event("queued", response={**HEAD, "status": "queued", "output": []}, sequence_number=1)

    assert collected(parts_of(queued, *EVENTS[1:])) == collected(decode(STREAM))


def test_an_error_event_before_a_failed_response_is_one_failure() -> None:
    error = {"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your quota."}
    with pytest.raises(StreamProviderError, match="quota") as caught:
        parts_of(
            EVENTS[0],
            {"type": "error", "sequence_number": 2, "error": error},
            event("failed", response=response(status="failed", error=error)),
        )

    assert (caught.value.status_code, caught.value.is_retryable) == (429, False)


def test_items_may_overlap() -> None:
    raw: JsonObject = {"type": "reasoning", "id": "rs_1", "content": [{"type": "reasoning_text", "text": "hm so"}]}
    parts = parts_of(
        EVENTS[0],
        event("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs_1", "summary": []}),
        event("reasoning_text.delta", output_index=0, content_index=0, delta="hm "),
        event("output_item.added", output_index=1, item={**MESSAGE, "content": []}),
        event("output_text.delta", output_index=1, content_index=0, delta="Hello, world"),
        event("output_item.done", output_index=1, item=MESSAGE),
        event("reasoning_text.delta", output_index=0, content_index=0, delta="so"),
        event("output_item.done", output_index=0, item=raw),
        event("completed", response=response(raw, MESSAGE)),
    )

    reasoning, text = collected(parts).content
    assert isinstance(reasoning, Reasoning)
    assert isinstance(text, Text)
    assert (reasoning.text, text.text) == ("hm so", "Hello, world")
    assert text.provider_metadata == {NAME: {"itemId": "msg_1", "reasoningId": "rs_1"}}


def test_ids_that_change_with_every_event_do_not_matter() -> None:
    renamed = [
        {**found, "item_id": f"x{number}", **({"item": {**item, "id": f"y{number}"}} if isinstance(item, dict) else {})}
        for number, found in enumerate(EVENTS)
        for item in [found.get("item")]
    ]

    parts = parts_of(*renamed)

    assert [part.type for part in parts] == [part.type for part in decode(STREAM)]
    assert collected(parts).text == "Hello, world"


def test_arguments_may_come_without_deltas() -> None:
    done = event("function_call_arguments.done", output_index=0, arguments='{"n":2}')
    created, added, item_done, completed = streamed(CALL)

    (call,) = collected(parts_of(created, added, done, item_done, completed)).content

    assert isinstance(call, ToolCall)
    assert call.input == '{"n":2}'


def test_empty_text_without_deltas_is_a_block_that_goes_back() -> None:
    (text,) = both(message("")).content

    assert text == Text(text="", provider_metadata={NAME: {"itemId": "msg_1"}})


@pytest.mark.parametrize("status", ["generating", "in_progress", "incomplete", None])
def test_an_item_that_is_done_is_done_whatever_its_status(status: str | None) -> None:
    assert [part.type for part in both({**CALL, "status": status}).content] == ["tool-call"]


def test_only_the_encrypted_content_of_the_done_item_goes_back() -> None:
    reasoning = collected(decode(STREAM)).content[0]

    assert isinstance(reasoning, Reasoning)
    assert reasoning.provider_metadata == {NAME: {"itemId": "rs_1", "reasoningEncryptedContent": "E-whole"}}


def test_neither_sequence_numbers_nor_padding_matter() -> None:
    numbered = [{**found, "sequence_number": number, "obfuscation": "x"} for number, found in enumerate(EVENTS)]

    assert [part.type for part in parts_of(*numbered)] == [part.type for part in decode(STREAM)]


def test_comments_and_blank_data_are_skipped() -> None:
    body = b": OPENROUTER PROCESSING\n\n" + b"data:  \n\n".join(STREAM)

    assert decode([body]) == decode(STREAM)


def test_events_that_are_not_known_are_skipped() -> None:
    unknown = event("shell_call_command.delta", output_index=0, delta="ls")

    assert parts_of(*EVENTS[:4], unknown, {"novelty": 1}, *EVENTS[4:]) == decode(STREAM)
    assert any(isinstance(part, RawPart) for part in decode([sse(unknown, *EVENTS)], include_raw=True))


def test_messages_are_told_apart_by_phase() -> None:
    texts = both(message("a", phase="commentary"), message("b", id="msg_2", phase="final_answer")).content

    assert [part.provider_metadata for part in texts] == [
        {NAME: {"itemId": "msg_1", "phase": "commentary"}},
        {NAME: {"itemId": "msg_2", "phase": "final_answer"}},
    ]


def test_reasoning_with_nothing_to_show_is_kept() -> None:
    (reasoning,) = both({"type": "reasoning", "id": "rs_1", "summary": []}).content

    assert reasoning == Reasoning(text="", provider_metadata={NAME: {"itemId": "rs_1"}})


def test_a_summary_in_several_parts_is_several_blocks_of_one_item() -> None:
    summary = [{"type": "summary_text", "text": text} for text in ("A", "B")]
    first, second = both({**REASONING, "summary": summary}).content

    assert isinstance(first, Reasoning)
    assert isinstance(second, Reasoning)
    assert (first.text, second.text) == ("A", "B")
    assert first.provider_metadata == {NAME: {"itemId": "rs_1"}}
    assert second.provider_metadata == {NAME: {"itemId": "rs_1", "reasoningEncryptedContent": "E-whole"}}


def test_raw_reasoning_text_says_that_it_is_no_summary() -> None:
    (found,) = both({"type": "reasoning", "id": "rs_1", "content": [{"type": "reasoning_text", "text": "a"}]}).content

    assert found == Reasoning(text="a", provider_metadata={NAME: {"itemId": "rs_1", "contentType": "reasoning_text"}})


def test_the_call_id_is_not_the_id_of_the_item() -> None:
    (call,) = both(CALL).content

    assert isinstance(call, ToolCall)
    assert (call.tool_call_id, call.provider_metadata) == ("c1", {NAME: {"itemId": "fc_1"}})


def test_arguments_that_are_an_object_are_read() -> None:
    search = {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "arguments": {"paths": ["a"]}}
    (call,) = both(search).content

    assert isinstance(call, ToolCall)
    assert call.input == '{"arguments":{"paths":["a"]}}'


def test_a_call_with_a_namespace_or_a_caller_is_the_clients() -> None:
    caller = {"type": "program", "caller_id": "c9"}
    (call,) = both({**CALL, "namespace": "n", "caller": caller}).content

    assert isinstance(call, ToolCall)
    assert call.provider_executed is None
    assert call.provider_metadata == {NAME: {"itemId": "fc_1", "namespace": "n", "caller": caller}}


def test_the_input_of_a_custom_tool_is_no_json() -> None:
    (call,) = both(
        {"type": "custom_tool_call", "id": "ct_1", "call_id": "c7", "name": "sql", "input": "SELECT 1"}
    ).content

    assert isinstance(call, ToolCall)
    assert call.input == '"SELECT 1"'


def test_a_request_for_approval_ends_the_answer_without_a_message() -> None:
    request = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "t", "arguments": "{}"}
    result = both({"type": "mcp_list_tools", "id": "mcpl_1", "tools": []}, request)

    assert [part.type for part in result.content] == ["custom", "tool-call", "tool-approval-request"]
    assert result.finish_reason.unified == "stop"


def test_results_of_file_search_may_be_null() -> None:
    search = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"], "results": None}
    _, result = both(search).content

    assert isinstance(result, ToolResult)
    assert result.result == {"status": "completed", "queries": ["q"], "results": None}


def test_item_types_of_one_vendor_survive() -> None:
    item = {"type": "x_search_call", "id": "x_1", "call_id": "", "name": "x_search", "arguments": "{}"}
    (found,) = both(item).content

    assert found == Custom(kind="openai.x_search_call", provider_metadata={NAME: {"itemId": "x_1", "item": item}})


def test_a_compacted_conversation_has_no_status_and_holds_messages_of_the_user() -> None:
    user: JsonObject = {
        "type": "message",
        "id": "msg_9",
        "role": "user",
        "content": [{"type": "input_text", "text": "hi"}],
    }
    compacted: JsonObject = {
        "id": "resp_9",
        "object": "response.compaction",
        "output": [user, {"type": "compaction", "id": "cmp_1"}],
    }

    result = to_result(compacted, name=NAME)

    assert [part.type for part in result.content] == ["custom", "custom"]
    assert result.finish_reason.unified == "stop"


def test_empty_log_probabilities_are_normal() -> None:
    assert both(MESSAGE).provider_metadata == {NAME: {"responseId": "resp_1"}}


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_an_answer_that_is_not_there_yet_is_no_empty_answer(status: str) -> None:
    result = to_result({**HEAD, "status": status, "output": [], "usage": None}, name=NAME)

    assert result.content == ()
    assert (result.finish_reason.unified, result.finish_reason.raw) == ("other", status)


def test_the_model_of_the_answer_may_have_another_name() -> None:
    result = to_result(response(MESSAGE, model="m-1-2026-01-01"), name=NAME)

    assert result.response is not None
    assert result.response.model_id == "m-1-2026-01-01"


def test_what_a_gateway_says_beside_the_response_is_kept() -> None:
    parts = parts_of(*EVENTS[:-1], {**EVENTS[-1], "copilot_usage": {"total": 1}})

    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].provider_metadata == {NAME: {"responseId": "resp_1", "copilot_usage": {"total": 1}}}


def test_events_that_repeat_the_text_add_nothing() -> None:
    deltas = [part.delta for part in decode(STREAM) if isinstance(part, TextDelta)]

    assert "".join(deltas) == "Hello, world"


def test_without_places_items_are_told_apart_by_their_ids() -> None:
    call: JsonObject = {key: found for key, found in CALL.items() if key != "id"}
    raw: JsonObject = {"type": "reasoning", "id": "rs_1", "content": [{"type": "reasoning_text", "text": "hm"}]}
    parts = parts_of(
        event("created", response={"id": "resp_1", "status": "in_progress"}),
        event("output_item.added", item={"type": "reasoning", "id": "rs_1"}),
        event("reasoning_text.delta", item_id="rs_1", delta="hm"),
        event("output_item.done", item=raw),
        event("output_item.added", item={**MESSAGE, "content": []}),
        event("output_text.delta", item_id="msg_1", delta="Hello, "),
        event("output_item.added", item={**call, "arguments": ""}),
        event("function_call_arguments.delta", item_id="c1", delta='{"n":2}'),
        event("output_text.delta", item_id="msg_1", delta="world"),
        event("output_text.delta", delta=""),
        event("output_item.done", item=MESSAGE),
        event("output_item.done", item=call),
        event("completed", response=response(raw, MESSAGE, call)),
    )

    reasoning, text, found = collected(parts).content
    assert isinstance(reasoning, Reasoning)
    assert isinstance(text, Text)
    assert isinstance(found, ToolCall)
    assert (reasoning.text, text.text, found.input) == ("hm", "Hello, world", '{"n":2}')
