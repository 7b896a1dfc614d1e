from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import InvalidPromptError, MissingToolResultsError
from onion.loop.prompt import PromptWriter, model_prompt, read_instructions, read_messages, read_prompt
from onion.spec import (
    AssistantMessage,
    FileData,
    FilePart,
    Message,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onion.loop.prompt import InstructionsInput, MessageInput, PromptInput


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextPart(text=text),))


CRITIC: list[MessageInput] = [user("a"), {"role": "critic", "content": "b"}]


def call(tool_call_id: str, *, provider_executed: bool | None = None) -> ToolCallPart:
    return ToolCallPart(tool_call_id=tool_call_id, tool_name="t", input={}, provider_executed=provider_executed)


def result(tool_call_id: str, **options: dict[str, int]) -> ToolResultPart:
    output = TextOutput(value="o")
    return ToolResultPart(tool_call_id=tool_call_id, tool_name="t", output=output, provider_options=options or None)


def calls(*ids: str) -> AssistantMessage:
    return AssistantMessage(content=tuple(map(call, ids)))


def results(*ids: str) -> ToolMessage:
    return ToolMessage(content=tuple(map(result, ids)))


@pytest.mark.parametrize(
    ("prompt", "messages"),
    [
        pytest.param("hi", (user("hi"),), id="text"),
        pytest.param(
            [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}],
            (user("hi"), AssistantMessage(content=(TextPart(text="yes?"),))),
            id="list of dicts",
        ),
        pytest.param((user("hi"),), (user("hi"),), id="tuple of messages"),
    ],
)
def test_a_prompt_is_text_or_messages(prompt: PromptInput, messages: tuple[Message, ...]) -> None:
    assert read_prompt(prompt=prompt, messages=None) == messages


def test_messages_are_read_without_touching_what_was_given() -> None:
    content: list[dict[str, object]] = [{"type": "image", "image": b"GIF89a"}]
    given: list[dict[str, object]] = [{"role": "user", "content": content}]
    before = copy.deepcopy(given)

    read = read_prompt(prompt=None, messages=given)

    assert read == (UserMessage(content=(FilePart(media_type="image/gif", data=FileData(data=b"GIF89a")),)),)
    assert given == before


