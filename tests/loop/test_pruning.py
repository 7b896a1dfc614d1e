"""prune_messages: what goes, what stays, and that nothing is torn apart."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError, InvalidPromptError
from onion.loop.pruning import ReasoningPruning, ToolCallPruning, prune_messages
from onion.spec import (
    AssistantMessage,
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


def call(call_id: str, tool: str = "f") -> ToolCallPart:
    return ToolCallPart(tool_call_id=call_id, tool_name=tool, input={})


def result(call_id: str, tool: str = "f") -> ToolResultPart:
    return ToolResultPart(tool_call_id=call_id, tool_name=tool, output=TextOutput(value="ok"))


USER = UserMessage(content=(TextPart(text="go"),))
THOUGHT = ReasoningPart(text="hm")
SAID = TextPart(text="done")
HISTORY: tuple[Message, ...] = (
    SystemMessage(content="be kind"),
    USER,
    AssistantMessage(content=(THOUGHT, call("1"), call("2", "g"))),
    ToolMessage(content=(result("1"), result("2", "g"))),
    AssistantMessage(content=(THOUGHT, SAID, call("3"))),
    ToolMessage(content=(result("3"),)),
    AssistantMessage(content=(THOUGHT, SAID)),
)


def ids(messages: Sequence[Message]) -> list[str]:
    """Ids of the calls and results that are left, in order."""
    parts = [part for m in messages if isinstance(m, AssistantMessage | ToolMessage) for part in m.content]
    return [part.tool_call_id for part in parts if isinstance(part, ToolCallPart | ToolResultPart)]


@pytest.mark.parametrize(
    ("reasoning", "left"),
    [
        pytest.param("none", [True, True, True], id="none goes"),
        pytest.param("before-last-message", [False, False, True], id="the last message keeps its own"),
        pytest.param("all", [False, False, False], id="all goes"),
    ],
)
def test_reasoning_goes_as_asked(reasoning: ReasoningPruning, left: list[bool]) -> None:
    pruned = prune_messages(HISTORY, reasoning=reasoning)

    assert [THOUGHT in m.content for m in pruned if isinstance(m, AssistantMessage)] == left


@pytest.mark.parametrize(
    ("tool_calls", "left"),
    [
        pytest.param("none", ["1", "2", "1", "2", "3", "3"], id="none goes"),
        pytest.param("all", [], id="all go"),
        pytest.param("before-last-message", [], id="the last message has none"),
        pytest.param("before-last-2-messages", ["3", "3"], id="a kept result keeps its call"),
        pytest.param("before-last-100-messages", ["1", "2", "1", "2", "3", "3"], id="more than there are"),
        pytest.param([{"type": "all", "tools": ["g"]}], ["1", "1", "3", "3"], id="of one tool"),
        pytest.param(
            [{"type": "all", "tools": ["g"]}, {"type": "before-last-2-messages"}], ["3", "3"], id="rules in turn"
        ),
        pytest.param([], ["1", "2", "1", "2", "3", "3"], id="no rules"),
    ],
)
def test_tool_calls_go_as_asked(tool_calls: ToolCallPruning, left: list[str]) -> None:
    assert ids(prune_messages(HISTORY, tool_calls=tool_calls)) == left


def test_messages_that_have_nothing_left_go_too() -> None:
    pruned = prune_messages(HISTORY, reasoning="all", tool_calls="all")

    assert pruned == (
        SystemMessage(content="be kind"),
        USER,
        AssistantMessage(content=(SAID,)),
        AssistantMessage(content=(SAID,)),
    )


def test_empty_messages_can_be_kept() -> None:
    pruned = prune_messages(HISTORY, reasoning="all", tool_calls="all", empty_messages="keep")

    assert [len(m.content) for m in pruned if not isinstance(m, SystemMessage)] == [1, 0, 0, 1, 0, 1]


def test_approvals_go_and_stay_with_their_call() -> None:
    asked = AssistantMessage(content=(call("1"), ToolApprovalRequestPart(approval_id="a", tool_call_id="1")))
    answered = ToolMessage(content=(ToolApprovalResponsePart(approval_id="a", approved=True),))
    stray = ToolMessage(content=(ToolApprovalResponsePart(approval_id="b", approved=True),))
    history = (USER, asked, answered, stray)

    assert prune_messages(history, tool_calls="before-last-2-messages") == history
    assert prune_messages(history, tool_calls="all") == (USER,)


def test_dicts_are_messages_too_and_the_given_ones_are_left_alone() -> None:
    given_messages: list[Mapping[str, object]] = [
        {"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}]},
        {"role": "user", "content": "x"},
    ]

    pruned = prune_messages(given_messages, reasoning="all")

    assert pruned == (UserMessage(content=(TextPart(text="x"),)),)
    assert len(given_messages) == 2


@given(
    lengths=st.lists(st.integers(1, 3), max_size=6),
    kept=st.integers(1, 12),
)
def test_a_call_and_its_result_go_or_stay_together(lengths: list[int], kept: int) -> None:
    history: list[Message] = [USER]
    for turn, length in enumerate(lengths):
        history.append(AssistantMessage(content=tuple(call(f"{turn}.{n}") for n in range(length))))
        history.append(ToolMessage(content=tuple(result(f"{turn}.{n}") for n in range(length))))

    left = ids(prune_messages(history, tool_calls=f"before-last-{kept}-messages"))

    assert all(left.count(call_id) == 2 for call_id in left)


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param("some", id="unknown word"),
        pytest.param("before-last-0-messages", id="zero"),
        pytest.param([{"type": "none"}], id="none as a rule"),
        pytest.param([{"tools": ["f"]}], id="no type"),
        pytest.param([{"type": "all", "names": ["f"]}], id="unknown member"),
        pytest.param(["all"], id="words in a list"),
    ],
)
def test_a_rule_that_is_none_is_refused(rule: ToolCallPruning) -> None:
    with pytest.raises(InvalidArgumentError, match="tool_calls must be"):
        prune_messages(HISTORY, tool_calls=rule)


def test_words_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="reasoning must be"):
        prune_messages(HISTORY, reasoning="some")  # type: ignore[arg-type]  # the wrong word is the point
    with pytest.raises(InvalidArgumentError, match="empty_messages must be"):
        prune_messages(HISTORY, empty_messages="drop")  # type: ignore[arg-type]  # the wrong word is the point


def test_what_is_no_message_is_named() -> None:
    with pytest.raises(InvalidPromptError, match=r"messages\[1\]"):
        prune_messages([USER, {"role": "nobody", "content": "x"}])
