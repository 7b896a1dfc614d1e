"""Prompts as input items: roles, files, and what tools gave back."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from onion.errors import InvalidPromptError, UnsupportedFunctionalityError
from onion.providers.openai_responses import OPENAI, ResponsesDialect, tools
from onion.providers.openai_responses.request import to_request
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
    FileReference,
    FileText,
    FileURL,
    JsonOutput,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CompatibilityWarning

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import FileContent, Message, ToolResultOutput

PNG = b"\x89PNG\r\n\x1a\n"
PNG_TEXT = base64.b64encode(PNG).decode()
PLAIN = ResponsesDialect(name="openai")


def items_of(*messages: Message, model_id: str = "m", dialect: ResponsesDialect = PLAIN) -> list[JsonValue]:
    """The input items."""
    found = to_request(model_id, CallOptions(prompt=messages), dialect).body["input"]
    assert isinstance(found, list)
    return found


def user(*parts: TextPart | FilePart) -> UserMessage:
    """A user's message."""
    return UserMessage(content=parts)


def content_of(*parts: TextPart | FilePart) -> JsonValue:
    """The content of a user's message."""
    (item,) = items_of(user(*parts))
    content: JsonValue = item["content"] if isinstance(item, dict) else None
    return content


@pytest.mark.parametrize(
    ("model_id", "dialect", "role"),
    [("gpt-5", OPENAI, "developer"), ("gpt-4o", OPENAI, "system"), ("gpt-5", PLAIN, "system")],
)
def test_instructions_have_the_role_that_the_model_knows(model_id: str, dialect: ResponsesDialect, role: str) -> None:
    found = items_of(SystemMessage(content="S"), model_id=model_id, dialect=dialect)

    assert found == [{"role": role, "content": "S"}]


def test_system_messages_stay_where_they_are() -> None:
    found = items_of(SystemMessage(content="S1"), user(TextPart(text="u")), SystemMessage(content="S2"))

    assert [item["content"] for item in found if isinstance(item, dict)] == ["S1", "u", "S2"]


@pytest.mark.parametrize(("mode", "roles"), [("developer", ["developer", "user"]), ("remove", ["user"])])
def test_the_role_of_instructions_can_be_chosen(mode: str, roles: list[str]) -> None:
    prompt = (SystemMessage(content="S"), user(TextPart(text="u")))
    params = CallOptions(prompt=prompt, provider_options={"openai": {"system_message_mode": mode}})
    request = to_request("m", params, PLAIN)

    found = request.body["input"]
    assert isinstance(found, list)
    assert [item["role"] for item in found if isinstance(item, dict)] == roles
    left_out = CompatibilityWarning(feature="system messages", details="left out, as asked")
    assert request.warnings == (() if len(roles) == 2 else (left_out,))


def test_text_alone_is_a_string_and_with_options_a_part() -> None:
    assert content_of(TextPart(text="a"), TextPart(text="")) == "a"
    assert content_of(TextPart(text="")) == ""
    assert content_of(TextPart(text="a", provider_options={"openai": {"x": 1}})) == [
        {"type": "input_text", "text": "a", "x": 1}
    ]
    assert content_of(TextPart(text="a"), TextPart(text="b")) == [
        {"type": "input_text", "text": "a"},
        {"type": "input_text", "text": "b"},
    ]


@pytest.mark.parametrize(
    ("media_type", "content", "sent"),
    [
        ("image/*", FileData(data=PNG), {"type": "input_image", "image_url": f"data:image/png;base64,{PNG_TEXT}"}),
        (
            "image/png",
            FileData(data=PNG_TEXT),
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG_TEXT}"},
        ),
        ("image/*", FileURL(url="https://a/i"), {"type": "input_image", "image_url": "https://a/i"}),
        ("application/pdf", FileURL(url="https://a/p"), {"type": "input_file", "file_url": "https://a/p"}),
        (
            "application/pdf",
            FileData(data="JVBERi0="),
            {"type": "input_file", "filename": "file-0.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        ),
        ("text/plain", FileData(data="Z3LDvG4K"), {"type": "input_text", "text": "grün\n"}),
        ("text/csv", FileText(text="a,b"), {"type": "input_text", "text": "a,b"}),
        ("image/png", FileReference(reference={"openai": "file-1"}), {"type": "input_image", "file_id": "file-1"}),
        ("application/pdf", FileReference(reference="file-2"), {"type": "input_file", "file_id": "file-2"}),
    ],
)
def test_files_go_in_the_form_that_the_api_takes(media_type: str, content: FileContent, sent: JsonObject) -> None:
    assert content_of(FilePart(media_type=media_type, data=content)) == [sent]


def test_detail_is_for_images_only() -> None:
    options = {"openai": {"image_detail": "low"}}
    image = FilePart(media_type="image/png", data=FileURL(url="https://a/i"), provider_options=options)
    pdf = FilePart(media_type="application/pdf", data=FileURL(url="https://a/p"), provider_options=options)

    assert content_of(image, pdf) == [
        {"type": "input_image", "image_url": "https://a/i", "detail": "low"},
        {"type": "input_file", "file_url": "https://a/p"},
    ]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (FilePart(media_type="audio/wav", data=FileURL(url="https://a/s")), UnsupportedFunctionalityError),
        (FilePart(media_type="video/mp4", data=FileData(data=b"x")), UnsupportedFunctionalityError),
        (FilePart(media_type="image/png", data=FileReference(reference={"x": "f"})), UnsupportedFunctionalityError),
        (FilePart(media_type="text/plain", data=FileData(data=b"\xff")), InvalidPromptError),
        (FilePart(media_type="image/*", data=FileData(data="A")), InvalidPromptError),
    ],
    ids=["audio", "video", "foreign reference", "no UTF-8", "no base64"],
)
def test_a_file_that_cannot_go_is_refused(part: FilePart, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        content_of(part)


def result(output: ToolResultOutput, call_id: str = "c1") -> ToolMessage:
    """A tool's result."""
    return ToolMessage(content=(ToolResultPart(tool_call_id=call_id, tool_name="t", output=output),))


@pytest.mark.parametrize(
    ("output", "sent"),
    [
        (TextOutput(value=""), ""),
        (JsonOutput(value=None), "null"),
        (JsonOutput(value=[]), "[]"),
        (ErrorTextOutput(value="TimeoutError"), "TimeoutError"),
        (ErrorJsonOutput(value={"a": 1}), '{"a":1}'),
        (ExecutionDenied(reason="no"), "no"),
        (
            ContentOutput(value=(TextPart(text="a"), FilePart(media_type="image/png", data=FileData(data=PNG)))),
            [
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG_TEXT}"},
            ],
        ),
    ],
)
def test_a_result_says_what_the_tool_gave(output: ToolResultOutput, sent: JsonValue) -> None:
    assert items_of(result(output)) == [{"type": "function_call_output", "call_id": "c1", "output": sent}]