@pytest.mark.parametrize(
    ("read", "message"),
    [
        pytest.param(lambda: read_prompt(prompt=None, messages=None), "neither prompt nor messages", id="neither"),
        pytest.param(lambda: read_prompt(prompt="a", messages=[]), "both prompt and messages", id="both"),
        pytest.param(lambda: read_prompt(prompt="", messages=None), "prompt is empty", id="empty prompt"),
        pytest.param(lambda: read_prompt(prompt=" \n", messages=None), "prompt is empty", id="blank prompt"),
        pytest.param(lambda: read_prompt(prompt=[], messages=None), "prompt is empty: it must hold", id="empty list"),
        pytest.param(
            lambda: read_prompt(prompt=None, messages=[]), "messages is empty: it must hold", id="no messages"
        ),
        pytest.param(
            lambda: read_prompt(prompt=None, messages=CRITIC),
            r"messages\[1\]\.role must be one of .* not 'critic'",
            id="unknown role",
        ),
        pytest.param(
            lambda: read_prompt(prompt=[{"role": "user", "content": [{"type": "text"}]}], messages=None),
            r"prompt\[0\]\.content\[0\] lacks 'text'",
            id="a part without its text",
        ),
        pytest.param(
            lambda: read_prompt(prompt=None, messages=[{"role": "user", "content": ""}]),
            r"messages\[0\]\.content is empty",
            id="empty user message",
        ),
        pytest.param(
            lambda: read_prompt(prompt=None, messages=[user("a"), SystemMessage(content="b")]),
            r"messages\[1\] is a system message: put it into instructions",
            id="system message",
        ),
        pytest.param(
            lambda: read_messages({"role": "user", "content": "a"}),  # type: ignore[arg-type]  # that is the fault
            "messages must be a list of messages, not an object",
            id="one message",
        ),
        pytest.param(
            lambda: read_instructions({"role": "user", "content": "a"}), "instructions.role", id="user instructions"
        ),
        pytest.param(
            lambda: read_instructions([SystemMessage(content="a"), {"role": "system", "content": 5}]),
            r"instructions\[1\]\.content must be a text",
            id="instructions that are no text",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused_before_anything_is(read: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidPromptError, match=message):
        read()


def test_system_messages_inside_messages_are_for_those_who_allow_them() -> None:
    messages: list[Message] = [SystemMessage(content="s"), user("u")]

    assert read_prompt(prompt=None, messages=messages, allow_system_in_messages=True) == tuple(messages)


@pytest.mark.parametrize(
    ("instructions", "expected"),
    [
        pytest.param(None, (), id="none"),
        pytest.param("", (), id="empty"),
        pytest.param("a", (SystemMessage(content="a"),), id="text"),
        pytest.param(SystemMessage(content="a"), (SystemMessage(content="a"),), id="message"),
        pytest.param({"role": "system", "content": "a"}, (SystemMessage(content="a"),), id="dict"),
        pytest.param(
            [
                {"role": "system", "content": "a", "providerOptions": {"acme": {"cache": True}}},
                SystemMessage(content="b"),
            ],
            (SystemMessage(content="a", provider_options={"acme": {"cache": True}}), SystemMessage(content="b")),
            id="list",
        ),
    ],
)
def test_instructions_become_system_messages(
    instructions: InstructionsInput | None, expected: tuple[SystemMessage, ...]
) -> None:
    assert read_instructions(instructions) == expected


def test_instructions_go_before_messages_and_system_messages_stay_in_place() -> None:
    messages = (user("Hi"), SystemMessage(content="Switch tone."), user("Go on"))

    prompt = model_prompt([SystemMessage(content="Base.")], messages)

    assert prompt == (SystemMessage(content="Base."), *messages)


@pytest.mark.parametrize(
    ("messages", "prompt"),
    [
        pytest.param(
            [calls("a", "b"), results("a"), results("b")],
            (calls("a", "b"), results("a", "b")),
            id="tool messages in a row are one",
        ),
        pytest.param(
            [
                calls("a", "b"),
                ToolMessage(content=(result("a"),), provider_options={"acme": {"cache": 1}}),
                ToolMessage(content=(result("b"),), provider_options={"acme": {"cache": 2}}),
            ],
            (
                calls("a", "b"),
                ToolMessage(
                    content=(result("a", acme={"cache": 1}), result("b")), provider_options={"acme": {"cache": 2}}
                ),
            ),
            id="options of a merged message stay with its last part",
        ),
        pytest.param(
            [
                calls("a", "b"),
                ToolMessage(
                    content=(result("a", acme={"x": 1}),), provider_options={"acme": {"x": 2, "y": 2}, "b": {}}
                ),
                results("b"),
            ],
            (
                calls("a", "b"),
                ToolMessage(content=(result("a", acme={"x": 1, "y": 2}, b={}), result("b"))),
            ),
            id="where they disagree the part's own hold",
        ),
        pytest.param(
            [
                AssistantMessage(content=(call("a"), ToolApprovalRequestPart(approval_id="p", tool_call_id="a"))),
                ToolMessage(content=(ToolApprovalResponsePart(approval_id="p", approved=True), result("a"))),
            ],
            (calls("a"), results("a")),
            id="approvals are not for the model",
        ),
        pytest.param(
            [
                AssistantMessage(content=(call("a", provider_executed=True),)),
                ToolMessage(
                    content=(ToolApprovalResponsePart(approval_id="p", approved=True, provider_executed=True),)
                ),
            ],
            (
                AssistantMessage(content=(call("a", provider_executed=True),)),
                ToolMessage(content=(ToolApprovalResponsePart(approval_id="p", approved=True),)),
            ),
            id="approvals of what the provider executes are",
        ),
        pytest.param(
            [
                user("a"),
                AssistantMessage(content=(TextPart(text=""), ReasoningPart(text=""))),
                AssistantMessage(content=(TextPart(text="", provider_options={"acme": {"id": 1}}),)),
                UserMessage(content=(TextPart(text=""), TextPart(text="b"))),
            ],
            (
                user("a"),
                AssistantMessage(content=(ReasoningPart(text=""),)),
                AssistantMessage(content=(TextPart(text="", provider_options={"acme": {"id": 1}}),)),
                user("b"),
            ),
            id="empty texts go, but not their options, and not empty reasoning",
        ),
        pytest.param(
            [
                user("a"),
                AssistantMessage(content=()),
                UserMessage(content=(TextPart(text=""),)),
                ToolMessage(content=(ToolApprovalResponsePart(approval_id="p", approved=True),)),
            ],
            (user("a"),),
            id="messages in which nothing is left go",
        ),
        pytest.param(
            [
                SystemMessage(content="s", provider_options={"onion": {"x": 1}}),
                UserMessage(
                    content=(TextPart(text="u", provider_options={"acme": {"y": 1}, "onion": {"x": 1}}),),
                    provider_options={"onion": {"x": 1}},
                ),
            ],
            (
                SystemMessage(content="s"),
                UserMessage(content=(TextPart(text="u", provider_options={"acme": {"y": 1}}),)),
            ),
            id="options that are ours go",
        ),
    ],
)
def test_a_model_is_sent_what_it_understands(messages: Sequence[Message], prompt: tuple[Message, ...]) -> None:
    assert model_prompt([], messages) == prompt


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([user("q"), calls("c1"), user("and?")], id="before the next user message"),
        pytest.param([calls("c1"), SystemMessage(content="s"), results("c1")], id="before the next system message"),
        pytest.param([user("q"), calls("c1")], id="at the end"),
        pytest.param([calls("c0", "c1"), results("c0")], id="one of two"),
        pytest.param(
            [calls("c1"), ToolMessage(content=(ToolApprovalResponsePart(approval_id="p", approved=True),))],
            id="approved but not run",
        ),
    ],
)
def test_a_call_without_a_result_is_not_sent(messages: Sequence[Message]) -> None:
    with pytest.raises(MissingToolResultsError, match="no result for the tool calls 'c1' of 't'") as caught:
        model_prompt([], messages)

    assert caught.value.tool_call_ids == ("c1",)


TURNS: tuple[tuple[Message, ...], ...] = (
    (user("a"),),
    (calls("a"), results("a")),
    (calls("a", "b"), results("b"), results("a")),
    (results("x"),),
    (AssistantMessage(content=()),),
    (AssistantMessage(content=(TextPart(text="t"), call("p", provider_executed=True))),),
)


@given(st.lists(st.lists(st.sampled_from(TURNS), max_size=3), min_size=1, max_size=4))
@settings(max_examples=60)
def test_a_prompt_written_in_steps_is_the_prompt_written_at_once(steps: list[list[tuple[Message, ...]]]) -> None:
    instructions = [SystemMessage(content="s")]
    writer = PromptWriter()
    messages: tuple[Message, ...] = ()

    for step in steps:
        messages += tuple(message for turn in step for message in turn)
        assert writer.write(instructions, messages) == model_prompt(instructions, messages)


def test_a_writer_starts_over_when_the_messages_do_not_continue() -> None:
    writer = PromptWriter()
    writer.write([], (user("a"), user("b")))

    assert writer.write([], (user("b"),)) == (user("b"),)
    assert writer.write([], (user("b"), user("c"))) == (user("b"), user("c"))


def test_a_writer_goes_on_after_a_call_without_a_result() -> None:
    writer = PromptWriter()
    with pytest.raises(MissingToolResultsError):
        writer.write([], (user("a"), calls("c")))

    assert writer.write([], (user("a"), calls("c"), results("c"))) == (user("a"), calls("c"), results("c"))


def test_what_was_written_before_is_not_written_again() -> None:
    writer = PromptWriter()
    messages = (user("a"), AssistantMessage(content=(TextPart(text="b"), TextPart(text=""))))

    first = writer.write([], messages)
    second = writer.write([], (*messages, user("c")))

    assert all(one is other for one, other in zip(first, second, strict=False))
