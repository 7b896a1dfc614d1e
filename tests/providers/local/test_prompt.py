import pytest

from onion.errors import UnsupportedFunctionalityError
from onion.providers.local.prompt import to_messages
from onion.spec.base import JsonObject
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FileData,
    FilePart,
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
)
from onion.spec.usage import CallWarning, UnsupportedWarning


def converted(*prompt: Message, system: tuple[str, ...] = (), prefill: str = "") -> list[JsonObject]:
    """The messages; nothing may have been left out."""
    warnings: list[CallWarning] = []
    messages = to_messages(prompt, system=system, prefill=prefill, warnings=warnings)
    assert warnings == []
    return messages


def user(*parts: TextPart | FilePart) -> UserMessage:
    return UserMessage(content=parts)


def result(output: ToolResultOutput) -> ToolMessage:
    return ToolMessage(content=(ToolResultPart(tool_call_id="1", tool_name="look", output=output),))


def test_system_messages_come_first_as_one_with_what_we_add() -> None:
    messages = converted(
        SystemMessage(content="Be kind."), user(TextPart(text="Hi")), SystemMessage(content="Be short."),
        system=("Tools.",),
    )  # fmt: skip

    assert messages == [
        {"role": "system", "content": "Be kind.\n\nBe short.\n\nTools."},
        {"role": "user", "content": "Hi"},
    ]


def test_roles_alternate() -> None:
    messages = converted(user(TextPart(text="a"), TextPart(text="b")), user(), user(TextPart(text="c")))

    assert messages == [{"role": "user", "content": "a\nb\nc"}]


def test_a_call_and_its_result_become_text_of_the_assistant_and_of_the_user() -> None:
    call = ToolCallPart(tool_call_id="1", tool_name="look", input={"at": "sky"})
    messages = converted(
        AssistantMessage(content=(TextPart(text="I look."), call)), result(TextOutput(value="blue")),
        user(TextPart(text="And?")),
    )  # fmt: skip

    assert messages == [
        {
            "role": "assistant",
            "content": 'I look.\n<tool_call>\n{"name":"look","arguments":{"at":"sky"}}\n</tool_call>',
        },
        {"role": "user", "content": "The tool look answered:\nblue\nAnd?"},
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param(TextOutput(value="blue"), "blue", id="text"),
        pytest.param(JsonOutput(value={"sky": ["blue"]}), '{"sky":["blue"]}', id="json"),
        pytest.param(ErrorTextOutput(value="dark"), "Error: dark", id="error text"),
        pytest.param(ErrorJsonOutput(value={"code": 1}), 'Error: {"code":1}', id="error json"),
        pytest.param(ExecutionDenied(reason="Too late."), "The tool was not allowed to run. Too late.", id="denied"),
        pytest.param(ExecutionDenied(), "The tool was not allowed to run.", id="denied without reason"),
        pytest.param(
            ContentOutput(value=(TextPart(text="a"), FilePart(media_type="text/csv", data=FileText(text="b")))),
            "a\nb",
            id="content",
        ),
    ],
)
def test_each_kind_of_result_is_told_in_words(output: ToolResultOutput, expected: str) -> None:
    assert converted(result(output)) == [{"role": "user", "content": f"The tool look answered:\n{expected}"}]


def test_answers_to_approvals_are_the_loops_business() -> None:
    assert converted(ToolMessage(content=(ToolApprovalResponsePart(approval_id="1", approved=True),))) == []


def test_the_beginning_of_the_answer_goes_last() -> None:
    assert converted(user(TextPart(text="Hi")), prefill="<tool_call>\n")[-1] == {
        "role": "assistant",
        "content": "<tool_call>\n",
    }


def test_text_files_are_read_out() -> None:
    file = FilePart(media_type="text/plain", data=FileData(data=b"caf\xc3\xa9"))

    assert converted(user(file)) == [{"role": "user", "content": "café"}]


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(FilePart(media_type="image/png", data=FileData(data=b"x")), id="image"),
        pytest.param(FilePart(media_type="text/plain", data=FileURL(url="https://file.test")), id="url"),
    ],
)
def test_other_files_are_refused(part: FilePart) -> None:
    with pytest.raises(UnsupportedFunctionalityError, match=f"local does not support files of type {part.media_type}"):
        converted(user(part))


def test_custom_content_of_a_result_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionalityError, match="custom content of tool results"):
        converted(result(ContentOutput(value=(CustomPart(kind="acme.thing"),))))


def test_what_the_assistant_cannot_have_said_here_is_left_out_with_one_warning_each() -> None:
    warnings: list[CallWarning] = []
    foreign = ToolCallPart(tool_call_id="1", tool_name="search", input={}, provider_executed=True)
    message = AssistantMessage(content=(ReasoningPart(text="a"), ReasoningPart(text="b"), foreign, TextPart(text="c")))

    messages = to_messages((message,), system=(), prefill="", warnings=warnings)

    assert messages == [{"role": "assistant", "content": "c"}]
    assert [warning.feature for warning in warnings if isinstance(warning, UnsupportedWarning)] == [
        "reasoning parts of the assistant",
        "tool-call parts of the assistant",
    ]
