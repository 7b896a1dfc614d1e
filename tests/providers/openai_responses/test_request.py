"""Settings, tools, format and options of a call as the body of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers.openai_responses import OPENAI, ResponsesDialect, tools
from onion.providers.openai_responses.request import to_request
from onion.spec.call import FunctionTool, JsonFormat, ProviderTool, TextFormat, ToolChoice, ToolInputExample
from onion.spec.prompt import (
    AssistantMessage,
    CustomPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CompatibilityWarning, UnsupportedWarning
from tests.providers.openai_responses.bodies import HELLO

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions, ReasoningEffort

PLAIN = ResponsesDialect(name="openai")
CLOSED: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
ASKED: JsonValue = [{"role": "user", "content": "Say hello."}]
ANSWER = AssistantMessage(content=(TextPart(text="Hi.", provider_options={"openai": {"itemId": "msg_1"}}),))


def body_of(params: CallOptions, model_id: str = "m-1", dialect: ResponsesDialect = PLAIN) -> dict[str, JsonValue]:
    """The body without model and input."""
    body = to_request(model_id, params, dialect).body
    return {key: found for key, found in body.items() if key not in ("model", "input")}


def with_options(**options: JsonValue) -> CallOptions:
    """A call with provider options."""
    return HELLO.replace(provider_options={"openai": options})


def features(params: CallOptions, model_id: str = "m-1", dialect: ResponsesDialect = PLAIN) -> list[str]:
    """What the request warns of."""
    warnings = to_request(model_id, params, dialect).warnings
    return [found.feature for found in warnings if isinstance(found, UnsupportedWarning | CompatibilityWarning)]


def test_a_call_without_settings_says_nothing_but_model_and_input() -> None:
    request = to_request("m-1", HELLO, PLAIN)

    assert request.body == {"model": "m-1", "input": ASKED}
    assert (request.path, request.warnings) == ("/responses", ())


def test_settings_have_the_names_of_the_api() -> None:
    params = HELLO.replace(max_output_tokens=9, temperature=0.5, top_p=0.9, reasoning="low")

    assert body_of(params) == {
        "max_output_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "reasoning": {"effort": "low"},
    }


def test_a_stream_is_asked_for() -> None:
    assert to_request("m-1", HELLO, PLAIN, is_stream=True).body["stream"] is True


def test_settings_that_the_api_does_not_have_are_warned_of() -> None:
    params = HELLO.replace(top_k=1, seed=0, presence_penalty=0.1, frequency_penalty=0.1, stop_sequences=("x",))

    assert body_of(params) == {}
    assert features(params) == ["top_k", "presence_penalty", "frequency_penalty", "seed", "stop_sequences"]


@pytest.mark.parametrize(
    ("model_id", "reasoning", "sent"),
    [
        ("gpt-4o", None, {"temperature"}),
        ("gpt-4o", "high", {"temperature"}),
        ("gpt-5-mini", None, {"include"}),
        ("gpt-5.2", "none", {"temperature", "reasoning", "include"}),
        ("gpt-5.2", "low", {"reasoning", "include"}),
        ("a-model-of-tomorrow", None, {"include"}),
    ],
)
def test_what_a_model_refuses_is_not_sent(model_id: str, reasoning: ReasoningEffort | None, sent: set[str]) -> None:
    params = HELLO.replace(temperature=0.5, reasoning=reasoning)

    assert set(body_of(params, model_id, OPENAI)) == sent
    assert len(features(params, model_id, OPENAI)) == int("temperature" not in sent) + (reasoning == "high")


@pytest.mark.parametrize(
    ("model_id", "wanted", "sent"),
    [
        ("gpt-5", "none", "minimal"),
        ("o3", "xhigh", "high"),
        ("gpt-5-pro", "low", "high"),
        ("gpt-5.4", "xhigh", "xhigh"),
        ("gpt-5.4", "minimal", "low"),
        ("a-model-of-tomorrow", "minimal", "low"),
        ("gpt-5.1", "xhigh", "high"),
        ("gpt-5.1-codex", "none", "low"),
        ("gpt-5.1-codex-mini", "low", "medium"),
        ("gpt-5.1-codex-max", "xhigh", "xhigh"),
        ("gpt-5.3-codex", "none", "low"),
        ("gpt-5.2-chat-latest", "high", "medium"),
        ("gpt-5.4-pro", "low", "medium"),
    ],
)
def test_a_level_that_a_model_lacks_becomes_the_nearest(model_id: str, wanted: ReasoningEffort, sent: str) -> None:
    params = HELLO.replace(reasoning=wanted)

    assert body_of(params, model_id, OPENAI)["reasoning"] == {"effort": sent}
    assert features(params, model_id, OPENAI) == ([] if wanted == sent else ["reasoning"])


def test_options_go_into_the_body_as_they_are_and_have_the_last_word() -> None:
    params = with_options(
        previousResponseId="resp_0",
        parallel_tool_calls=False,
        store=False,
        metadata={"a": "b"},
        service_tier="flex",
        temperature=1,
        max_output_tokens=None,
        text={"extra": 1},
        text_verbosity="low",
        reasoning_effort="high",
        reasoningSummary="auto",
    )

    assert body_of(params.replace(temperature=0.1, max_output_tokens=5)) == {
        "previous_response_id": "resp_0",
        "parallel_tool_calls": False,
        "store": False,
        "metadata": {"a": "b"},
        "service_tier": "flex",
        "temperature": 1,
        "text": {"verbosity": "low", "extra": 1},
        "reasoning": {"effort": "high", "summary": "auto"},
    }


def test_effort_among_the_options_counts_for_what_a_model_refuses() -> None:
    params = with_options(reasoning={"effort": "none"}).replace(temperature=0.5)

    assert body_of(params, "gpt-5.2", OPENAI)["temperature"] == 0.5


@pytest.mark.parametrize(
    ("options", "included"),
    [
        ({}, ["reasoning.encrypted_content"]),
        (
            {"include": ["file_search_call.results", "reasoning.encrypted_content"]},
            ["file_search_call.results", "reasoning.encrypted_content"],
        ),
        ({"logprobs": 2}, ["reasoning.encrypted_content", "message.output_text.logprobs"]),
        ({"top_logprobs": 2}, ["reasoning.encrypted_content", "message.output_text.logprobs"]),
    ],
)
def test_what_the_api_leaves_out_unasked_is_asked_for(options: JsonObject, included: list[str]) -> None:
    assert body_of(with_options(**options), "gpt-5", OPENAI)["include"] == included


def test_log_probabilities_are_asked_for_by_their_number() -> None:
    body = body_of(with_options(logprobs=2))

    assert (body["top_logprobs"], body["include"]) == (2, ["message.output_text.logprobs"])
    assert body_of(with_options(logprobs=True)) == {}


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        (TextFormat(), None),
        (JsonFormat(), {"type": "json_object"}),
        (
            JsonFormat(schema=CLOSED, name="n", description="d"),
            {"type": "json_schema", "name": "n", "schema": CLOSED, "strict": True, "description": "d"},
        ),
        (
            JsonFormat(schema={"type": "object"}),
            {"type": "json_schema", "name": "response", "schema": {"type": "object"}, "strict": False},
        ),
    ],
    ids=["text", "json", "schema", "loose schema"],
)
def test_a_format_is_a_member_of_text(wanted: TextFormat | JsonFormat, sent: JsonValue) -> None:
    text = body_of(HELLO.replace(response_format=wanted)).get("text")

    assert text == (None if sent is None else {"format": sent})


def test_strictness_of_a_schema_can_be_chosen() -> None:
    params = with_options(strict_json_schema=False).replace(response_format=JsonFormat(schema=CLOSED))

    text = body_of(params)["text"]
    assert isinstance(text, dict)
    assert text["format"] == {"type": "json_schema", "name": "response", "schema": CLOSED, "strict": False}


def test_functions_say_whether_they_are_strict() -> None:
    params = HELLO.replace(
        tools=(
            FunctionTool(name="a", input_schema=CLOSED, description="d"),
            FunctionTool(name="b", input_schema={}, strict=True, provider_options={"openai": {"defer_loading": True}}),
            FunctionTool(name="c", input_schema={"type": "object"}, input_examples=(ToolInputExample(input={}),)),
        )
    )

    assert body_of(params)["tools"] == [
        {"type": "function", "name": "a", "description": "d", "parameters": CLOSED, "strict": True},
        {"type": "function", "name": "b", "parameters": {}, "strict": True, "defer_loading": True},
        {"type": "function", "name": "c", "parameters": {"type": "object"}, "strict": False},
    ]
    assert features(params) == ["input examples of tool c"]


def test_tools_of_the_api_are_declared_by_their_type() -> None:
    params = HELLO.replace(
        tools=(
            tools.web_search(name="look"),
            tools.code_interpreter(),
            tools.computer_use(display_width=1, display_height=2, environment="browser"),
            tools.custom(name="sql", description="d"),
            ProviderTool(id="anthropic.bash_20250124", name="bash", args={}),
        )
    )
    body = body_of(params)

    assert body["tools"] == [
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "computer_use_preview", "display_width": 1, "display_height": 2, "environment": "browser"},
        {"type": "custom", "name": "sql", "description": "d"},
    ]
    assert body["include"] == ["web_search_call.action.sources", "code_interpreter_call.outputs"]
    assert features(params) == ["provider tool anthropic.bash_20250124"]


def test_without_tools_no_choice_is_sent() -> None:
    assert body_of(HELLO.replace(tools=(), tool_choice=ToolChoice(type="none"))) == {}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (None, None),
        (ToolChoice(type="required"), "required"),
        (ToolChoice(type="tool", tool_name="f"), {"type": "function", "name": "f"}),
        (ToolChoice(type="tool", tool_name="look"), {"type": "web_search"}),
        (ToolChoice(type="tool", tool_name="sql"), {"type": "custom", "name": "sql"}),
        (ToolChoice(type="tool", tool_name="mcp"), {"type": "mcp", "server_label": "s"}),
    ],
)
def test_a_tool_is_chosen_in_the_words_of_its_kind(choice: ToolChoice | None, sent: JsonValue) -> None:
    offered = (
        FunctionTool(name="f", input_schema={}),
        tools.web_search(name="look"),
        tools.custom(name="sql"),
        tools.mcp(server_label="s"),
    )

    assert body_of(HELLO.replace(tools=offered, tool_choice=choice)).get("tool_choice") == sent


def test_what_the_server_made_can_go_back_by_its_ids() -> None:
    params = HELLO.replace(prompt=(*HELLO.prompt, ANSWER, *HELLO.prompt))
    by_id = params.replace(provider_options={"openai": {"item_references": True}})
    unstored = params.replace(provider_options={"openai": {"item_references": True, "store": False}})

    found, kept = to_request("m", by_id, PLAIN).body["input"], to_request("m", unstored, PLAIN).body["input"]
    assert isinstance(found, list)
    assert isinstance(kept, list)
    assert found[1] == {"type": "item_reference", "id": "msg_1"}
    assert kept[1] != found[1]
    assert len(found) == 3


def test_a_conversation_is_told_what_it_does_not_hold_yet() -> None:
    prompt = (SystemMessage(content="S"), *HELLO.prompt, ANSWER, UserMessage(content=(TextPart(text="more"),)))
    options = {"openai": {"conversation": "conv_1"}}
    later = to_request("m", HELLO.replace(prompt=prompt, provider_options=options), PLAIN).body
    first = to_request("m", HELLO.replace(provider_options=options), PLAIN).body

    assert later["input"] == [{"role": "user", "content": "more"}]
    assert first["input"] == ASKED
    assert later["conversation"] == "conv_1"


def test_a_conversation_is_told_the_results_of_its_last_calls_in_their_form() -> None:
    own = {"openai": {"itemId": "lsh_1", "itemType": "local_shell_call"}}
    call = ToolCallPart(tool_call_id="c1", tool_name="local_shell", input={}, provider_options=own)
    result = ToolResultPart(tool_call_id="c1", tool_name="local_shell", output=TextOutput(value="a"))
    foreign = AssistantMessage(content=(CustomPart(kind="x.y"),))
    prompt = (*HELLO.prompt, foreign, AssistantMessage(content=(call,)), ToolMessage(content=(result,)))
    params = HELLO.replace(prompt=prompt, provider_options={"openai": {"conversation": "conv_1"}})

    request = to_request("m", params, PLAIN)

    assert request.body["input"] == [{"type": "local_shell_call_output", "call_id": "c1", "output": "a"}]
    assert request.warnings == ()
