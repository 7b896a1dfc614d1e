from __future__ import annotations

import base64
import copy

import pytest

from onion.errors import TypeValidationError
from onion.loop.reading import read_message, read_output
from onion.spec import (
    AssistantMessage,
    ContentOutput,
    FileContent,
    FileData,
    FilePart,
    FileReference,
    FileText,
    FileURL,
    JsonOutput,
    Message,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultOutput,
    ToolResultPart,
    UserMessage,
    to_json,
)

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00"
PNG_TEXT = base64.b64encode(PNG).decode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param({"role": "system", "content": "s"}, SystemMessage(content="s"), id="system"),
        pytest.param({"role": "user", "content": "u"}, UserMessage(content=(TextPart(text="u"),)), id="user's text"),
        pytest.param({"role": "user", "content": ""}, UserMessage(content=()), id="user's empty text"),
        pytest.param(
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, TextPart(text="b")],
                "providerOptions": {"a": {}},
            },
            UserMessage(content=(TextPart(text="a"), TextPart(text="b")), provider_options={"a": {}}),
            id="user's parts",
        ),
        pytest.param(
            {"role": "assistant", "content": "a"},
            AssistantMessage(content=(TextPart(text="a"),)),
            id="assistant's text",
        ),
        pytest.param(
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "r"},
                    {"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": {"a": 1}},
                    {
                        "type": "tool-call",
                        "tool_call_id": "d",
                        "tool_name": "t",
                        "input": None,
                        "provider_executed": True,
                    },
                ],
            },
            AssistantMessage(
                content=(
                    ReasoningPart(text="r"),
                    ToolCallPart(tool_call_id="c", tool_name="t", input={"a": 1}),
                    ToolCallPart(tool_call_id="d", tool_name="t", input=None, provider_executed=True),
                )
            ),
            id="assistant's parts in both spellings",
        ),
        pytest.param(
            {
                "role": "tool",
                "content": [
                    {"type": "tool-approval-response", "approvalId": "a", "approved": True},
                    {
                        "type": "tool-result",
                        "toolCallId": "c",
                        "toolName": "t",
                        "output": {"type": "text", "value": "o"},
                    },
                ],
            },
            ToolMessage(
                content=(
                    ToolApprovalResponsePart(approval_id="a", approved=True),
                    ToolResultPart(tool_call_id="c", tool_name="t", output=TextOutput(value="o")),
                )
            ),
            id="tool",
        ),
    ],
)
def test_a_message_is_read_from_a_dict_or_is_one_already(data: dict[str, object], message: Message) -> None:
    before = copy.deepcopy(data)

    assert read_message(data, "messages[0]") == message
    assert read_message(message, "messages[0]") == message
    assert read_message(to_json(message), "messages[0]") == message
    assert data == before


@pytest.mark.parametrize(
    ("part", "media_type", "content"),
    [
        pytest.param({"mediaType": "image/jpeg", "data": PNG}, "image/png", FileData(data=PNG), id="bytes"),
        pytest.param({"mediaType": "image/*", "data": bytearray(PNG)}, "image/png", FileData(data=PNG), id="bytearray"),
        pytest.param({"media_type": "image", "data": PNG_TEXT}, "image/png", FileData(data=PNG_TEXT), id="base64"),
        pytest.param({"data": PNG_TEXT}, "image/png", FileData(data=PNG_TEXT), id="no media type"),
        pytest.param(
            {"mediaType": "text/plain", "data": "data:text/csv;base64,YQ=="},
            "text/csv",
            FileData(data="YQ=="),
            id="data URL",
        ),
        pytest.param(
            {"mediaType": "text/plain", "data": {"type": "url", "url": "data:text/csv,a"}},
            "text/csv",
            FileData(data=b"a"),
            id="data URL, tagged as a URL",
        ),
        pytest.param(
            {"mediaType": "image/*", "data": FileData(data=f"data:image/jpeg;base64,{PNG_TEXT}")},
            "image/png",
            FileData(data=PNG_TEXT),
            id="data URL of an image that is another",
        ),
        pytest.param(
            {"mediaType": "application/pdf", "data": "https://example.test/a.pdf"},
            "application/pdf",
            FileURL(url="https://example.test/a.pdf"),
            id="URL",
        ),
        pytest.param(
            {"mediaType": "image/*", "data": "gs://bucket/a"}, "image/*", FileURL(url="gs://bucket/a"), id="another URL"
        ),
        pytest.param(
            {"mediaType": "text/plain", "data": {"type": "text", "text": "t"}},
            "text/plain",
            FileText(text="t"),
            id="text",
        ),
        pytest.param(
            {"mediaType": "text/plain", "data": {"type": "reference", "reference": {"acme": "f1"}}},
            "text/plain",
            FileReference(reference={"acme": "f1"}),
            id="reference",
        ),
        pytest.param(
            {"mediaType": "text/plain", "data": {"type": "data", "data": "YQ=="}},
            "text/plain",
            FileData(data="YQ=="),
            id="tagged base64",
        ),
        pytest.param({"type": "image", "image": PNG}, "image/png", FileData(data=PNG), id="image"),
        pytest.param(
            {"type": "image", "data": "https://example.test/a"},
            "image/*",
            FileURL(url="https://example.test/a"),
            id="image by URL",
        ),
    ],
)
def test_a_file_is_read_from_every_form_of_content(
    part: dict[str, object], media_type: str, content: FileContent
) -> None:
    message = read_message({"role": "user", "content": [{"type": "file", **part, "filename": "n"}]}, "messages[0]")

    assert message == UserMessage(content=(FilePart(media_type=media_type, data=content, filename="n"),))


