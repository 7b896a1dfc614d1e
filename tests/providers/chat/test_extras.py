"""What else an answer may hold: images, speech, sources, tools that the server ran, and the server's own facts."""

import base64
from datetime import UTC, datetime

import pytest

from onion.errors import TypeValidationError
from onion.spec.base import JsonObject, JsonValue
from onion.spec.content import File, Reasoning, Text, ToolCall, ToolResult, URLSource
from onion.spec.prompt import FileData, FileURL
from tests.providers.chat.decoding import NAME, chunk, decode, said


def own(**members: JsonValue) -> dict[str, JsonObject]:
    """Provider metadata of this vendor."""
    return {NAME: members}


def test_thinking_and_images_in_a_list_of_content_are_read_in_order() -> None:
    found = decode(
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
        chunk(
            {"content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "ok"}, {"type": "reference"}]}
        ),
        chunk({"content": [{"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lG"}}]}),
    )

    assert found.content == (
        Reasoning(text="hm…", provider_metadata=own(reasoning_field="content")),
        Text(text="ok"),
        File(media_type="image/gif", data=FileData(data="R0lG")),
    )


def test_images_are_files() -> None:
    images: list[JsonValue] = [
        {"type": "image_url", "image_url": {"url": url}} for url in ("data:;base64,AA==", "https://a.example/i.png", "")
    ]

    assert decode(said("a"), chunk({"images": images})).content[1:] == (
        File(media_type="image/png", data=FileData(data="AA==")),
        File(media_type="image/*", data=FileURL(url="https://a.example/i.png")),
    )


def test_speech_is_a_file_and_its_transcript_the_text() -> None:
    pieces = [base64.b64encode(piece).decode() for piece in (b"\0\1", b"\2\3")]

    found = decode(
        chunk({"audio": {"id": "au1", "transcript": "Hel"}}),
        chunk({"audio": {"transcript": "lo", "data": pieces[0]}}),
        chunk({"audio": {"data": pieces[1], "expires_at": 1}}),
    )

    assert found.content == (
        Text(text="Hello"),
        File(media_type="audio/pcm", data=FileData(data="AAECAw=="), provider_metadata=own(audio_id="au1")),
    )


def test_speech_shows_its_type_and_needs_no_id() -> None:
    wav = base64.b64encode(b"RIFF\0\0\0\0WAVEfmt ").decode()

    assert decode(chunk({"audio": {"data": wav}})).content == (File(media_type="audio/wav", data=FileData(data=wav)),)


def test_speech_that_is_no_base64_is_a_failure() -> None:
    with pytest.raises(TypeValidationError, match="not base64"):
        decode(chunk({"audio": {"data": "a"}}))


def test_citations_are_sources_and_other_annotations_are_kept() -> None:
    annotations: list[JsonValue] = [
        {
            "type": "url_citation",
            "url_citation": {"url": "https://a.example", "title": "A", "start_index": 0, "end_index": 5},
        },
        {"type": "url_citation", "url_citation": {"url": "https://b.example"}},
        {"type": "file", "file": {"name": "x.pdf"}},
    ]

    found = decode(said("a"), chunk({"annotations": annotations}))

    assert found.content[1:] == (
        URLSource(id="source-1", url="https://a.example", title="A", provider_metadata=own(start_index=0, end_index=5)),
        URLSource(id="source-2", url="https://b.example"),
    )
    assert found.provider_metadata == own(annotations=[annotations[2]])


def test_pages_that_come_with_every_chunk_are_told_once_with_their_titles() -> None:
    cited: JsonObject = {"citations": ["https://a.example", "https://b.example", 5]}
    results: JsonObject = {"search_results": [{"url": "https://b.example", "title": "B"}]}

    found = decode(
        chunk({"content": "a"}, None, **cited), chunk({"content": "b"}, None, **cited), chunk({}, None, **results)
    )

    assert found.content[1:] == (
        URLSource(id="source-1", url="https://a.example"),
        URLSource(id="source-2", url="https://b.example", title="B"),
    )
    assert decode(chunk({"content": "a"}, citations=None)).content == (Text(text="a"),)


def test_tools_that_the_server_ran_are_calls_with_results_of_its_own() -> None:
    begun: JsonObject = {"index": 0, "type": "search", "arguments": '{"q":1}'}
    ended: JsonObject = {**begun, "output": "found", "search_results": {"results": []}}

    found = decode(
        chunk({"executed_tools": [begun]}),
        chunk({"executed_tools": [ended]}),
        chunk({"executed_tools": [ended, {"type": "visit"}]}),
        said("ok"),
    )

    assert found.content == (
        ToolCall(tool_call_id="made-1", tool_name="search", input='{"q":1}', provider_executed=True, dynamic=True),
        ToolResult(
            tool_call_id="made-1",
            tool_name="search",
            result={"output": "found", "search_results": {"results": []}},
            dynamic=True,
        ),
        ToolCall(tool_call_id="made-2", tool_name="visit", input="{}", provider_executed=True, dynamic=True),
        Text(text="ok"),
    )
    assert found.finish_reason.unified == "stop"


def test_the_facts_of_the_server_are_kept_as_metadata() -> None:
    def with_logprobs(token: str) -> JsonObject:
        probabilities: JsonObject = {"content": [{"token": token}], "refusal": None}
        return {
            **chunk(),
            "choices": [{"delta": {"content": token}, "logprobs": probabilities, "stop_reason": 7, "mood": 1}],
        }

    found = decode(
        with_logprobs("a"),
        {**with_logprobs("b"), "service_tier": "flex", "system_fingerprint": None},
        {**chunk(), "choices": [{"delta": {}, "logprobs": {"refusal": [{"token": "c"}]}}]},
    )

    assert found.provider_metadata == own(
        service_tier="flex", stop_reason=7, logprobs=[{"token": "a"}, {"token": "b"}], refusal_logprobs=[{"token": "c"}]
    )


@pytest.mark.parametrize(
    ("created", "moment"),
    [
        (1_760_000_000_000, datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)),
        (0, None),
        (10**18, None),
        (10**30, None),
        ("soon", None),
    ],
)
def test_a_time_is_read_if_it_is_one(created: JsonValue, moment: datetime | None) -> None:
    response = decode({**said("a"), "created": created}).response

    assert response is not None
    assert response.timestamp == moment


def test_usage_may_be_told_by_a_choice() -> None:
    told: JsonObject = {"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3}}]}

    found = decode(said("a"), told, {"choices": [{"delta": {}, "usage": None}]})

    assert found.usage.input_tokens.total == 3
