"""The prompt as messages: system, user and tool messages, in their places."""

import pytest

from onion.errors import UnsupportedFunctionalityError
from onion.providers._chat import ChatDialect, output_text, to_messages
from onion.spec.base import JsonObject, JsonValue
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
    Message,
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
from onion.spec.usage import CompatibilityWarning

DIALECT = ChatDialect(name="vendor")
PNG = FilePart(media_type="image/png", data=FileData(data=b"png"))
PNG_PART: JsonValue = {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}}


def messages_of(*prompt: Message, system_role: str = "system") -> list[JsonValue]:
    """The messages for *prompt*."""
    return to_messages(prompt, DIALECT, system_role=system_role)[0]


def result_of(output: ToolResultOutput) -> ToolResultPart:
    """A result with that output."""
    return ToolResultPart(tool_call_id="c1", tool_name="f", output=output)


def test_system_messages_stay_where_they_are() -> None:
    found = messages_of(
        SystemMessage(content="S1"),
        UserMessage(content=(TextPart(text="u1"),)),
        AssistantMessage(content=(TextPart(text="a1"),)),
        SystemMessage(content="S2"),
        UserMessage(content=(TextPart(text="u2"),)),
    )

    assert found == [
        {"role": "system", "content": "S1"},
        {"role": "user", "content": "u1"},
        {"role": "assistant", "content": "a1"},
        {"role": "system", "content": "S2"},
        {"role": "user", "content": "u2"},
    ]


def test_system_messages_may_be_the_developers_or_be_left_out() -> None:
    assert messages_of(SystemMessage(content="S"), system_role="developer") == [{"role": "developer", "content": "S"}]

    messages, warnings = to_messages((SystemMessage(content="S"),), DIALECT, system_role="remove")

    assert messages == []
    assert [warning.type for warning in warnings] == ["compatibility"]


def test_options_of_a_system_message_go_along_and_a_cache_mark_goes_to_its_part() -> None:
    options: dict[str, JsonObject] = {"vendor": {"name": "boss", "cache_control": {"type": "ephemeral"}}}

    assert messages_of(SystemMessage(content="S", provider_options=options)) == [
        {
            "role": "system",
            "content": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
            "name": "boss",
        }
    ]


def test_one_text_is_sent_as_a_text_and_several_as_parts() -> None:
    one = UserMessage(content=(TextPart(text="a"), TextPart(text="")), provider_options={"vendor": {"name": "ann"}})
    two = UserMessage(content=(TextPart(text="a"), TextPart(text="b", provider_options={"vendor": {"x": 1}})))

    assert messages_of(one, two) == [
        {"role": "user", "content": "a", "name": "ann"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "x": 1}]},
    ]


def test_one_text_with_options_of_its_own_is_sent_as_a_part() -> None:
    marked = UserMessage(content=(TextPart(text="a", provider_options={"vendor": {"x": 1}, "other": {"y": 2}}),))

    assert messages_of(marked) == [{"role": "user", "content": [{"type": "text", "text": "a", "x": 1}]}]


def test_an_empty_user_message_keeps_its_place() -> None:
    assert messages_of(UserMessage(content=(TextPart(text=""),))) == [{"role": "user", "content": ""}]


def test_an_image_may_carry_the_detail_in_which_it_is_seen() -> None:
    shown = FilePart(
        media_type="image/png",
        data=FileData(data=b"png"),
        provider_options={"vendor": {"image_detail": "high", "x": 1}},
    )

    assert messages_of(UserMessage(content=(shown,))) == [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n", "detail": "high"}, "x": 1}
            ],
        }
    ]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (TextOutput(value="sunny"), "sunny"),
        (TextOutput(value=""), ""),
        (JsonOutput(value=None), "null"),
        (JsonOutput(value=[]), "[]"),
        (JsonOutput(value={}), "{}"),
        (JsonOutput(value={"t": "grün"}), '{"t":"grün"}'),
        (ErrorTextOutput(value="no"), "no"),
        (ErrorJsonOutput(value={"e": 1}), '{"e":1}'),
        (ExecutionDenied(reason="not today"), "not today"),
        (ExecutionDenied(), "The tool did not run: it was not allowed to."),
        (ContentOutput(value=(TextPart(text="a"), TextPart(text="b"))), "a\nb"),
    ],
)
def test_every_output_of_a_tool_is_a_text_to_the_model(output: ToolResultOutput, text: str) -> None:
    assert messages_of(ToolMessage(content=(result_of(output),))) == [
        {"role": "tool", "tool_call_id": "c1", "content": text}
    ]
    assert output_text(output) == text


def test_answers_to_approvals_are_not_sent() -> None:
    answered = ToolApprovalResponsePart(approval_id="a1", approved=True)

    assert messages_of(ToolMessage(content=(answered, result_of(TextOutput(value="x"))))) == [
        {"role": "tool", "tool_call_id": "c1", "content": "x"}
    ]


def test_files_of_tool_results_follow_all_results_in_a_user_message() -> None:
    calls = tuple(ToolCallPart(tool_call_id=name, tool_name="f", input={}) for name in ("c1", "c2"))
    shown = ContentOutput(value=(TextPart(text="look"), PNG))
    second = ToolResultPart(tool_call_id="c2", tool_name="f", output=TextOutput(value="2"))
    prompt = (
        AssistantMessage(content=calls),
        ToolMessage(content=(result_of(shown),)),
        ToolMessage(content=(second,)),
        UserMessage(content=(TextPart(text="and?"),)),
    )

    messages, warnings = to_messages(prompt, DIALECT)

    assert messages[1:] == [
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "look\n[file 1 of this result is in the next user message]",
        },
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {"role": "user", "content": [{"type": "text", "text": "Files of the result of f (c1):"}, PNG_PART]},
        {"role": "user", "content": "and?"},
    ]
    assert [warning.type for warning in warnings] == ["compatibility"]
    assert isinstance(warnings[0], CompatibilityWarning)


def test_files_of_the_last_tool_results_are_sent_as_well() -> None:
    last = messages_of(ToolMessage(content=(result_of(ContentOutput(value=(PNG,))),)))[-1]

    assert last == {"role": "user", "content": [{"type": "text", "text": "Files of the result of f (c1):"}, PNG_PART]}


def test_custom_parts_of_a_result_cannot_be_said() -> None:
    odd = result_of(ContentOutput(value=(CustomPart(kind="other.thing"),)))

    with pytest.raises(UnsupportedFunctionalityError, match=r"vendor does not support other\.thing parts"):
        messages_of(ToolMessage(content=(odd,)))
