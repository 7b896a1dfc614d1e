from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError
from onion.middleware import ExtractReasoning
from onion.middleware.extract_reasoning import tag_position
from onion.spec import (
    Content,
    ErrorPart,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamPart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
)
from onion.streaming import collect
from onion.testing import Raise, ScriptedModel, answer, call, parts
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, UNAVAILABLE, parts_of, under_test

THINK = ExtractReasoning("think")
FROM_START = ExtractReasoning("think", start_with_reasoning=True)


async def whole(text: str, layer: ExtractReasoning) -> tuple[Content, ...]:
    return (await under_test(ScriptedModel([answer(text)]), layer).do_generate(ASK)).content


async def streamed(pieces: list[str], layer: ExtractReasoning) -> tuple[Content, ...]:
    return (await collect(await under_test(ScriptedModel([parts(*pieces)]), layer).do_stream(ASK))).content


def said(*content: str) -> tuple[Content, ...]:
    """``"?plan"`` is reasoning, anything else text."""
    return tuple(Reasoning(text=part[1:]) if part.startswith("?") else Text(text=part) for part in content)


TEXTS = [
    (THINK, "<think>plan it</think>The answer.", ("?plan it", "The answer.")),
    (THINK, "no tag", ("no tag",)),
    (THINK, "A<think>one</think>B<think>two\nlines</think>C", ("A\nB\nC", "?one", "?\ntwo\nlines")),
    (THINK, "<think>outer <think>inner</think> tail</think>rest", ("?outer <think>inner", " tail</think>rest")),
    (THINK, "<think>never closed", ("?never closed",)),
    (THINK, "hi <think>never closed", ("hi ", "?never closed")),
    (THINK, "<think>x</thi", ("?x</thi",)),
    (THINK, "hi <thi", ("hi <thi",)),
    (THINK, "<think></think>go", ("?", "go")),
    (THINK, "<think>x</think>", ("?x", "")),
    (THINK, "<think>", ("",)),
    (THINK, "", ("",)),
    (THINK, "<think>plan a</think>\n\nHello <b> </thinking>", ("?plan a", "\n\nHello <b> </thinking>")),
    (FROM_START, "hidden</think>shown", ("?hidden", "shown")),
    (FROM_START, "never closed", ("?never closed",)),
    (FROM_START, "", ("",)),
    (ExtractReasoning("think", separator=" | "), "a<think>x</think>b", ("a | b", "?x")),
    (
        ExtractReasoning(opening="<|think|>", closing="<|/think|>"),
        "<|think|>a.b*<|/think|>done (1+1)",
        ("?a.b*", "done (1+1)"),
    ),
]


@pytest.mark.parametrize(("layer", "text", "content"), TEXTS, ids=[repr(text) for _, text, _ in TEXTS])
async def test_text_between_tags_becomes_reasoning_in_both_modes(
    layer: ExtractReasoning, text: str, content: tuple[str, ...]
) -> None:
    assert await whole(text, layer) == said(*content)
    assert await streamed(list(text) or [""], layer) == said(*content)


tag_texts = st.lists(st.sampled_from(["<", "think", ">", "</", "<think>", "</think>", "a", "\n", "<thi"]), max_size=12)


@given(tag_texts, st.sampled_from([THINK, FROM_START]), st.data())
def test_the_content_is_the_same_however_the_text_is_cut(
    tokens: list[str], layer: ExtractReasoning, data: st.DataObject
) -> None:
    text = "".join(tokens)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    async def both() -> tuple[tuple[Content, ...], tuple[Content, ...]]:
        return await whole(text, layer), await streamed(pieces, layer)

    one, other = asyncio.run(both())

    assert one == other


@given(st.text(alphabet="<tag>", max_size=12))
def test_a_tag_is_found_where_it_stands_or_may_yet_stand(text: str) -> None:
    position = tag_position(text, "<tag>")

    assert text[position:].startswith("<tag>") or "<tag>".startswith(text[position:])
    assert "<tag>" not in text[:position]


async def test_a_stream_is_passed_on_as_it_comes_with_reasoning_before_text() -> None:
    script = parts("<th", "ink>pl", "an</thi", "nk>", "ans", "wer")

    seen = await parts_of(under_test(ScriptedModel([script]), THINK))

    assert seen[1:-1] == [
        ReasoningStart(id="reasoning-0"),
        ReasoningDelta(id="reasoning-0", delta="pl"),
        ReasoningDelta(id="reasoning-0", delta="an"),
        ReasoningEnd(id="reasoning-0"),
        TextStart(id="1"),
        TextDelta(id="1", delta="ans"),
        TextDelta(id="1", delta="wer"),
        TextEnd(id="1"),
    ]