def test_a_custom_part_in_a_result_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionalityError, match=r"x\.y parts"):
        items_of(result(ContentOutput(value=(CustomPart(kind="x.y"),))))


@pytest.mark.parametrize(
    ("tool", "output", "sent"),
    [
        ("local_shell", TextOutput(value="a.txt"), {"type": "local_shell_call_output", "output": "a.txt"}),
        ("custom", TextOutput(value="1 row"), {"type": "custom_tool_call_output", "output": "1 row"}),
        (
            "shell",
            TextOutput(value="a"),
            {
                "type": "shell_call_output",
                "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
            },
        ),
        (
            "shell",
            ErrorTextOutput(value="b"),
            {
                "type": "shell_call_output",
                "output": [{"stdout": "", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}],
            },
        ),
        ("shell", JsonOutput(value={"output": []}), {"type": "shell_call_output", "output": []}),
        (
            "apply_patch",
            TextOutput(value="ok"),
            {"type": "apply_patch_call_output", "status": "completed", "output": "ok"},
        ),
        (
            "apply_patch",
            ErrorTextOutput(value="no"),
            {"type": "apply_patch_call_output", "status": "failed", "output": "no"},
        ),
        (
            "apply_patch",
            JsonOutput(value={"status": "failed"}),
            {"type": "apply_patch_call_output", "status": "failed"},
        ),
        (
            "computer",
            ContentOutput(value=(FilePart(media_type="image/png", data=FileURL(url="https://a/i")),)),
            {
                "type": "computer_call_output",
                "output": {"type": "computer_screenshot", "image_url": "https://a/i"},
            },
        ),
        ("computer", TextOutput(value="black"), {"type": "computer_call_output", "output": "black"}),
        (
            "computer",
            ContentOutput(value=(TextPart(text="a"),)),
            {"type": "computer_call_output", "output": [{"type": "input_text", "text": "a"}]},
        ),
        ("computer", JsonOutput(value={"output": {"a": 1}}), {"type": "computer_call_output", "output": {"a": 1}}),
        (
            "tool_search",
            JsonOutput(value={"tools": [{"name": "t"}]}),
            {"type": "tool_search_output", "execution": "client", "status": "completed", "tools": [{"name": "t"}]},
        ),
        (
            "tool_search",
            TextOutput(value="none"),
            {"type": "tool_search_output", "execution": "client", "status": "completed", "tools": ()},
        ),
    ],
)
def test_a_result_of_a_tool_of_the_api_is_an_item_of_its_kind(
    tool: str, output: ToolResultOutput, sent: JsonObject
) -> None:
    offered = tools.custom(name="t") if tool == "custom" else tools.local_shell(name="t")
    call = ToolCallPart(
        tool_call_id="c1",
        tool_name="t",
        input={},
        provider_options={"openai": {"itemType": f"{tool}_tool_call" if tool == "custom" else f"{tool}_call"}},
    )
    params = CallOptions(prompt=(AssistantMessage(content=(call,)), result(output)), tools=(offered,))

    found = to_request("m", params, PLAIN).body["input"]
    assert isinstance(found, list)
    assert found[1] == {**sent, "call_id": "c1"}


def test_a_call_from_elsewhere_to_a_tool_of_the_api_is_one_of_its_kind() -> None:
    call = ToolCallPart(tool_call_id="c1", tool_name="sh", input='{"action": {"command": ["ls"]}}')
    params = CallOptions(
        prompt=(AssistantMessage(content=(call,)), result(TextOutput(value="a"))), tools=(tools.local_shell(name="sh"),)
    )

    assert to_request("m", params, PLAIN).body["input"] == [
        {"type": "local_shell_call", "call_id": "c1", "status": "completed", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "call_id": "c1", "output": "a"},
    ]


def test_answers_to_requests_for_approval_name_the_request() -> None:
    yes = ToolApprovalResponsePart(approval_id="mcpr_1", approved=True)
    no = ToolApprovalResponsePart(approval_id="mcpr_2", approved=False, reason="not now")

    assert items_of(ToolMessage(content=(yes, no))) == [
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_2", "approve": False, "reason": "not now"},
    ]
