"""The body of a request: settings, provider options, output formats, and the features on trial that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers.anthropic import tools
from onion.providers.anthropic.request import to_request
from onion.providers.anthropic.traits import traits_of
from onion.spec.call import CallOptions, FunctionTool, JsonFormat, ToolChoice, ToolInputExample
from onion.spec.prompt import (
    ContentOutput,
    FilePart,
    FileReference,
    TextPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CompatibilityWarning, UnsupportedWarning
from tests.providers.anthropic.bodies import HELLO, NEWEST, request, text

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import ReasoningEffort

SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
AS_JSON = HELLO.replace(response_format=JsonFormat(schema=SCHEMA))
LOOK = FunctionTool(name="look", input_schema={"type": "object"})
WITHOUT_SCHEMA = traits_of("claude-3-7-sonnet-latest")
WITH_BUDGET = traits_of("claude-sonnet-4-5")


def body_of(params: CallOptions, model_id: str = "claude-x") -> dict[str, JsonValue]:
    """The body, as the table of models has it."""
    return dict(to_request(model_id, params, traits_of(model_id)).body)


def with_options(**options: JsonValue) -> CallOptions:
    return HELLO.replace(provider_options={"anthropic": options})


def warned(params: CallOptions, model_id: str = "claude-x") -> list[str]:
    """The features and settings that warnings name."""
    found = to_request(model_id, params, traits_of(model_id)).warnings
    return [warning.feature for warning in found if isinstance(warning, UnsupportedWarning | CompatibilityWarning)]


def betas(params: CallOptions, model_id: str = "claude-x", *, is_stream: bool = False) -> list[str]:
    headers = to_request(model_id, params, traits_of(model_id), is_stream=is_stream).headers or {}
    return headers.get("anthropic-beta", "").split(",") if headers else []


# --- settings ------------------------------------------------------------------------------------------------------


def test_the_smallest_request_has_a_limit_which_the_api_wants() -> None:
    sent = request(HELLO)

    assert sent.path == "/messages"
    assert sent.body == {
        "model": "claude-x",
        "max_tokens": 128_000,
        "messages": [{"role": "user", "content": [text("Say hello.")]}],
    }
    assert (sent.warnings, sent.headers) == ((), {})
    assert to_request("m", HELLO, NEWEST, is_stream=True).body["stream"] is True


def test_settings_are_sent_to_models_that_take_them() -> None:
    body = body_of(
        HELLO.replace(max_output_tokens=50, temperature=0.5, top_k=3, stop_sequences=("END",)), "claude-sonnet-4-5"
    )

    assert (body["max_tokens"], body["temperature"], body["top_k"], body["stop_sequences"]) == (50, 0.5, 3, ["END"])


@pytest.mark.parametrize(
    ("model_id", "limit"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("claude-3-5-sonnet-latest", 8192),
        ("claude-opus-4-1", 32_000),
        ("claude-haiku-4-5-20251001", 64_000),
        ("us.anthropic.claude-haiku-4-5", 64_000),
        ("claude-opus-4-8", 128_000),
        ("anything-else", 128_000),
    ],
)
def test_the_limit_is_that_of_the_model(model_id: str, limit: int) -> None:
    assert body_of(HELLO)["max_tokens"] == 128_000
    assert body_of(HELLO, model_id)["max_tokens"] == limit


def test_a_limit_beyond_the_model_is_lowered_where_the_model_is_known() -> None:
    params = HELLO.replace(max_output_tokens=200_000)

    assert (body_of(params)["max_tokens"], warned(params)) == (200_000, [])
    assert body_of(params, "claude-haiku-4-5")["max_tokens"] == 64_000
    assert warned(params, "claude-haiku-4-5") == ["max_output_tokens"]


def test_what_the_api_lacks_becomes_a_warning() -> None:
    params = HELLO.replace(presence_penalty=1, frequency_penalty=1, seed=1)

    assert warned(params) == ["presence_penalty", "frequency_penalty", "seed"]
    assert body_of(params) == body_of(HELLO)


def test_sampling_is_left_out_where_the_model_refuses_it() -> None:
    params = HELLO.replace(temperature=0.5, top_p=0.9, top_k=3)
    reasoning = params.replace(reasoning="low")

    assert warned(params) == ["temperature", "top_p", "top_k"]
    assert warned(params, "claude-sonnet-4-5") == ["top_p"]
    assert warned(reasoning, "claude-sonnet-4-5") == ["temperature", "top_p", "top_k"]
    assert body_of(HELLO.replace(top_p=0.9), "claude-sonnet-4-5")["top_p"] == 0.9


@pytest.mark.parametrize(("given", "sent"), [(1.5, 1), (-1, 0)])
def test_a_temperature_out_of_range_is_brought_into_it(given: float, sent: float) -> None:
    params = HELLO.replace(temperature=given)

    assert body_of(params, "claude-sonnet-4-5")["temperature"] == sent
    assert warned(params, "claude-sonnet-4-5") == ["temperature"]


# --- reasoning -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model_id", "level", "thinking", "effort"),
    [
        ("claude-x", None, None, None),
        ("claude-x", "provider-default", None, None),
        ("claude-x", "none", None, "low"),
        ("claude-opus-5", "none", {"type": "disabled"}, None),
        ("claude-haiku-5-5", "none", {"type": "disabled"}, None),
        ("claude-opus-5-5", "none", None, "low"),
        ("claude-sonnet-5-5", "none", {"type": "between_tools"}, None),
        ("claude-opus-4-8", "none", None, None),
        ("claude-x", "minimal", {"type": "adaptive"}, "low"),
        ("claude-x", "medium", {"type": "adaptive"}, "medium"),
        ("claude-x", "xhigh", {"type": "adaptive"}, "xhigh"),
        ("claude-opus-4-6", "xhigh", {"type": "adaptive"}, "max"),
        ("claude-fable-5", "none", None, "low"),
        ("claude-sonnet-4-5", "none", None, None),
        ("claude-sonnet-4-5", "minimal", {"type": "enabled", "budget_tokens": 1280}, None),
        ("claude-opus-4-1", "minimal", {"type": "enabled", "budget_tokens": 1024}, None),
        ("claude-sonnet-4-5", "high", {"type": "enabled", "budget_tokens": 38_400}, None),
        ("claude-3-5-haiku-latest", "high", None, None),
        ("claude-3-5-haiku-latest", "none", None, None),
    ],
)
def test_a_level_of_reasoning_is_said_in_the_way_of_the_model(
    model_id: str, level: ReasoningEffort | None, thinking: JsonObject | None, effort: str | None
) -> None:
    body = body_of(HELLO.replace(reasoning=level), model_id)

    assert body.get("thinking") == thinking
    assert body.get("output_config") == ({"effort": effort} if effort else None)


@pytest.mark.parametrize(
    ("model_id", "level", "features"),
    [
        ("claude-x", "high", []),
        ("claude-x", "minimal", ["reasoning"]),
        ("claude-opus-4-6", "xhigh", []),
        ("claude-fable-5", "none", ["reasoning"]),
        ("claude-3-5-haiku-latest", "high", ["reasoning"]),
        ("claude-3-5-haiku-latest", "none", []),
    ],
)
def test_a_level_that_is_sent_as_another_is_a_warning(
    model_id: str, level: ReasoningEffort, features: list[str]
) -> None:
    assert warned(HELLO.replace(reasoning=level), model_id) == features


def test_what_is_spent_on_reasoning_comes_to_the_limit_of_the_answer() -> None:
    params = HELLO.replace(reasoning="high", max_output_tokens=1000)

    assert body_of(params, "claude-sonnet-4-5")["max_tokens"] == 39_400
    assert body_of(params)["max_tokens"] == 1000


def test_provider_options_say_how_to_reason_and_win() -> None:
    enabled = with_options(thinking={"type": "enabled", "budgetTokens": 2000}, effort="max")
    unbound = with_options(thinking={"type": "enabled"})

    body = body_of(enabled.replace(reasoning="low", max_output_tokens=10))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert (body["output_config"], body["max_tokens"]) == ({"effort": "max"}, 2010)
    assert body_of(unbound)["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert warned(unbound) == ["thinking"]
    assert body_of(with_options(thinking={"type": "adaptive"}))["thinking"] == {"type": "adaptive"}


# --- provider options ----------------------------------------------------------------------------------------------


def test_provider_options_go_into_the_body_under_the_names_of_the_api() -> None:
    body = body_of(
        with_options(
            metadata={"userId": "u"},
            serviceTier="auto",
            mcpServers=[{"type": "url", "name": "s", "url": "https://s", "authorizationToken": "t"}],
            container={"id": "c", "skills": [{"type": "anthropic", "skillId": "pptx"}]},
            contextManagement={"edits": [{"type": "clear_tool_uses_20250919", "clearAtLeast": {"value": 1}}]},
            output_config={"task_budget": {"total": 5}},
            max_tokens=7,
        )
    )

    assert body["metadata"] == {"user_id": "u"}
    assert body["service_tier"] == "auto"
    assert body["mcp_servers"] == [{"type": "url", "name": "s", "url": "https://s", "authorization_token": "t"}]
    assert body["container"] == {"id": "c", "skills": [{"type": "anthropic", "skill_id": "pptx"}]}
    assert body["context_management"] == {
        "edits": [{"type": "clear_tool_uses_20250919", "clear_at_least": {"value": 1}}]
    }
    assert body["output_config"] == {"task_budget": {"total": 5}}
    assert body["max_tokens"] == 7


def test_provider_options_are_the_last_word() -> None:
    assert body_of(with_options(container={"id": "c"}))["container"] == "c"
    assert "max_tokens" not in body_of(with_options(max_tokens=None))
    both = with_options(output_config={"task_budget": {"total": 5}}).replace(reasoning="high")
    assert body_of(both)["output_config"] == {"effort": "high", "task_budget": {"total": 5}}
    other = HELLO.replace(provider_options={"openai": {"user": "u"}, "onion": {"x": 1}})
    assert body_of(other) == body_of(HELLO)


# --- output formats ------------------------------------------------------------------------------------------------


def test_a_schema_is_an_output_format_where_the_model_knows_that() -> None:
    sent = request(AS_JSON.replace(tools=(LOOK,), reasoning="low"))

    fitted = {**SCHEMA, "additionalProperties": False}
    assert sent.body["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": fitted}}
    assert sent.body["tools"] == [{"name": "look", "input_schema": {"type": "object"}}]
    assert "tools" not in request(AS_JSON).body


def test_a_schema_is_a_tool_that_must_be_called_where_the_model_knows_no_output_format() -> None:
    alone = request(AS_JSON, traits=WITHOUT_SCHEMA).body
    described = AS_JSON.replace(response_format=JsonFormat(schema=SCHEMA, description="A count."), tools=(LOOK,))
    beside = request(described, traits=WITHOUT_SCHEMA).body

    assert alone["tool_choice"] == {"type": "tool", "name": "json", "disable_parallel_tool_use": True}
    assert beside["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    assert isinstance(beside["tools"], list)
    assert beside["tools"][1] == {"name": "json", "description": "A count.", "input_schema": SCHEMA}
    assert "output_config" not in alone


def test_a_model_that_reasons_cannot_be_made_to_call() -> None:
    sent = request(AS_JSON.replace(reasoning="low"), traits=WITHOUT_SCHEMA)

    assert sent.body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert [warning.type for warning in sent.warnings] == ["compatibility"]


def test_the_way_to_a_schema_can_be_chosen() -> None:
    as_tool = AS_JSON.replace(provider_options={"anthropic": {"structuredOutputMode": "jsonTool"}})
    as_format = AS_JSON.replace(provider_options={"anthropic": {"structuredOutputMode": "outputFormat"}})

    assert "tools" in request(as_tool).body
    assert "output_config" in request(as_format, traits=WITHOUT_SCHEMA).body


def test_json_without_a_schema_is_a_matter_of_the_prompt() -> None:
    params = HELLO.replace(response_format=JsonFormat(), tools=(LOOK,))

    assert warned(params) == ["response_format"]
    assert body_of(params) == body_of(params.replace(response_format=None))


# --- features on trial ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "found"),
    [
        (
            HELLO.replace(tools=(tools.web_fetch(), tools.memory())),
            ["web-fetch-2025-09-10", "context-management-2025-06-27"],
        ),
        (HELLO.replace(tools=(tools.web_search(), LOOK)), []),
        (with_options(mcpServers=[{"name": "s"}]), ["mcp-client-2025-04-04"]),
        (
            with_options(mcpServers=[{"name": "s"}]).replace(tools=(tools.mcp_toolset(server_name="s"),)),
            ["mcp-client-2025-11-20"],
        ),
        (
            with_options(
                contextManagement={"edits": [{"type": "compact_20260112"}, {"type": "clear_thinking_20251015"}]}
            ),
            ["compact-2026-01-12", "context-management-2025-06-27"],
        ),
        (
            with_options(container={"skills": [{"skillId": "x"}]}),
            ["code-execution-2025-08-25", "skills-2025-10-02", "files-api-2025-04-14"],
        ),
        (with_options(speed="fast"), ["fast-mode-2026-02-01"]),
        (with_options(anthropicBeta=["a", "b"]), ["a", "b"]),
        (with_options(anthropic_beta="a"), ["a"]),
        (with_options(anthropic_beta=1), []),
        (
            HELLO.replace(
                tools=(FunctionTool(name="t", input_schema={}, input_examples=(ToolInputExample(input={}),)),)
            ),
            ["advanced-tool-use-2025-11-20"],
        ),
    ],
)
def test_features_on_trial_are_named(params: CallOptions, found: list[str]) -> None:
    assert betas(params) == found


def test_files_that_were_uploaded_are_on_trial_wherever_they_are() -> None:
    file = FilePart(media_type="application/pdf", data=FileReference(reference="file_1"))
    in_result = ToolResultPart(tool_call_id="c", tool_name="t", output=ContentOutput(value=(TextPart(text="a"), file)))

    for message in (UserMessage(content=(file,)), ToolMessage(content=(in_result,))):
        assert betas(CallOptions(prompt=(message,))) == ["files-api-2025-04-14"]


def test_effort_and_streamed_inputs_are_on_trial_for_some() -> None:
    assert betas(with_options(effort="low"), "claude-opus-4-5") == ["effort-2025-11-24"]
    assert betas(with_options(effort="low")) == []
    streamed = with_options(toolStreaming=True)
    assert betas(streamed, is_stream=True) == ["fine-grained-tool-streaming-2025-05-14"]
    assert betas(streamed) == []


# --- choice of tools -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "is_alone", "sent"),
    [
        (None, False, None),
        (None, True, {"type": "auto", "disable_parallel_tool_use": True}),
        (ToolChoice(type="auto"), False, {"type": "auto"}),
        (ToolChoice(type="required"), True, {"type": "any", "disable_parallel_tool_use": True}),
        (ToolChoice(type="none"), True, {"type": "none"}),
        (ToolChoice(type="tool", tool_name="look"), False, {"type": "tool", "name": "look"}),
        (ToolChoice(type="tool", tool_name="shell"), False, {"type": "tool", "name": "bash"}),
        (ToolChoice(type="tool"), False, {"type": "tool", "name": "_"}),
    ],
)
def test_the_choice_of_tools_is_sent(choice: ToolChoice | None, sent: JsonObject | None, *, is_alone: bool) -> None:
    params = with_options(disableParallelToolUse=is_alone).replace(
        tools=(LOOK, tools.bash(name="shell")), tool_choice=choice
    )

    assert body_of(params, "claude-opus-4-8").get("tool_choice") == sent
    assert "tool_choice" not in body_of(params.replace(tools=None))


@pytest.mark.parametrize(("model_id", "level"), [("claude-opus-5-5", None), ("claude-sonnet-4-5", "low")])
def test_a_model_that_always_reasons_or_does_now_cannot_be_made_to_call(
    model_id: str, level: ReasoningEffort | None
) -> None:
    params = HELLO.replace(tools=(LOOK,), tool_choice=ToolChoice(type="required"), reasoning=level)

    assert body_of(params, model_id)["tool_choice"] == {"type": "auto"}
    assert warned(params, model_id) == ["tool_choice"]
