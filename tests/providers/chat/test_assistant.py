"""What the assistant said, on its way back: text, calls, and reasoning in the form in which it came."""

import json

import pytest

from onion.providers._chat import ChatDialect, input_text, to_messages
from onion.spec.base import JsonObject, JsonValue
from onion.spec.prompt import (
    AssistantMessage,
    AssistantPart,
    CustomPart,
    FileData,
    FilePart,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolCallPart,
    ToolResultPart,
)
from onion.spec.usage import CallWarning, UnsupportedWarning

DIALECT = ChatDialect(name="vendor")
SILENT = ChatDialect(name="vendor", reasoning_field=None)


def assistant(
    *parts: AssistantPart, dialect: ChatDialect = DIALECT, options: JsonObject | None = None
) -> tuple[list[JsonValue], list[CallWarning]]:
    """The messages for one assistant message of *parts*, and the warnings."""
    message = AssistantMessage(content=parts, provider_options=None if options is None else {"vendor": options})
    return to_messages((message,), dialect)


def own(**options: JsonValue) -> dict[str, JsonObject]:
    """Provider options of this vendor."""
    return {"vendor": options}


def call(call_id: str = "c1", given: JsonValue = None, **options: JsonValue) -> ToolCallPart:
    """A call of f."""
    return ToolCallPart(tool_call_id=call_id, tool_name="f", input=given, provider_options=own(**options))


def features(warnings: list[CallWarning]) -> list[str]:
    """What was left out."""
    return [warning.feature for warning in warnings if isinstance(warning, UnsupportedWarning)]


def test_texts_are_joined_and_calls_listed() -> None:
    messages, warnings = assistant(TextPart(text="a"), call(given={"x": 1}), TextPart(text="b"), TextPart(text=""))

    assert messages == [
        {
            "role": "assistant",
            "content": "ab",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
        }
    ]
    assert warnings == []


def test_calls_alone_have_no_content() -> None:
    messages, _ = assistant(TextPart(text=""), call(given={}))

    assert messages[0] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }


@pytest.mark.parametrize(
    "parts", [(), (TextPart(text=""),), (ToolApprovalRequestPart(approval_id="a", tool_call_id="c"),)]
)
def test_a_message_that_says_nothing_is_left_out(parts: tuple[AssistantPart, ...]) -> None:
    assert assistant(*parts) == ([], [])


def test_options_of_message_and_text_go_along() -> None:
    messages, _ = assistant(TextPart(text="a", provider_options=own(cache_control=1)), options={"name": "bot"})

    assert messages == [
        {"role": "assistant", "content": [{"type": "text", "text": "a", "cache_control": 1}], "name": "bot"}
    ]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('{"q": ,', {"INVALID_JSON": '{"q": ,'}),
        ("[1]", {"INVALID_JSON": "[1]"}),
        ("", {}),
        (None, {}),
        ([1], {"value": [1]}),
        (5, {"value": 5}),
    ],
)
def test_the_arguments_of_a_call_are_always_an_object(given: JsonValue, sent: JsonObject) -> None:
    assert json.loads(input_text(given)) == sent


def test_arguments_that_are_valid_text_go_back_as_they_are() -> None:
    assert input_text('{"a":  1.50}') == '{"a":  1.50}'


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_into_the_field_that_it_came_in(field: str) -> None:
    thought = [ReasoningPart(text=text, provider_options=own(reasoning_field=field)) for text in ("hm", " ok")]

    messages, _ = assistant(*thought, TextPart(text="a"))

    assert messages == [{"role": "assistant", "content": "a", field: "hm ok"}]


def test_reasoning_details_go_back_unchanged_and_in_order() -> None:
    first: JsonObject = {"type": "reasoning.text", "text": "hm", "signature": "S=="}
    second: JsonObject = {"type": "reasoning.encrypted", "data": "D=="}

    messages, _ = assistant(
        ReasoningPart(text="hm", provider_options=own(reasoning_field="reasoning", reasoning_details=[first])),
        call(given={}),
        ReasoningPart(text="", provider_options=own(reasoning_details=[second])),
    )

    assert isinstance(messages[0], dict)
    assert messages[0]["reasoning"] == "hm"
    assert messages[0]["reasoning_details"] == [first, second]


def test_thinking_goes_back_as_parts_of_the_content() -> None:
    thought = ReasoningPart(text="hm", provider_options=own(reasoning_field="content"))

    messages, _ = assistant(thought, TextPart(text="a"))

    assert messages == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "a"},
            ],
        }
    ]


def test_reasoning_of_unknown_origin_goes_where_the_dialect_says() -> None:
    messages, warnings = assistant(ReasoningPart(text="hm"), TextPart(text="a"))

    assert messages == [{"role": "assistant", "content": "a", "reasoning_content": "hm"}]
    assert warnings == []


@pytest.mark.parametrize(
    ("part", "dialect"),
    [
        (ReasoningPart(text="hm", provider_options={"other": {"signature": "S"}}), DIALECT),
        (ReasoningPart(text="hm"), SILENT),
    ],
    ids=["another provider's", "the dialect has no place for it"],
)
def test_reasoning_without_a_place_is_left_out_with_a_warning(part: ReasoningPart, dialect: ChatDialect) -> None:
    messages, warnings = assistant(part, TextPart(text="a"), dialect=dialect)

    assert messages == [{"role": "assistant", "content": "a"}]
    assert features(warnings) == ["reasoning that another provider wrote"]


def test_reasoning_that_only_onion_marked_is_not_foreign() -> None:
    messages, _ = assistant(ReasoningPart(text="hm", provider_options={"onion": {"x": 1}}))

    assert messages == [{"role": "assistant", "content": None, "reasoning_content": "hm"}]


def test_a_refusal_goes_back_as_a_refusal() -> None:
    messages, _ = assistant(TextPart(text="I will not", provider_options=own(refusal=True)))

    assert messages == [{"role": "assistant", "content": None, "refusal": "I will not"}]


def test_signatures_of_calls_and_messages_go_back_where_they_were() -> None:
    messages, _ = assistant(call(given={}, extra_content={"google": {"s": 1}}, message={"extra_content": {"g": 2}}))

    assert messages == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                    "extra_content": {"google": {"s": 1}},
                }
            ],
            "extra_content": {"g": 2},
        }
    ]


def test_speech_goes_back_by_its_id() -> None:
    spoken = FilePart(media_type="audio/wav", data=FileData(data=b"x"), provider_options=own(audio_id="au1"))

    assert assistant(spoken)[0] == [{"role": "assistant", "content": None, "audio": {"id": "au1"}}]


def test_what_has_no_form_is_left_out_and_named_once() -> None:
    image = FilePart(media_type="image/png", data=FileData(data=b"x"))
    thought = ReasoningFilePart(media_type="image/png", data=FileData(data=b"x"))
    ran = ToolCallPart(tool_call_id="s1", tool_name="search", input={}, provider_executed=True)
    found = ToolResultPart(tool_call_id="s1", tool_name="search", output=TextOutput(value="x"))

    messages, warnings = assistant(image, image, thought, CustomPart(kind="o.x"), ran, found, TextPart(text="a"))

    assert messages == [{"role": "assistant", "content": "a"}]
    assert features(warnings) == [
        "file parts of the assistant",
        "reasoning-file parts of the assistant",
        "custom parts of the assistant",
        "provider-executed tool calls of the assistant",
        "tool-result parts of the assistant",
    ]
