"""What the assistant said goes back exactly as it came; what another provider said is left out with a warning."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from onion.errors import UnsupportedFunctionalityError
from onion.providers._json import objects_in
from onion.providers.anthropic import tools
from onion.providers.anthropic.request import to_request
from onion.spec.call import CallOptions
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FileData,
    FilePart,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import UnsupportedWarning
from tests.providers.anthropic.bodies import HELLO, NEWEST, messages_of, request, text

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import AssistantPart, ToolResultOutput

CALL: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
TOOLS = CallOptions(prompt=(), tools=(tools.web_search(name="look_up"), tools.tool_search(name="find")))


def blocks(*parts: AssistantPart, params: CallOptions = HELLO) -> tuple[JsonValue, tuple[str, ...]]:
    """The blocks that go back, and the features that warnings name."""
    sent = request(params.replace(prompt=(*HELLO.prompt, AssistantMessage(content=parts), *HELLO.prompt)))
    messages = objects_in(sent.body, "messages")
    features = tuple(warning.feature for warning in sent.warnings if isinstance(warning, UnsupportedWarning))
    return (messages[1]["content"] if len(messages) == 3 else None), features


def own(**options: JsonValue) -> dict[str, JsonObject]:
    return {"anthropic": options}


def outcome(output: ToolResultOutput) -> JsonValue:
    """The result block of a tool of the caller's."""
    part = ToolResultPart(tool_call_id="c", tool_name="t", output=output)
    return objects_in(messages_of(ToolMessage(content=(part,)))[0], "content")[0]


def test_thinking_text_and_calls_keep_their_order_and_their_strings() -> None:
    said, warned = blocks(
        ReasoningPart(text="R1  ", provider_options=own(signature="s1")),
        TextPart(text="T1"),
        ReasoningPart(text="", provider_options=own(redactedData="RD==")),
        ReasoningPart(text="", provider_options=own(signature="s2")),
        ToolCallPart(tool_call_id="k", tool_name="t", input={"a": 1}, provider_options=own(caller={"type": "c"})),
    )

    assert said == [
        {"type": "thinking", "thinking": "R1  ", "signature": "s1"},
        text("T1"),
        {"type": "redacted_thinking", "data": "RD=="},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        {"type": "tool_use", "id": "k", "name": "t", "input": {"a": 1}, "caller": {"type": "c"}},
    ]
    assert warned == ()


def test_reasoning_of_another_provider_is_left_out_with_a_warning() -> None:
    foreign = ReasoningPart(text="so", provider_options={"openai": {"itemId": "r"}})

    said, warned = blocks(foreign, foreign, ReasoningPart(text="", provider_options=None), TextPart(text="x"))

    assert said == [text("x")]
    assert warned == ("reasoning that another provider wrote",)


def test_reasoning_stays_at_home_if_asked_to() -> None:
    params = HELLO.replace(provider_options={"anthropic": {"sendReasoning": False}})

    said, warned = blocks(
        ReasoningPart(text="R", provider_options=own(signature="s")), TextPart(text="x"), params=params
    )

    assert (said, warned) == ([text("x")], ())


def test_citations_go_back() -> None:
    said, _ = blocks(TextPart(text="x", provider_options=own(citations=[{"type": "char_location"}])))

    assert said == [text("x", citations=[{"type": "char_location"}])]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('{"q": ,', {"INVALID_JSON": '{"q": ,'}),
        ("[1]", {"INVALID_JSON": "[1]"}),
        (" ", {}),
        (None, {}),
        ([1], {"value": [1]}),
    ],
)
def test_the_input_of_a_call_is_an_object(given: JsonValue, sent: JsonObject) -> None:
    said, _ = blocks(ToolCallPart(tool_call_id="k", tool_name="t", input=given))

    assert said == [{"type": "tool_use", "id": "k", "name": "t", "input": sent}]


