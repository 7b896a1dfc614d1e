"""Messages: roles that alternate, results behind their calls, system messages in their place, nothing blank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import objects_in, text_in
from onion.providers.anthropic.traits import traits_of
from onion.spec.call import CallOptions
from onion.spec.prompt import (
    AssistantMessage,
    FilePart,
    FileURL,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CompatibilityWarning, UnsupportedWarning
from tests.providers.anthropic.bodies import messages_of, request, text

if TYPE_CHECKING:
    from onion.spec.base import JsonValue, ProviderOptions
    from onion.spec.prompt import Message

MARK: ProviderOptions = {"anthropic": {"cacheControl": {"type": "ephemeral", "ttl": "1h"}}}
MARKED: dict[str, JsonValue] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
OLDER = traits_of("claude-sonnet-4-5")


def user(*said: str, options: ProviderOptions | None = None) -> UserMessage:
    return UserMessage(content=tuple(TextPart(text=each) for each in said), provider_options=options)


def assistant(*said: str) -> AssistantMessage:
    return AssistantMessage(content=tuple(TextPart(text=each) for each in said))


def calls(*ids: str) -> AssistantMessage:
    return AssistantMessage(content=tuple(ToolCallPart(tool_call_id=each, tool_name="t", input={}) for each in ids))


def results(*ids: str) -> ToolMessage:
    return ToolMessage(content=tuple(map(result, ids)))


def result(call_id: str) -> ToolResultPart:
    return ToolResultPart(tool_call_id=call_id, tool_name="t", output=TextOutput(value=call_id))


def outline(*prompt: Message) -> list[tuple[str, list[str]]]:
    """Roles, with the texts, call ids and ids of results."""
    told: list[tuple[str, list[str]]] = []
    for message in messages_of(*prompt):
        names = [
            str(block.get("text") or block.get("id") or block.get("tool_use_id") or block["type"])
            for block in objects_in(message, "content")
        ]
        told.append((text_in(message, "role"), names))
    return told


def test_neighbours_of_one_role_become_one_message() -> None:
    told = outline(user("a"), user("b", "c"), assistant("d"), assistant("e"), user("f"))

    assert told == [("user", ["a", "b", "c"]), ("assistant", ["d", "e"]), ("user", ["f"])]


def test_all_results_of_a_turn_stand_first_and_in_the_order_of_the_calls() -> None:
    told = outline(user("go"), calls("p", "q", "r"), results("r"), results("p", "q"), user("and now?"))

    assert told[2] == ("user", ["p", "q", "r", "and now?"])


def test_results_go_behind_their_calls_wherever_they_stand() -> None:
    told = outline(user("go"), calls("p"), user("hm"), assistant("well"), calls("q"), results("q", "p"))

    assert told == [
        ("user", ["go"]),
        ("assistant", ["p"]),
        ("user", ["p", "hm"]),
        ("assistant", ["well", "q"]),
        ("user", ["q"]),
    ]


def test_a_result_without_its_call_is_sent_for_the_server_to_judge() -> None:
    assert outline(results("x"), user("a")) == [("user", ["x", "a"])]
    assert outline(user("a"), results("x")) == [("user", ["x", "a"])]
    assert outline(user("a"), assistant("b"), results("x")) == [("user", ["a"]), ("assistant", ["b"]), ("user", ["x"])]


def test_ids_of_other_providers_are_made_to_fit_and_stay_different() -> None:
    told = outline(
        user("go"),
        calls("functions.look:0", "functions.look_0", ""),
        results("functions.look_0", "functions.look:0", ""),
    )

    assert told[1] == ("assistant", ["functions_look_0", "functions_look_0_", "_"])
    assert told[2] == ("user", ["functions_look_0", "functions_look_0_", "_"])


def test_answers_to_approval_requests_are_no_content() -> None:
    answer = ToolMessage(content=(ToolApprovalResponsePart(approval_id="a", approved=True),))

    assert outline(user("a"), answer) == [("user", ["a"])]


def test_blank_texts_go_and_everything_else_stays() -> None:
    image = FilePart(media_type="image/png", data=FileURL(url="https://h/i.png"))
    shown = UserMessage(content=(TextPart(text=" \n"), image, TextPart(text="look"), TextPart(text="")))

    told = outline(shown, AssistantMessage(content=(TextPart(text=""), *calls("z").content)), results("z"), user(" "))

    assert told == [("user", ["image", "look"]), ("assistant", ["z"]), ("user", ["z"])]
    assert outline(user("a"), AssistantMessage(content=()), SystemMessage(content=" ")) == [("user", ["a"])]


def test_an_answer_to_be_continued_does_not_end_in_blanks() -> None:
    assert outline(user("a"), assistant("b \n"), user("c"), assistant("d\n")) == [
        ("user", ["a"]),
        ("assistant", ["b \n"]),
        ("user", ["c"]),
        ("assistant", ["d"]),
    ]
    assert outline(user("a"), calls("p")) == [("user", ["a"]), ("assistant", ["p"])]


def test_what_the_prompt_begins_with_is_the_system_prompt() -> None:
    sent = request(CallOptions(prompt=(SystemMessage(content="S1"), SystemMessage(content="S2"), user("a"))))

    assert sent.body["system"] == [text("S1"), text("S2")]
    assert sent.body["messages"] == [{"role": "user", "content": [text("a")]}]


def test_a_system_message_behind_a_user_stays_one_where_the_model_takes_it() -> None:
    prompt = (user("a"), SystemMessage(content="S1"), SystemMessage(content="S2"), assistant("b"), user("c"))
    last = (user("a"), SystemMessage(content="S1"))

    assert outline(*prompt)[1] == ("system", ["S1", "S2"])
    assert outline(*last)[1] == ("system", ["S1"])
    sent = request(CallOptions(prompt=last), traits=OLDER)
    assert sent.body["messages"] == [{"role": "user", "content": [text("a"), text("<system>\nS1\n</system>")]}]
    assert [type(warning) for warning in sent.warnings] == [CompatibilityWarning]


def test_a_system_message_elsewhere_is_a_marked_text_in_its_place() -> None:
    prompt = (
        user("u1"),
        assistant("a1"),
        SystemMessage(content="S3"),
        user("u2"),
        SystemMessage(content="S4"),
        user("u3"),
    )

    sent = request(CallOptions(prompt=prompt))

    assert outline(*prompt)[2] == ("user", ["<system>\nS3\n</system>", "u2", "<system>\nS4\n</system>", "u3"])
    assert len(sent.warnings) == 1
    assert "system" not in sent.body


def test_results_pass_a_system_message_that_stands_before_them() -> None:
    told = outline(user("a"), calls("p"), SystemMessage(content="S"), results("p"))

    assert told == [("user", ["a"]), ("assistant", ["p"]), ("user", ["p"]), ("system", ["S"])]


# --- marks for the cache -------------------------------------------------------------------------------------------


def test_marks_of_messages_parts_and_results_go_onto_their_blocks() -> None:
    prompt = (
        SystemMessage(content="S", provider_options=MARK),
        user("a", "b", options=MARK),
        AssistantMessage(content=(ToolCallPart(tool_call_id="p", tool_name="t", input={}, provider_options=MARK),)),
        ToolMessage(content=(result("p"), result("q")), provider_options=MARK),
    )

    sent = request(CallOptions(prompt=prompt))

    assert sent.body["system"] == [text("S", **MARKED)]
    messages = objects_in(sent.body, "messages")
    marked = [["cache_control" in block for block in objects_in(message, "content")] for message in messages]
    assert marked == [[False, True], [True], [False, True]]
    assert sent.warnings == ()


def test_a_part_that_is_marked_is_not_marked_twice() -> None:
    part = TextPart(text="a", provider_options={"anthropic": {"cache_control": {"type": "ephemeral"}}})

    messages = messages_of(UserMessage(content=(part,), provider_options=MARK))

    assert messages == [{"role": "user", "content": [text("a", cache_control={"type": "ephemeral"})]}]


def test_more_marks_than_the_api_takes_are_left_out_with_a_warning() -> None:
    options: ProviderOptions = {"anthropic": {"cacheControl": {"type": "ephemeral"}}}
    parts = tuple(TextPart(text=str(number), provider_options=MARK) for number in range(5))

    sent = request(CallOptions(prompt=(UserMessage(content=parts),), provider_options=options))

    assert sent.body["cache_control"] == {"type": "ephemeral"}
    assert str(sent.body["messages"]).count("cache_control") == 3
    assert [warning for warning in sent.warnings if isinstance(warning, UnsupportedWarning)] == list(sent.warnings)
    assert len(sent.warnings) == 1


def test_reasoning_cannot_be_marked() -> None:
    options: ProviderOptions = {"anthropic": {"signature": "S", **MARK["anthropic"]}}
    thought = AssistantMessage(content=(ReasoningPart(text="t", provider_options=options), TextPart(text="x")))

    sent = request(CallOptions(prompt=(user("a"), thought)))

    assert "cache_control" not in str(sent.body)
    assert len(sent.warnings) == 1
