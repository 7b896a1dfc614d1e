"""SmoothStream: even pieces, nothing lost, whatever the provider's pieces are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError
from onion.middleware import SmoothStream
from onion.middleware.smooth_stream import Chunking
from onion.spec import (
    FinishPart,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamPart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    Usage,
)
from onion.streaming import collect
from onion.testing import Raise, ScriptedModel
from onion.testing.scripted import ScriptPart
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, FakeSleep, parts_of, under_test

FINISH = FinishPart(finish_reason=FinishReason(unified="stop"), usage=Usage())


def block(*deltas: str) -> list[StreamPart]:
    """One block of text in these pieces."""
    return [TextStart(id="t"), *(TextDelta(id="t", delta=delta) for delta in deltas), TextEnd(id="t"), FINISH]


async def smoothed(layer: SmoothStream, script: list[ScriptPart]) -> list[StreamPart]:
    """What comes out when the model streams *script*."""
    return await parts_of(under_test(ScriptedModel([script]), layer))


def texts(parts: list[StreamPart]) -> list[str]:
    """The pieces of text among *parts*."""
    return [part.delta for part in parts if isinstance(part, TextDelta)]


def by_eight(text: str) -> str | None:
    """Eight characters, or what there is."""
    return text[:8] or None


@pytest.mark.parametrize(
    ("chunking", "pieces"),
    [
        pytest.param("word", ["one ", "two  ", "three\n\n", "four"], id="words with the white space after them"),
        pytest.param("line", ["one two  three\n\n", "four"], id="lines with all their line breaks"),
        pytest.param(re.compile("e"), ["one", " two  thre", "e", "\n\nfour"], id="a pattern"),
        pytest.param(by_eight, ["one two ", " three\n\n", "four"], id="a function"),
    ],
)
async def test_text_is_handed_out_in_pieces(chunking: Chunking, pieces: list[str]) -> None:
    parts = await smoothed(SmoothStream(delay=0, chunking=chunking), [*block("one two  three\n\nfour")])

    assert texts(parts) == pieces


async def test_a_piece_waits_until_it_is_whole() -> None:
    parts = await smoothed(SmoothStream(delay=0), [*block("he", "llo wi", "de ", "world")])

    assert texts(parts) == ["hello ", "wide ", "world"]


async def test_each_piece_is_followed_by_the_delay() -> None:
    sleep = FakeSleep()

    await smoothed(SmoothStream(delay=0.5, sleep=sleep), [*block("one two three ", "four")])

    assert sleep.waits == [0.5, 0.5, 0.5]


async def test_other_parts_come_after_the_text_that_waits() -> None:
    call = ToolCall(tool_call_id="c", tool_name="f", input="{}")
    script: list[ScriptPart] = [TextStart(id="t"), TextDelta(id="t", delta="half"), call, TextEnd(id="t"), FINISH]

    parts = await smoothed(SmoothStream(delay=0), script)

    assert parts == [*script]


async def test_blocks_do_not_mix() -> None:
    script: list[ScriptPart] = [
        ReasoningStart(id="0"),
        TextStart(id="0"),
        ReasoningDelta(id="0", delta="think"),
        TextDelta(id="0", delta="say"),
        ReasoningDelta(id="0", delta="ing"),
        ReasoningEnd(id="0"),
        TextEnd(id="0"),
        FINISH,
    ]

    parts = await smoothed(SmoothStream(delay=0), script)

    assert parts == [*script]


async def test_provider_metadata_of_a_delta_is_kept() -> None:
    signed = TextDelta(id="t", delta="", provider_metadata={"acme": {"signature": "s"}})
    script: list[ScriptPart] = [TextStart(id="t"), TextDelta(id="t", delta="a b"), signed, TextEnd(id="t"), FINISH]
    model = under_test(ScriptedModel([script]), SmoothStream(delay=0))

    result = await collect(await model.do_stream(ASK))

    assert [(part.type, part.provider_metadata) for part in result.content] == [("text", {"acme": {"signature": "s"}})]


async def test_what_waits_comes_out_before_a_failure() -> None:
    model = under_test(
        ScriptedModel([[TextStart(id="t"), TextDelta(id="t", delta="par"), Raise(ValueError("cut"))]]),
        SmoothStream(delay=0),
    )
    stream = await model.do_stream(ASK)
    reader = aiter(stream)

    seen = [await anext(reader), await anext(reader)]

    assert texts(seen) == ["par"]
    with pytest.raises(ValueError, match="cut"):
        await anext(reader)


async def test_a_failure_with_nothing_waiting_just_passes() -> None:
    model = under_test(ScriptedModel([[TextStart(id="t"), Raise(ValueError("cut"))]]), SmoothStream(delay=0))

    with pytest.raises(ValueError, match="cut"):
        await parts_of(model)


async def test_what_waits_comes_out_when_a_stream_just_ends() -> None:
    script: list[ScriptPart] = [TextStart(id="t"), TextDelta(id="t", delta="half")]
    model = wrap_language_model(ScriptedModel([script]), SmoothStream(delay=0))

    assert await parts_of(model) == [*script]


@given(cuts=st.lists(st.text(alphabet="ab \n", max_size=5), max_size=8))
async def test_the_text_is_the_same_under_every_chunking(cuts: list[str]) -> None:
    whole, lines = SmoothStream(delay=0), SmoothStream(delay=0, chunking="line")

    by_word, by_line = await smoothed(whole, [*block(*cuts)]), await smoothed(lines, [*block(*cuts)])

    assert "".join(texts(by_word)) == "".join(texts(by_line)) == "".join(cuts)


async def test_a_function_that_would_lose_text_is_an_error() -> None:
    layer = SmoothStream(delay=0, chunking=lambda _: "other")

    with pytest.raises(InvalidArgumentError, match="beginning of the text"):
        await smoothed(layer, [*block("text")])


@pytest.mark.parametrize("chunking", ["words", "", re.compile("x*")], ids=["unknown word", "empty", "matches nothing"])
def test_a_chunking_that_finds_no_piece_is_refused(chunking: Chunking) -> None:
    with pytest.raises(InvalidArgumentError, match="chunking must be"):
        SmoothStream(chunking=chunking)


@pytest.mark.parametrize("delay", [-1.0, float("nan"), float("inf")])
def test_a_delay_that_is_no_time_is_refused(delay: float) -> None:
    with pytest.raises(InvalidArgumentError, match="delay must be"):
        SmoothStream(delay=delay)


def test_its_repr_shows_its_settings() -> None:
    assert repr(SmoothStream(delay=0, chunking="line")) == "SmoothStream(delay=0, chunking='line')"