def test_a_file_that_is_a_value_already_gets_its_media_type_from_its_bytes_too() -> None:
    given = UserMessage(content=(FilePart(media_type="image/*", data=FileData(data=PNG)),))

    read = read_message(given, "messages[0]")

    assert read == UserMessage(content=(FilePart(media_type="image/png", data=FileData(data=PNG)),))


@pytest.mark.parametrize(
    ("data", "output"),
    [
        pytest.param({"type": "json", "value": None}, JsonOutput(value=None), id="null"),
        pytest.param(TextOutput(value="a"), TextOutput(value="a"), id="a value"),
        pytest.param(
            {"type": "content", "value": [{"type": "text", "text": "a"}, {"type": "image", "image": PNG}]},
            ContentOutput(value=(TextPart(text="a"), FilePart(media_type="image/png", data=FileData(data=PNG)))),
            id="content",
        ),
        pytest.param(
            ContentOutput(value=(TextPart(text="a"),)), ContentOutput(value=(TextPart(text="a"),)), id="content value"
        ),
    ],
)
def test_an_output_is_read(data: object, output: ToolResultOutput) -> None:
    assert read_output(data, "output") == output


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param("hi", r"m\[0\] must be a mapping or a value of onion.spec, not 'hi'", id="a text"),
        pytest.param(UserMessage, r"m\[0\] must be a mapping or a value", id="a class"),
        pytest.param(
            {"content": "a"},
            r"m\[0\]\.role must be one of 'system', 'user', 'assistant', 'tool', not None",
            id="no role",
        ),
        pytest.param({"role": "critic", "content": "a"}, r"m\[0\]\.role .* not 'critic'", id="an unknown role"),
        pytest.param({"role": ["user"], "content": "a"}, r"m\[0\]\.role", id="a role that is no text"),
        pytest.param({"role": "system"}, "lacks 'content'", id="no content of a system message"),
        pytest.param(
            {"role": "system", "content": ["a"]}, r"m\[0\]\.content must be a text", id="parts in a system message"
        ),
        pytest.param({"role": "user"}, r"m\[0\]\.content must be a text or a list of parts, not None", id="no content"),
        pytest.param({"role": "tool", "content": "a"}, r"m\[0\]\.content must be a list of parts", id="text of a tool"),
        pytest.param(
            {"role": "user", "content": [5]}, r"m\[0\]\.content\[0\] must be a mapping", id="a part that is none"
        ),
        pytest.param(
            {"role": "user", "content": [{"text": "a"}]}, r"m\[0\]\.content\[0\]\.type must be one of", id="no type"
        ),
        pytest.param(
            {"role": "user", "content": [{"type": "reasoning", "text": "a"}]},
            r"m\[0\]\.content\[0\]\.type must be one of 'text', 'file', not 'reasoning'",
            id="a part of another role",
        ),
        pytest.param(
            {"role": "user", "content": [ReasoningPart(text="a")]},
            r"m\[0\]\.content\[0\]\.type must be one of 'text', 'file', not 'reasoning'",
            id="a value of another role",
        ),
        pytest.param({"role": "user", "content": "a", "cotent": 1}, "no member 'cotent'", id="an unknown member"),
        pytest.param(
            {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "t"}]},
            "lacks 'output'",
            id="a result without an output",
        ),
        pytest.param(
            {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": "o"}]},
            r"m\[0\]\.content\[0\]\.output must be a mapping",
            id="an output that is bare",
        ),
        pytest.param(
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c",
                        "toolName": "t",
                        "output": {"type": "content", "value": "o"},
                    }
                ],
            },
            r"m\[0\]\.content\[0\]\.output\.value must be a list of parts",
            id="content that is no list",
        ),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(data: object, message: str) -> None:
    with pytest.raises(TypeValidationError, match=message):
        read_message(data, "m[0]")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        pytest.param({"data": "./photo.png", "mediaType": "image/png"}, "neither base64 nor a URL", id="a path"),
        pytest.param({"data": "", "mediaType": "image/png"}, "neither base64 nor a URL", id="an empty text"),
        pytest.param({"data": 5, "mediaType": "image/png"}, "must be bytes, base64 text, a URL", id="a number"),
        pytest.param({"mediaType": "image/png"}, "must be bytes, base64 text, a URL", id="nothing"),
        pytest.param({"data": b"abc"}, "lacks 'mediaType'", id="bytes of no kind"),
        pytest.param({"data": b"abc", "mediaType": 5}, "mediaType must be a text", id="a media type that is no text"),
        pytest.param({"data": "https://example.test"}, "lacks 'mediaType'", id="a URL of no kind"),
        pytest.param({"data": {"type": "blob"}, "mediaType": "a/b"}, r"data\.type must be one of", id="an unknown tag"),
    ],
)
def test_what_is_no_file_is_refused_with_its_place(part: dict[str, object], message: str) -> None:
    with pytest.raises(TypeValidationError, match=message) as caught:
        read_message({"role": "user", "content": [{"type": "file", **part}]}, "m[0]")

    assert str(caught.value).startswith("m[0].content[0]")
