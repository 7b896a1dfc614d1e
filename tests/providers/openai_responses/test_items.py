"""Items of an answer as content: texts, citations, calls, and what the server's own tools made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.errors import StreamProviderError, TypeValidationError
from onion.providers.openai_responses.result import to_result
from onion.spec.content import (
    Custom,
    DocumentSource,
    File,
    Text,
    ToolApprovalRequest,
    ToolCall,
    ToolResult,
    URLSource,
)
from onion.spec.parts import ToolInputDelta, ToolInputStart
from onion.spec.prompt import FileData
from onion.spec.usage import FinishReason, Usage
from tests.providers.openai_responses.bodies import (
    CALL,
    MESSAGE,
    NAME,
    REASONING,
    both,
    collected,
    event,
    message,
    parts_of,
    response,
    streamed,
)
from tests.providers.openai_responses.test_round_trip import CODE, FOUND, IMAGE, MCP, MCP_ASKED, SOUGHT

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue


def cited(*annotations: JsonValue) -> dict[str, JsonValue]:
    """A message with citations."""
    return {**MESSAGE, "content": [{"type": "output_text", "text": "a", "annotations": list(annotations)}]}


def calls(*items: JsonObject) -> list[ToolCall]:
    """The calls of an answer."""
    return [part for part in both(*items).content if isinstance(part, ToolCall)]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, FinishReason(unified="stop")),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, ("length", None)),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, ("content-filter", None)),
        ({"status": "incomplete", "incomplete_details": {"reason": "moon"}}, ("other", None)),
        ({"status": "cancelled"}, ("other", "cancelled")),
        ({"status": "queued"}, ("other", "queued")),
    ],
    ids=["completed", "length", "filter", "unknown", "cancelled", "queued"],
)
def test_how_an_answer_ended(more: JsonObject, reason: FinishReason | tuple[str, str | None]) -> None:
    found = both(MESSAGE, **more).finish_reason

    if isinstance(reason, tuple):
        assert found.unified == reason[0]
        assert reason[1] in (None, found.raw)
    else:
        assert found == reason


def test_an_answer_with_calls_or_a_refusal_ends_for_them() -> None:
    refusal: JsonObject = {**MESSAGE, "content": [{"type": "refusal", "refusal": "no"}]}

    assert both(MESSAGE, CALL).finish_reason == FinishReason(unified="tool-calls")
    assert both(refusal).finish_reason == FinishReason(unified="content-filter")
    assert both(refusal).text == "no"


def test_what_the_server_says_of_itself_is_kept() -> None:
    result = both(MESSAGE, service_tier="flex", moderation={"flagged": False}, temperature=1.0, metadata={})

    assert result.provider_metadata == {
        NAME: {"responseId": "resp_1", "service_tier": "flex", "moderation": {"flagged": False}}
    }
    assert result.response is not None
    assert (result.response.id, result.response.model_id) == ("resp_1", "m-1")


def test_what_the_server_does_not_count_is_unknown_and_zero_is_zero() -> None:
    zero: JsonObject = {
        "input_tokens": 0,
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    }
    counted = both(MESSAGE, usage=zero).usage

    assert both(MESSAGE, usage=None).usage == Usage()
    assert both(MESSAGE, usage={"input_tokens": 3}).usage.output_tokens.total is None
    assert (counted.input_tokens.total, counted.input_tokens.no_cache, counted.input_tokens.cache_write) == (0, 0, 0)
    assert (counted.output_tokens.total, counted.output_tokens.text, counted.output_tokens.reasoning) == (0, 0, 0)


def test_probabilities_of_tokens_are_kept_together() -> None:
    token: JsonValue = {"token": "a", "logprob": -0.1}
    said: JsonObject = {**MESSAGE, "content": [{"type": "output_text", "text": "a", "logprobs": [token]}]}

    found = both(said, {**said, "id": "msg_2"}).provider_metadata

    assert found is not None
    assert found[NAME]["logprobs"] == [token, token]


def test_citations_are_sources_and_stay_with_their_text() -> None:
    url: JsonValue = {"type": "url_citation", "url": "http://a", "title": "A", "start_index": 0, "end_index": 1}
    bare: JsonValue = {"type": "url_citation", "url": "http://b"}
    file: JsonValue = {"type": "file_citation", "file_id": "f_1", "filename": "a.pdf", "index": 3}
    made: JsonValue = {"type": "container_file_citation", "file_id": "cf_1", "container_id": "c_1"}
    path: JsonValue = {"type": "file_path"}
    other: JsonValue = {"type": "moon_citation"}
    text, *sources = both(cited(url, bare, file, made, path, other)).content

    assert isinstance(text, Text)
    assert text.provider_metadata is not None
    assert text.provider_metadata[NAME]["annotations"] == [url, bare, file, made, path, other]
    assert sources == [
        URLSource(
            id="source-1", url="http://a", title="A", provider_metadata={NAME: {"start_index": 0, "end_index": 1}}
        ),
        URLSource(id="source-2", url="http://b"),
        DocumentSource(
            id="source-3",
            media_type="text/plain",
            title="a.pdf",
            filename="a.pdf",
            provider_metadata={NAME: {"type": "file_citation", "file_id": "f_1", "index": 3}},
        ),
        DocumentSource(
            id="source-4",
            media_type="application/octet-stream",
            title="cf_1",
            provider_metadata={NAME: {"type": "container_file_citation", "file_id": "cf_1", "container_id": "c_1"}},
        ),
        DocumentSource(
            id="source-5",
            media_type="application/octet-stream",
            title="file_path",
            provider_metadata={NAME: {"type": "file_path"}},
        ),
    ]


def test_a_citation_with_an_event_of_its_own_is_one_source() -> None:
    annotation: JsonObject = {"type": "url_citation", "url": "http://a"}
    created, added, done, completed = streamed(cited(annotation))
    told = event("output_text.annotation.added", output_index=0, content_index=0, annotation=annotation)

    found = collected(parts_of(created, added, told, done, completed)).content

    assert [part.type for part in found] == ["source", "text"]


def test_pieces_of_a_message_that_are_no_text_are_kept() -> None:
    odd: JsonObject = {**MESSAGE, "content": [{"type": "output_audio", "data": "AAAA"}, {"x": 1}]}

    assert both(odd).content == (
        Custom(
            kind="openai.output_audio",
            provider_metadata={NAME: {"itemId": "msg_1", "part": {"type": "output_audio", "data": "AAAA"}}},
        ),
        Custom(kind="openai.content", provider_metadata={NAME: {"itemId": "msg_1", "part": {"x": 1}}}),
    )


def test_a_message_of_the_user_is_kept_as_it_is() -> None:
    compacted: JsonObject = {**MESSAGE, "role": "user", "content": [{"type": "input_text", "text": "hi"}]}

    (found,) = both(compacted).content

    assert found == Custom(kind="openai.message", provider_metadata={NAME: {"itemId": "msg_1", "item": compacted}})


def test_an_item_without_a_type_is_kept_as_it_is() -> None:
    (found,) = both({"x": 1}).content

    assert found == Custom(kind="openai.item", provider_metadata={NAME: {"item": {"x": 1}}})


@pytest.mark.parametrize(
    ("more", "call_id", "text"),
    [
        ({}, "c1", '{"n":2}'),
        ({"arguments": ""}, "c1", "{}"),
        ({"arguments": {"n": 2}}, "c1", '{"n":2}'),
        ({"arguments": '{"n":'}, "c1", '{"n":'),
        ({"call_id": ""}, "fc_1", '{"n":2}'),
        ({"call_id": None, "id": None}, "made-0", '{"n":2}'),
    ],
    ids=["whole", "empty", "parsed", "cut", "without call id", "without any id"],
)
def test_a_call_has_an_id_and_its_input_as_text(more: JsonObject, call_id: str, text: str) -> None:
    (call,) = calls({**CALL, **more})

    assert (call.tool_call_id, call.tool_name, call.input) == (call_id, "wave", text)


def test_calls_with_one_id_are_told_apart() -> None:
    assert [call.tool_call_id for call in calls(CALL, {**CALL, "id": "fc_2"})] == ["c1", "made-0"]


def test_a_call_whose_name_comes_late_waits_for_it() -> None:
    created, _, done, completed = streamed(CALL)
    begun = event("output_item.added", output_index=0, item={"type": "function_call", "id": "fc_1"})
    parts = parts_of(created, begun, event("function_call_arguments.delta", output_index=0, delta="{"), done, completed)

    assert [part.tool_name for part in parts if isinstance(part, ToolInputStart)] == ["wave"]


def test_what_follows_reasoning_knows_it() -> None:
    metadata = [part.provider_metadata for part in both(REASONING, MESSAGE, CALL).content]

    assert metadata == [
        {NAME: {"itemId": "rs_1", "reasoningEncryptedContent": "E-whole"}},
        {NAME: {"itemId": "msg_1", "reasoningId": "rs_1"}},
        {NAME: {"itemId": "fc_1", "reasoningId": "rs_1"}},
    ]


def test_code_and_free_text_arrive_as_pieces_of_the_json_that_the_input_is() -> None:
    for item, deltas in (
        (CODE, [("code_interpreter_call_code.delta", 'print("'), ("code_interpreter_call_code.delta", 'ü")\n')]),
        (
            {"type": "custom_tool_call", "id": "ct_1", "call_id": "c7", "name": "sql", "input": 'a"b'},
            [("custom_tool_call_input.delta", 'a"'), ("custom_tool_call_input.delta", "b")],
        ),
    ):
        created, added, done, completed = streamed(item)
        events = [event(kind, output_index=0, delta=delta) for kind, delta in deltas]
        parts = parts_of(created, added, *events, done, completed)
        (call,) = [part for part in parts if isinstance(part, ToolCall)]

        assert "".join(part.delta for part in parts if isinstance(part, ToolInputDelta)) == call.input


def test_images_that_a_tool_made_are_files_too() -> None:
    told = {NAME: {"itemId": "ig_1"}}
    *_, image = both(IMAGE).content
    *_, plot = both(CODE).content
    odd = [both({**IMAGE, **more}).content[-1] for more in ({"result": "?!"}, {"result": "A", "output_format": None})]

    assert image == File(media_type="image/webp", data=FileData(data="UklGRuIWGQBXRUJQ"), provider_metadata=told)
    assert isinstance(plot, File)
    assert plot.data == FileData(data="iVBORw0KGgo=")
    assert [part.media_type for part in odd if isinstance(part, File)] == ["image/webp", "image/png"]
    assert len(both({**IMAGE, "result": None}).content) == 2


def test_first_versions_of_an_image_are_preliminary() -> None:
    created, added, done, completed = streamed(IMAGE)
    shown = event("image_generation_call.partial_image", output_index=0, partial_image_b64="AA", partial_image_index=0)
    empty = event("image_generation_call.partial_image", output_index=0)
    results = [part for part in parts_of(created, added, shown, empty, done, completed) if isinstance(part, ToolResult)]

    assert [part.preliminary for part in results] == [True, None]
    assert results[0].result == {"result": "AA", "partial_image_index": 0}


def test_a_call_of_an_mcp_server_that_was_approved_is_the_one_that_was_asked_for() -> None:
    asked, request = both(MCP_ASKED).content
    call, result = both(MCP).content

    assert isinstance(asked, ToolCall)
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert request == ToolApprovalRequest(approval_id="mcpr_1", tool_call_id="mcpr_1")
    assert asked.tool_call_id == call.tool_call_id == result.tool_call_id == "mcpr_1"
    assert (call.tool_name, call.provider_executed, call.dynamic) == ("mcp.t", True, True)
    assert result.is_error is None


@pytest.mark.parametrize("more", [{"error": {"message": "down"}}, {"status": "failed"}])
def test_a_tool_of_the_server_that_failed_is_an_error(more: JsonObject) -> None:
    result = both({**MCP, **more}).content[-1]

    assert isinstance(result, ToolResult)
    assert result.is_error is True


def test_results_without_an_id_belong_to_the_calls_in_their_order() -> None:
    second: tuple[JsonObject, JsonObject] = ({**SOUGHT, "id": "tsc_2"}, {**FOUND, "id": "tso_2"})
    found = both(SOUGHT, second[0], FOUND, second[1], {**FOUND, "id": "tso_3"}).content

    assert [part.tool_call_id for part in found if isinstance(part, ToolResult)] == ["tsc_1", "tsc_2", "tso_3"]


def test_tools_of_the_api_are_called_as_the_caller_calls_them() -> None:
    names = {"code_interpreter": "python", "image_generation": "draw"}
    parts = parts_of(*streamed(CODE, IMAGE), tool_names=names)

    assert [part.tool_name for part in parts if isinstance(part, ToolResult)] == ["python", "draw"]


def test_a_tool_item_that_was_begun_as_another_kind_is_kept_as_it_is() -> None:
    parts = parts_of(
        event("output_text.delta", output_index=0, delta="a"),
        event("output_item.done", output_index=0, item=IMAGE),
        event("completed", response=response(IMAGE)),
    )

    assert [part.type for part in collected(parts).content] == ["text", "custom"]


def test_a_call_that_ends_as_one_of_another_kind_is_a_call_of_its_own() -> None:
    begun: JsonObject = {**CALL, "arguments": ""}
    done: JsonObject = {"type": "custom_tool_call", "id": "x", "call_id": CALL["call_id"], "name": "sql", "input": "a"}
    parts = parts_of(
        event("output_item.added", output_index=0, item=begun),
        event("output_item.done", output_index=0, item=done),
        event("completed", response=response(done)),
    )

    (call,) = [part for part in parts if isinstance(part, ToolCall)]
    assert (call.tool_name, call.input) == ("custom", '"a"')
    assert call.tool_call_id != CALL["call_id"]


def test_text_that_the_whole_item_lacks_ends_with_it() -> None:
    created, added, _, _ = streamed(message("a"))
    emptied: JsonObject = {**MESSAGE, "content": []}
    parts = parts_of(
        created,
        added,
        event("output_text.delta", output_index=0, delta="a"),
        event("output_item.done", output_index=0, item=emptied),
        event("completed", response=response(emptied)),
    )

    assert collected(parts).text == "a"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], r"no response but \[\]"),
        ({}, "an object with no members"),
        ({"object": "list", "data": []}, "an object with object, data"),
    ],
)
def test_a_body_that_is_no_response_is_refused(body: JsonValue, said: str) -> None:
    with pytest.raises(TypeValidationError, match=said):
        to_result(body, name=NAME)


def test_a_body_that_reports_a_failure_raises_it() -> None:
    with pytest.raises(StreamProviderError, match="down"):
        to_result(response(status="failed", error={"code": "server_error", "message": "down"}), name=NAME)
    with pytest.raises(StreamProviderError, match="bad"):
        to_result({"error": {"message": "bad"}}, name=NAME)
