"""The short ways to write an answer."""

from onion.spec import (
    FinishPart,
    FinishReason,
    InputTokens,
    OutputTokens,
    Reasoning,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    UnsupportedWarning,
    Usage,
)
from onion.testing import Raise, answer, call, parts, text, tool_call, usage


def test_an_answer_takes_strings_as_text_and_finds_its_finish_reason() -> None:
    plain = answer(Reasoning(text="hm"), "hello")
    calling = answer("look", call("search", {"q": "onion"}, id="c1"))
    searched = answer(ToolCall(tool_call_id="c1", tool_name="search", input="{}", provider_executed=True))
    cut = answer("hel", finish_reason="length", used=usage(1, 2))

    assert plain.content == (Reasoning(text="hm"), Text(text="hello"))
    assert [made.finish_reason.unified for made in (plain, calling, searched, cut)] == [
        "stop",
        "tool-calls",
        "stop",
        "length",
    ]
    assert cut.usage == Usage(
        input_tokens=InputTokens(total=1, no_cache=1), output_tokens=OutputTokens(total=2, text=2)
    )


def test_a_tool_call_carries_its_input_as_json_text() -> None:
    assert tool_call("search", {"q": "onion"}).content == (
        ToolCall(tool_call_id="call-1", tool_name="search", input='{"q": "onion"}'),
    )
    assert call("now").input == "{}"
    assert text("hi") == answer("hi")


def test_strings_in_a_row_are_the_deltas_of_one_block() -> None:
    made = parts("Hel", "lo", call("search"), "bye", used=usage())

    assert made == (
        StreamStart(),
        TextStart(id="1"),
        TextDelta(id="1", delta="Hel"),
        TextDelta(id="1", delta="lo"),
        TextEnd(id="1"),
        call("search"),
        TextStart(id="2"),
        TextDelta(id="2", delta="bye"),
        TextEnd(id="2"),
        FinishPart(finish_reason=FinishReason(unified="tool-calls"), usage=usage()),
    )


def test_a_failure_does_not_end_the_block_it_breaks() -> None:
    broken = Raise(ValueError("broken"))

    made = parts("Hel", broken)

    assert made[:4] == (StreamStart(), TextStart(id="1"), TextDelta(id="1", delta="Hel"), broken)


def test_a_start_and_a_finish_of_its_own_are_kept() -> None:
    start = StreamStart(warnings=(UnsupportedWarning(feature="seed"),))
    finish = FinishPart(finish_reason=FinishReason(unified="length", raw="max"), usage=usage())

    assert parts(start, finish) == (start, finish)
    assert parts(finish_reason="other")[-1] == FinishPart(finish_reason=FinishReason(unified="other"), usage=usage())