def test_calls_and_results_of_the_server_go_back_as_they_came() -> None:
    said, warned = blocks(
        ToolCallPart(
            tool_call_id="m1",
            tool_name="echo",
            input={"a": 1},
            provider_executed=True,
            provider_options=own(type="mcp_tool_use", name="echo", server_name="s"),
        ),
        ToolResultPart(
            tool_call_id="m1",
            tool_name="echo",
            output=JsonOutput(value=[text("x")]),
            provider_options=own(type="mcp_tool_result", is_error=False),
        ),
    )

    assert said == [
        {"type": "mcp_tool_use", "id": "m1", "name": "echo", "input": {"a": 1}, "server_name": "s"},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "content": [text("x")], "is_error": False},
    ]
    assert warned == ()


def test_calls_of_the_server_are_known_by_their_ids_too_and_go_by_the_names_of_the_api() -> None:
    failed: JsonObject = {"type": "tool_search_tool_result_error", "error_code": "unavailable"}

    said, _ = blocks(
        ToolCallPart(tool_call_id="srvtoolu_1", tool_name="look_up", input={"query": "q"}, provider_executed=True),
        ToolResultPart(tool_call_id="srvtoolu_1", tool_name="look_up", output=JsonOutput(value=[])),
        ToolResultPart(tool_call_id="srvtoolu_2", tool_name="find", output=ErrorJsonOutput(value=failed)),
        ToolResultPart(tool_call_id="srvtoolu_3", tool_name="find", output=ContentOutput(value=())),
        params=TOOLS,
    )

    assert said == [
        CALL,
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_2", "content": failed},
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_3", "content": []},
    ]


def test_histories_that_the_ai_sdk_wrote_are_taken_too() -> None:
    page: JsonObject = {"type": "web_search_result", "url": "u", "encryptedContent": "E", "pageAge": None}
    ran: JsonObject = {"type": "bash_code_execution_result", "stdout": ""}
    bash: JsonObject = {"type": "bash_code_execution", "command": "ls"}
    search: JsonObject = {"type": "code", "code": "x"}

    said, _ = blocks(
        ToolCallPart(tool_call_id="srvtoolu_1", tool_name="code_execution", input=bash, provider_executed=True),
        ToolResultPart(tool_call_id="srvtoolu_1", tool_name="code_execution", output=JsonOutput(value=ran)),
        ToolResultPart(tool_call_id="srvtoolu_2", tool_name="web_search", output=JsonOutput(value=[page])),
        ToolCallPart(tool_call_id="srvtoolu_3", tool_name="code_execution", input=search, provider_executed=True),
        ToolCallPart(
            tool_call_id="mcptoolu_1",
            tool_name="echo",
            input={},
            provider_executed=True,
            provider_options=own(type="mcp-tool-use", serverName="s"),
        ),
        ToolResultPart(tool_call_id="mcptoolu_1", tool_name="echo", output=JsonOutput(value=[])),
    )

    found: JsonObject = {"type": "web_search_result", "url": "u", "encrypted_content": "E", "page_age": None}
    assert said == [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "bash_code_execution", "input": {"command": "ls"}},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": ran},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2", "content": [found]},
        {"type": "server_tool_use", "id": "srvtoolu_3", "name": "code_execution", "input": search},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "input": {}, "server_name": "s"},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []},
    ]


def test_blocks_that_nobody_knows_go_back_whole_and_containers_are_no_content() -> None:
    compaction: JsonObject = {"type": "compaction", "content": "so far", "unknownMember": 1}

    said, warned = blocks(
        CustomPart(kind="anthropic.compaction", provider_options=own(block=compaction)),
        CustomPart(kind="anthropic.container", provider_options=own(container={"id": "c"})),
        ToolApprovalRequestPart(approval_id="a", tool_call_id="b"),
    )

    assert (said, warned) == ([compaction], ())


def test_what_another_provider_made_is_left_out_with_a_warning() -> None:
    data = FileData(data=b"x")

    said, warned = blocks(
        ToolCallPart(tool_call_id="ws_1", tool_name="web_search", input={}, provider_executed=True),
        ToolResultPart(tool_call_id="ws_1", tool_name="web_search", output=TextOutput(value="x")),
        CustomPart(kind="openai.compaction"),
        FilePart(media_type="image/png", data=data),
        ReasoningFilePart(media_type="image/png", data=data),
        TextPart(text="x"),
    )

    assert said == [text("x")]
    assert warned == (
        "provider-executed tool calls of the assistant",
        "provider-executed tool results of the assistant",
        "custom parts of the assistant",
        "file parts of the assistant",
        "reasoning-file parts of the assistant",
    )


