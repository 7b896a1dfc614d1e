from collections.abc import Iterator
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.providers.local.answer import ToolDialect
from onion.providers.local.convert import CallMode
from onion.spec.content import Text, ToolCall
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    RawPart,
    StreamPart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from onion.spec.usage import FinishReason, UnifiedFinishReason, Usage
from onion.streaming import Collector

ADD = '{"name": "add", "arguments": {"a": 1}}'
SUB = '{"name": "sub", "arguments": {"b": 2}}'


def ids() -> Iterator[str]:
    return (f"call-{number}" for number in count(1))


def finish(unified: UnifiedFinishReason = "stop") -> FinishPart:
    return FinishPart(finish_reason=FinishReason(unified=unified, raw=unified), usage=Usage())


def parts(*texts: str, mode: CallMode = "may call", end: tuple[StreamPart, ...] = (finish(),)) -> list[StreamPart]:
    """What the dialect makes of an answer that came in *texts*."""
    names = ids()
    dialect = ToolDialect(mode, lambda: next(names))
    given = [TextStart(id="0"), *(TextDelta(id="0", delta=text) for text in texts), TextEnd(id="0"), *end]
    return [out for part in given for out in dialect.feed([part])]


def content(*texts: str, mode: CallMode = "may call") -> tuple[object, ...]:
    """The whole content, texts as they are and calls as name and input."""
    collector = Collector()
    for part in parts(*texts, mode=mode):
        collector.feed(part)
    whole = collector.result().content
    return tuple(
        part.text if isinstance(part, Text) else (part.tool_name, part.input)
        for part in whole
        if isinstance(part, Text | ToolCall)
    )


def test_text_without_a_call_stays_text() -> None:
    assert parts("Hello ", "<b>you</b>") == [
        TextStart(id="0"),
        TextDelta(id="0", delta="Hello "),
        TextDelta(id="0", delta="<b>you</b>"),
        TextEnd(id="0"),
        finish(),
    ]


def test_a_call_is_shown_while_it_arrives() -> None:
    written = ("I add. <tool", "_call>\n", '{"name": "add", "arg', 'uments": {"a"', ": 1}", "}\n</tool_call>")

    assert parts(*written) == [
        TextStart(id="0"),
        TextDelta(id="0", delta="I add. "),
        TextEnd(id="0"),
        ToolInputStart(id="call-1", tool_name="add"),
        ToolInputDelta(id="call-1", delta='{"a"'),
        ToolInputDelta(id="call-1", delta=": 1}"),
        ToolInputEnd(id="call-1"),
        ToolCall(tool_call_id="call-1", tool_name="add", input='{"a": 1}'),
        FinishPart(finish_reason=FinishReason(unified="tool-calls", raw="stop"), usage=Usage()),
    ]


def test_several_calls_and_the_text_between_them_keep_their_order() -> None:
    assert content(f"One <tool_call>{ADD}</tool_call> two <tool_call>{SUB}</tool_call>\n three") == (
        "One ",
        ("add", '{"a": 1}'),
        " two ",
        ("sub", '{"b": 2}'),
        "\n three",
    )


def test_a_repeated_call_is_made_once() -> None:
    call = f"<tool_call>{ADD}</tool_call>"

    assert content(call, "\n", call, "\n", call) == (("add", '{"a": 1}'),)


def test_white_space_alone_is_no_text() -> None:
    assert content("\n\n", f"<tool_call>{ADD}</tool_call>", "\n") == (("add", '{"a": 1}'),)


def test_white_space_before_text_belongs_to_it() -> None:
    assert content("\n", " \n", "Hello") == ("\n \nHello",)


def test_what_only_looks_like_the_beginning_of_a_call_is_text() -> None:
    assert content("a <tool", "box> and <tool_") == ("a <toolbox> and <tool_",)


def test_a_call_that_is_none_stays_text() -> None:
    assert content("See <tool_call>hello</tool_call> there") == ("See ", "<tool_call>hello", " there")


def test_a_call_that_breaks_off_is_handed_on_as_it_is() -> None:
    assert content('<tool_call>\n{"name": "add", "arguments": {"a": "x') == (("add", '{"a": "x'),)


def test_a_later_call_that_breaks_off_is_shown_too() -> None:
    assert content(f"<tool_call>{ADD}</tool_call><tool_call>{SUB[:-3]}")[1] == ("sub", '{"b": ')


def test_an_answer_that_must_be_a_call_begins_inside_of_it_and_ends_with_it() -> None:
    assert content(ADD, f"\n</tool_call>\n<tool_call>{SUB}</tool_call> more", mode="must call") == (
        ("add", '{"a": 1}'),
    )


def test_an_answer_that_must_be_a_call_but_is_none_is_text() -> None:
    assert content("I would ", "rather not.", mode="must call") == ("I would rather not.",)


@pytest.mark.parametrize("reason", ["length", "error"])
def test_another_reason_to_finish_stays(reason: UnifiedFinishReason) -> None:
    last = parts(f"<tool_call>{ADD}</tool_call>", end=(finish(reason),))[-1]

    assert last == finish(reason)


def test_a_failure_ends_what_is_open_without_a_call() -> None:
    failure = ErrorPart(error=ValueError("broken"))

    found = parts('{"name": "add", "arguments": {"a"', mode="must call", end=(failure, finish("error")))

    assert found == [
        ToolInputStart(id="call-1", tool_name="add"),
        ToolInputDelta(id="call-1", delta='{"a"'),
        ToolInputEnd(id="call-1"),
        failure,
        finish("error"),
    ]


def test_other_parts_pass() -> None:
    raw = RawPart(raw_value={})

    assert ToolDialect("may call", lambda: "id").feed([raw]) == [raw]


@given(
    pieces=st.lists(
        st.sampled_from(
            ["Hello ", "\n", f"<tool_call>\n{ADD}\n</tool_call>", f"<tool_call>{SUB}</tool_call>", "<tool_"]
        ),
        max_size=5,
    ),
    cuts=st.lists(st.integers(0, 300)),
)
def test_how_an_answer_is_cut_changes_nothing(pieces: list[str], cuts: list[int]) -> None:
    written = "".join(pieces)
    places = sorted({0, len(written), *(cut for cut in cuts if cut < len(written))})

    cut_up = content(*(written[start:end] for start, end in pairwise(places)))

    assert cut_up == content(written)