async def test_ids_are_unique_over_blocks_and_beside_reasoning_of_the_model() -> None:
    def native(block_id: str, text: str) -> list[StreamPart]:
        return [
            ReasoningStart(id=block_id),
            ReasoningDelta(id=block_id, delta=text, provider_metadata={"a": {"n": 1}}),
            ReasoningEnd(id=block_id),
        ]

    script = parts(
        *native("reasoning-0", "first"),
        "<think>x</think>a",
        call("f"),
        "<think>y</think>b",
        call("g", id="2"),
        *native("reasoning-2", "last"),
    )

    seen = await parts_of(under_test(ScriptedModel([script]), THINK))

    starts = [part.id for part in seen if isinstance(part, ReasoningStart)]
    assert starts == ["reasoning-0", "reasoning-1", "reasoning-2", "reasoning-3"]
    assert ReasoningDelta(id="reasoning-3", delta="last", provider_metadata={"a": {"n": 1}}) in seen


async def test_other_parts_and_metadata_stay_with_what_they_belong_to() -> None:
    result = await under_test(
        ScriptedModel(
            [
                answer(
                    Reasoning(text="native"),
                    Text(text="<think>x</think>one", provider_metadata={"acme": {"k": 1}}),
                    call("f"),
                    Text(text="plain", provider_metadata={"acme": {"k": 2}}),
                    Text(text="<think>y", provider_metadata={"acme": {"k": 3}}),
                )
            ]
        ),
        THINK,
    ).do_generate(ASK)

    assert result.content == (
        Reasoning(text="native"),
        Reasoning(text="x"),
        Text(text="one", provider_metadata={"acme": {"k": 1}}),
        call("f"),
        Text(text="plain", provider_metadata={"acme": {"k": 2}}),
        Reasoning(text="y"),
        Text(text="", provider_metadata={"acme": {"k": 3}}),
    )


async def test_metadata_of_a_delta_that_is_held_back_come_with_the_text_or_its_end() -> None:
    script = parts(
        TextStart(id="x"), TextDelta(id="x", delta="<thi", provider_metadata={"a": {"n": 1}}), TextEnd(id="x")
    )
    later = parts(
        TextStart(id="x"), TextDelta(id="x", delta="<think>", provider_metadata={"a": {"n": 1}}), TextEnd(id="x")
    )

    found = [
        (await collect(await under_test(ScriptedModel([held]), THINK).do_stream(ASK))).content
        for held in (script, later)
    ]

    assert found == [
        (Text(text="<thi", provider_metadata={"a": {"n": 1}}),),
        (Text(text="", provider_metadata={"a": {"n": 1}}),),
    ]


@pytest.mark.parametrize("text", ["<think>x</thi", "hi <thi", "<think>x"])
async def test_before_a_failure_what_was_held_back_comes_and_reasoning_is_ended(text: str) -> None:
    script = (TextStart(id="x"), TextDelta(id="x", delta=text), ErrorPart(error=UNAVAILABLE), TextEnd(id="x"))
    model = wrap_language_model(ScriptedModel([script]), THINK)

    async with await model.do_stream(ASK) as stream:
        seen = [part async for part in stream]

    kinds = [part.type for part in seen]
    told = "".join(part.delta for part in seen if isinstance(part, TextDelta | ReasoningDelta))
    assert told == text.removeprefix("<think>")
    assert kinds.count("reasoning-start") == kinds.count("reasoning-end")
    assert kinds.index("error") > max(position for position, kind in enumerate(kinds) if kind.endswith("delta"))


async def test_an_iterator_that_raises_raises_through() -> None:
    model = under_test(ScriptedModel([parts("<thi", Raise(UNAVAILABLE))]), THINK)

    with pytest.raises(type(UNAVAILABLE)):
        await parts_of(model)


async def test_a_delta_or_end_without_a_start_passes() -> None:
    script = (
        TextDelta(id="x", delta="<think>"),
        TextEnd(id="x"),
        ReasoningDelta(id="r", delta="y"),
        ReasoningEnd(id="r"),
    )
    model = wrap_language_model(ScriptedModel([script]), THINK)

    async with await model.do_stream(ASK) as stream:
        seen = [part async for part in stream]

    assert seen == list(script)


@pytest.mark.parametrize(
    ("tag_name", "opening", "closing"),
    [(None, None, None), ("", None, None), ("think", "<a>", "</a>"), (None, "<a>", None), (None, "<a>", "")],
)
def test_tags_must_be_given_once_and_not_be_empty(
    tag_name: str | None, opening: str | None, closing: str | None
) -> None:
    with pytest.raises(InvalidArgumentError, match="give either tag_name, or both opening and closing"):
        ExtractReasoning(tag_name, opening=opening, closing=closing)


def test_it_shows_its_settings() -> None:
    assert repr(THINK) == "ExtractReasoning(opening='<think>', closing='</think>')"
    assert repr(FROM_START).endswith(", start_with_reasoning=True)")
