"""A whole answer: the same as the stream of it, and a clear error for what is none."""

import pytest

from onion.errors import StreamProviderError, TypeValidationError
from onion.providers._chat import to_result
from onion.spec.base import JsonObject, JsonValue
from onion.spec.content import Reasoning, Text, ToolCall
from onion.spec.usage import InputTokens
from tests.providers.chat.decoding import NAME, called, chunk, decode, fragment

MESSAGE: JsonObject = {
    "role": "assistant",
    "content": "Let me see.",
    "reasoning_content": "hm",
    "tool_calls": [fragment('{"x":1}', "f", id="a"), fragment("", "g", id="b")],
}
COMPLETION: JsonObject = {
    "id": "cc-1",
    "model": "m-1",
    "created": 1_760_000_000,
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    "service_tier": "default",
}


def test_everything_is_found_in_the_result() -> None:
    result = to_result(COMPLETION, name=NAME)

    assert result.content == (
        Reasoning(text="hm", provider_metadata={NAME: {"reasoning_field": "reasoning_content"}}),
        Text(text="Let me see."),
        ToolCall(tool_call_id="a", tool_name="f", input='{"x":1}'),
        ToolCall(tool_call_id="b", tool_name="g", input="{}"),
    )
    assert (result.finish_reason.unified, result.finish_reason.raw) == ("tool-calls", "tool_calls")
    assert result.usage.input_tokens == InputTokens(total=3)
    assert result.provider_metadata == {NAME: {"service_tier": "default"}}
    assert result.response is not None
    assert (result.response.id, result.response.model_id, result.response.body) == ("cc-1", "m-1", COMPLETION)


def test_the_stream_of_an_answer_collects_to_the_same_content() -> None:
    whole = to_result(COMPLETION, name=NAME)

    streamed = decode(
        chunk({"reasoning_content": "h"}),
        chunk({"reasoning_content": "m"}),
        chunk({"content": "Let me "}),
        chunk({"content": "see."}),
        called(fragment('{"x"', "f", index=0, id="a")),
        called(fragment(":1}", index=0), fragment("", "g", index=1, id="b")),
        chunk({}, "tool_calls", usage={"prompt_tokens": 3, "completion_tokens": 2}, service_tier="default"),
    )

    assert streamed.content == whole.content
    assert streamed.finish_reason == whole.finish_reason
    assert streamed.usage == whole.usage
    assert streamed.provider_metadata == whole.provider_metadata


def test_details_of_a_whole_answer_are_not_put_together() -> None:
    details: list[JsonValue] = [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.text", "text": "b"}]
    body: JsonObject = {"choices": [{"message": {"content": None, "reasoning_details": details}}]}

    assert to_result(body, name=NAME).content == (
        Reasoning(text="ab", provider_metadata={NAME: {"reasoning_details": details}}),
    )


def test_an_empty_answer_is_an_answer() -> None:
    result = to_result({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}, name=NAME)

    assert (result.content, result.finish_reason.unified) == ((), "stop")
    assert result.response is not None
    assert result.response.id is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (None, "None"),
        ("<html>", "'<html>'"),
        ([1], r"\[1\]"),
        ({}, "an object with no members"),
        ({"choices": []}, "an object with choices"),
        ({"object": "list", "data": []}, "an object with object, data"),
    ],
)
def test_what_is_no_completion_is_an_error_that_shows_it(body: JsonValue, said: str) -> None:
    with pytest.raises(TypeValidationError, match=f"no chat completion but {said}: check base_url"):
        to_result(body, name=NAME)


def test_a_failure_in_place_of_an_answer_is_raised() -> None:
    with pytest.raises(StreamProviderError, match="busy"):
        to_result({"error": {"message": "busy", "code": 503}}, name=NAME)


def test_a_failure_beside_an_answer_is_raised() -> None:
    with pytest.raises(StreamProviderError, match="limit"):
        to_result({**COMPLETION, "error": {"message": "limit"}}, name=NAME)
