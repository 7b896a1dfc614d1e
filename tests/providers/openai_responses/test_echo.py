"""Assistant messages on their way back: items as they came, in their order, and reasoning with what followed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers.openai_responses import ResponsesDialect
from onion.providers.openai_responses.request import to_request
from onion.spec.call import CallOptions
from onion.spec.prompt import (
    AssistantMessage,
    CustomPart,
    FileData,
    FilePart,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
    ToolResultPart,
)
from onion.spec.usage import UnsupportedWarning

if TYPE_CHECKING:
    from onion.spec.base import JsonValue, ProviderOptions
    from onion.spec.prompt import AssistantPart

PLAIN = ResponsesDialect(name="openai")


def own(**members: JsonValue) -> ProviderOptions:
    """What our metadata says."""
    return {"openai": members}


def text(said: str, **members: JsonValue) -> TextPart:
    """Text that the server made."""
    return TextPart(text=said, provider_options=own(**members))


def thought(said: str = "", **members: JsonValue) -> ReasoningPart:
    """Reasoning that the server made."""
    return ReasoningPart(text=said, provider_options=own(**members))


def call(**members: JsonValue) -> ToolCallPart:
    """A call that the server made."""
    return ToolCallPart(tool_call_id="c1", tool_name="t", input={}, provider_options=own(**members))


def sent(*parts: AssistantPart, is_stored: bool = True) -> tuple[list[JsonValue], list[str]]:
    """The items for a message, and what the request warns of."""
    options = {"openai": {} if is_stored else {"store": False}}
    params = CallOptions(prompt=(AssistantMessage(content=parts),), provider_options=options)
    request = to_request("m", params, PLAIN)
    items = request.body["input"]
    assert isinstance(items, list)
    return items, [found.feature for found in request.warnings if isinstance(found, UnsupportedWarning)]


MESSAGE: dict[str, JsonValue] = {
    "type": "message",
    "role": "assistant",
    "id": "msg_1",
    "status": "completed",
    "content": [{"type": "output_text", "text": "a", "annotations": []}],
}


def test_text_of_the_users_own_is_a_short_message_and_blank_text_none() -> None:
    assert sent(TextPart(text="a"), TextPart(text=" "), TextPart(text="b")) == (
        [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}],
        [],
    )


def test_texts_of_one_item_are_one_message_and_others_are_their_own() -> None:
    cited: list[JsonValue] = [{"type": "url_citation", "url": "http://a"}]
    items, _ = sent(
        text("a", itemId="msg_1", phase="commentary", annotations=cited),
        text("no", itemId="msg_1", refusal=True),
        text("b", itemId="msg_2", status="incomplete"),
    )

    assert items == [
        {
            **MESSAGE,
            "phase": "commentary",
            "content": [
                {"type": "output_text", "text": "a", "annotations": cited},
                {"type": "refusal", "refusal": "no"},
            ],
        },
        {
            **MESSAGE,
            "id": "msg_2",
            "status": "incomplete",
            "content": [{"type": "output_text", "text": "b", "annotations": []}],
        },
    ]


def test_reasoning_of_one_item_is_one_item_with_its_encrypted_content() -> None:
    items, warnings = sent(
        thought("A", itemId="rs_1"),
        thought("B", itemId="rs_1"),
        thought("raw", itemId="rs_1", contentType="reasoning_text", reasoningEncryptedContent="E"),
        text("a", itemId="msg_1"),
        is_stored=False,
    )

    assert items == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "A"}, {"type": "summary_text", "text": "B"}],
            "content": [{"type": "reasoning_text", "text": "raw"}],
            "encrypted_content": "E",
        },
        MESSAGE,
    ]
    assert warnings == []


def test_reasoning_without_an_id_goes_back_by_its_encrypted_content() -> None:
    items, _ = sent(thought(reasoningEncryptedContent="E"), text("a", itemId="msg_1"))

    assert items[0] == {"type": "reasoning", "summary": [], "encrypted_content": "E"}


@pytest.mark.parametrize(
    ("parts", "is_stored", "kept", "warnings"),
    [
        ([thought(itemId="rs_1"), text("a", itemId="m")], True, ["reasoning", "message"], []),
        (
            [thought(itemId="rs_1"), text("a", itemId="m")],
            False,
            ["message"],
            ["reasoning without encrypted content, which the server did not store"],
        ),
        (
            [thought("x", itemId="rs_1", contentType="reasoning_text"), text("a", itemId="m")],
            False,
            ["reasoning", "message"],
            [],
        ),
        ([thought(itemId="rs_1")], True, [], ["reasoning without the item that followed it"]),
        ([thought(itemId="rs_1"), thought(itemId="rs_2")], True, [], ["reasoning without the item that followed it"]),
        (
            [thought(itemId="rs_1"), TextPart(text="changed")],
            True,
            [None],
            ["reasoning without the item that followed it"],
        ),
        (
            [thought(itemId="rs_1"), thought(itemId="rs_2"), text("a", itemId="m", reasoningId="rs_2")],
            True,
            ["reasoning", "reasoning", "message"],
            [],
        ),
        (
            [thought(itemId="rs_1"), text("a", itemId="m", reasoningId="rs_2")],
            True,
            [None],
            ["reasoning without the item that followed it"],
        ),
    ],
    ids=[
        "stored",
        "not stored",
        "raw text",
        "alone",
        "two alone",
        "before text of the user's",
        "two before an item",
        "before an item that followed another",
    ],
)
def test_reasoning_goes_back_only_where_the_api_takes_it(
    parts: list[AssistantPart],
    is_stored: bool,  # noqa: FBT001 - from the table
    kept: list[str | None],
    warnings: list[str],
) -> None:
    items, found = sent(*parts, is_stored=is_stored)

    assert [item.get("type") for item in items if isinstance(item, dict)] == kept
    assert found == warnings


def test_what_followed_reasoning_that_is_gone_goes_back_without_its_id() -> None:
    items, _ = sent(
        text("a", itemId="msg_1", reasoningId="rs_1", phase="final_answer"),
        text("no", itemId="msg_2", reasoningId="rs_1", refusal=True),
        call(itemId="fc_1", reasoningId="rs_1"),
        CustomPart(kind="openai.x", provider_options=own(item={"type": "x", "id": "x_1"}, reasoningId="rs_1")),
    )

    assert items == [
        {"role": "assistant", "content": "a", "phase": "final_answer"},
        {"role": "assistant", "content": "no"},
        {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
        {"type": "x", "id": "x_1"},
    ]


def test_a_call_goes_back_with_what_came_beside_its_input() -> None:
    caller: JsonValue = {"type": "program", "caller_id": "c0"}
    items, _ = sent(
        call(itemId="fc_1", namespace="n", caller=caller),
        ToolCallPart(tool_call_id="c2", tool_name="t", input='{"q": ,'),
    )

    assert items == [
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c1",
            "name": "t",
            "arguments": "{}",
            "namespace": "n",
            "caller": caller,
        },
        {"type": "function_call", "call_id": "c2", "name": "t", "arguments": '{"INVALID_JSON":"{\\"q\\": ,"}'},
    ]


def test_the_input_of_a_custom_tool_is_text() -> None:
    kind = {"itemType": "custom_tool_call", "itemId": "ct_1"}
    as_text = ToolCallPart(tool_call_id="c1", tool_name="sql", input="SELECT 1", provider_options=own(**kind))
    as_json = ToolCallPart(tool_call_id="c2", tool_name="sql", input={"a": 1}, provider_options=own(**kind))

    items, _ = sent(as_text, as_json)

    head = {"type": "custom_tool_call", "id": "ct_1", "name": "sql"}
    assert items == [
        {**head, "call_id": "c1", "input": "SELECT 1"},
        {**head, "call_id": "c2", "input": '{"a":1}'},
    ]


def test_a_broken_input_of_a_tool_of_the_api_is_left_out_of_its_item() -> None:
    broken = ToolCallPart(
        tool_call_id="c1", tool_name="sh", input="{", provider_options=own(itemType="local_shell_call")
    )

    assert sent(broken)[0] == [{"type": "local_shell_call", "call_id": "c1", "status": "completed"}]


def test_a_result_that_lost_its_call_goes_back_with_what_it_has() -> None:
    result = ToolResultPart(
        tool_call_id="ci_1",
        tool_name="code_interpreter",
        output=JsonOutput(value={"outputs": [], "status": "completed"}),
        provider_options=own(itemId="ci_1", itemType="code_interpreter_call"),
    )

    assert sent(result)[0] == [{"type": "code_interpreter_call", "id": "ci_1", "outputs": [], "status": "completed"}]


def test_what_belongs_to_another_provider_is_left_out_and_said_once() -> None:
    foreign: ProviderOptions = {"anthropic": {"signature": "S"}}
    run = ToolCallPart(tool_call_id="s1", tool_name="search", input={}, provider_executed=True)
    result = ToolResultPart(tool_call_id="s1", tool_name="search", output=TextOutput(value="r"))
    items, warnings = sent(
        ReasoningPart(text="a", provider_options=foreign),
        ReasoningPart(text="b", provider_options=foreign),
        run,
        result,
        FilePart(media_type="image/png", data=FileData(data=b"x")),
        ReasoningFilePart(media_type="image/png", data=FileData(data=b"x")),
        CustomPart(kind="other.thing"),
        TextPart(text="c"),
    )

    assert items == [{"role": "assistant", "content": "c"}]
    assert warnings == [
        "reasoning that another provider wrote",
        "tool calls that another provider ran",
        "results of tools that another provider ran",
        "file parts of the assistant",
        "reasoning-file parts of the assistant",
        "custom parts of the assistant",
    ]


def test_what_goes_back_elsewhere_is_left_out_in_silence() -> None:
    image = FilePart(media_type="image/png", data=FileData(data=b"x"), provider_options=own(itemId="ig_1"))
    request = ToolApprovalRequestPart(approval_id="a", tool_call_id="c1")

    assert sent(image, request) == ([], [])