# --- outcomes of the caller's tools --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "content", "is_error"),
    [
        (TextOutput(value="ok"), "ok", None),
        (JsonOutput(value=None), "null", None),
        (JsonOutput(value=[]), "[]", None),
        (ErrorTextOutput(value="TimeoutError"), "TimeoutError", True),
        (ErrorJsonOutput(value={"a": 1}), '{"a":1}', True),
        (ExecutionDenied(reason="no"), "no", None),
        (ContentOutput(value=(TextPart(text="a"), TextPart(text=" "))), [text("a")], None),
    ],
)
def test_an_outcome_is_a_result_block(output: ToolResultOutput, content: JsonValue, is_error: bool | None) -> None:  # noqa: FBT001 - from the table
    expected: dict[str, JsonValue] = {"type": "tool_result", "tool_use_id": "c", "content": content}

    assert outcome(output) == expected | ({"is_error": True} if is_error else {})


def test_a_denial_without_a_reason_says_what_happened() -> None:
    assert "not allowed" in str(outcome(ExecutionDenied()))


def test_files_references_and_raw_blocks_may_be_in_a_result() -> None:
    image = FilePart(
        media_type="image/png", data=FileData(data="aGk="), provider_options=own(cacheControl={"type": "e"})
    )
    found = CustomPart(kind="anthropic.tool-reference", provider_options=own(toolName="t"))
    raw = CustomPart(kind="anthropic.x", provider_options=own(block={"type": "search_result"}))

    told = outcome(ContentOutput(value=(image, found, raw)))

    assert isinstance(told, dict)
    assert told["content"] == [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
            "cache_control": {"type": "e"},
        },
        {"type": "tool_reference", "tool_name": "t"},
        {"type": "search_result"},
    ]


def test_content_of_another_provider_in_a_result_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionalityError, match=r"openai\.x"):
        outcome(ContentOutput(value=(CustomPart(kind="openai.x"),)))


# --- the container -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("container", "sent"),
    [
        ({"id": "c1", "expires_at": "2030-01-01T00:00:00Z"}, "c1"),
        ({"id": "c1", "expires_at": "2020-01-01T00:00:00Z"}, None),
        ({"id": "c1", "expires_at": "soon"}, "c1"),
        ({"id": "c1", "expires_at": "2020-01-01T00:00:00"}, "c1"),
        ({}, None),
    ],
)
def test_the_container_goes_back_until_it_expires(container: JsonObject, sent: str | None) -> None:
    kept = CustomPart(kind="anthropic.container", provider_options=own(container=container))
    older = CustomPart(kind="anthropic.container", provider_options=own(container={"id": "c0"}))
    said = AssistantMessage(content=(kept, TextPart(text="x")))
    prompt = (AssistantMessage(content=(older,)), said, UserMessage(content=(TextPart(text="go on"),)))
    params = CallOptions(prompt=prompt, tools=(tools.code_execution(),))

    wanted = to_request("claude-x", params, NEWEST, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))

    assert wanted.body.get("container") == sent
    assert "container" not in request(params.replace(tools=None)).body
    assert "container" not in request(HELLO.replace(tools=params.tools)).body


def test_the_container_that_goes_back_keeps_the_skills_that_are_asked_for() -> None:
    kept = CustomPart(kind="anthropic.container", provider_options=own(container={"id": "c1"}))
    skills: JsonObject = {"skills": [{"type": "anthropic", "skillId": "pptx"}]}
    params = HELLO.replace(
        prompt=(AssistantMessage(content=(kept, TextPart(text="x"))), *HELLO.prompt),
        tools=(tools.code_execution(),),
        provider_options=own(container=skills),
    )

    asked = {"skills": [{"type": "anthropic", "skill_id": "pptx"}]}
    assert request(params).body["container"] == {"id": "c1", **asked}
    assert request(params.replace(prompt=HELLO.prompt)).body["container"] == asked
