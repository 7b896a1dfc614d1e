from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.middleware import ExtractJSON
from onion.spec import ErrorPart, GenerateResult, Reasoning, Text, TextDelta, TextEnd, TextStart
from onion.streaming import collect
from onion.testing import Raise, ScriptedModel, answer, call, parts
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, UNAVAILABLE, parts_of, under_test

TEXTS = [
    ('```json\n{"a": 1}\n```', '{"a": 1}'),
    ('```JSON\r\n{"a": 1}\r\n```\n', '{"a": 1}'),
    ('```\n{"a": 1}\n```', '{"a": 1}'),
    ('  ```json  \n  {"a": 1}  \n  ```  ', '  {"a": 1}  '),
    ('```json{"a": 1}```', '{"a": 1}'),
    ('```["a"]```', '["a"]'),
    ('```json\n{"a": "```"}\n```', '{"a": "```"}'),
    ('```json\n{"a": 1}', '{"a": 1}'),
    ('```json\n{"a": 1}\n``', '{"a": 1}\n``'),
    ('```json\n{"a": 1}\n```\nThat is it.', '{"a": 1}\n```\nThat is it.'),
    ("```py\nx=1\n```", "```py\nx=1\n```"),
    ("```javascript\nx\n```", "```javascript\nx\n```"),
    ('Here:\n```json\n{"a":1}\n```', 'Here:\n```json\n{"a":1}\n```'),
    ('  {"code":"```x```"}  ', '{"code":"```x```"}'),
    ("hello wide world", "hello wide world"),
    (' \n {"a":"one two  three"} \n', '{"a":"one two  three"}'),
    ("``", "``"),
    ("```js", "```js"),
    ("  ", ""),
    ("", ""),
]


async def whole(text: str, layer: ExtractJSON) -> str:
    return (await under_test(ScriptedModel([answer(text)]), layer).do_generate(ASK)).text


async def streamed(pieces: list[str], layer: ExtractJSON) -> str:
    return (await collect(await under_test(ScriptedModel([parts(*pieces)]), layer).do_stream(ASK))).text


@pytest.mark.parametrize(("text", "clean"), TEXTS, ids=[repr(text) for text, _ in TEXTS])
async def test_a_fence_is_taken_off_and_everything_else_stays_in_both_modes(text: str, clean: str) -> None:
    assert await whole(text, ExtractJSON()) == clean
    assert await streamed(list(text), ExtractJSON()) == clean


fence_texts = st.lists(
    st.sampled_from(["`", "``", "```", "json", "JSON", "js", "\n", "\r\n", " ", "{", "}", '"a"', "é"]), max_size=12
)


@given(fence_texts, st.data())
def test_a_text_is_the_same_however_it_is_cut(tokens: list[str], data: st.DataObject) -> None:
    text = "".join(tokens)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    async def both() -> tuple[str, str]:
        return await whole(text, ExtractJSON()), await streamed(pieces, ExtractJSON())

    one, other = asyncio.run(both())

    assert one == other


async def test_a_stream_is_passed_on_as_it_comes() -> None:
    script = parts("```json\n", '{"a":"one', " two", ' three"}', "\n```")

    seen = await parts_of(under_test(ScriptedModel([script]), ExtractJSON()))

    assert [part.delta for part in seen if isinstance(part, TextDelta)] == ['{"a":"one', " two", ' three"}']


async def test_each_text_is_looked_at_and_other_parts_stay_where_they_are() -> None:
    said = answer(
        Reasoning(text="```json"), "```json\n1\n```", call("f"), Text(text=" 2 ", provider_metadata={"a": {}})
    )

    result = await under_test(ScriptedModel([said]), ExtractJSON()).do_generate(ASK)

    assert result.content == (
        Reasoning(text="```json"),
        Text(text="1"),
        call("f"),
        Text(text="2", provider_metadata={"a": {}}),
    )


async def test_metadata_of_a_delta_pass_also_when_its_text_is_held_back() -> None:
    script = parts(TextStart(id="x"), TextDelta(id="x", delta="``", provider_metadata={"a": {"n": 1}}), TextEnd(id="x"))

    result = await collect(await under_test(ScriptedModel([script]), ExtractJSON()).do_stream(ASK))

    assert result.content == (Text(text="``", provider_metadata={"a": {"n": 1}}),)


@pytest.mark.parametrize("failure", [ErrorPart(error=UNAVAILABLE), Raise(UNAVAILABLE)], ids=["part", "raise"])
async def test_what_was_held_back_comes_before_a_failure(failure: ErrorPart | Raise) -> None:
    script = (TextStart(id="x"), TextDelta(id="x", delta='```json\n{"a": 1} '), failure, TextEnd(id="x"))
    model = wrap_language_model(ScriptedModel([script]), ExtractJSON())
    seen: list[str] = []

    async def read() -> None:
        async with await model.do_stream(ASK) as stream:
            async for part in stream:
                seen.append(part.delta if isinstance(part, TextDelta) else part.type)  # noqa: PERF401 - until it fails

    if isinstance(failure, Raise):
        with pytest.raises(type(UNAVAILABLE)):
            await read()
        assert seen == ["text-start", '{"a": 1}', " "]
    else:
        await read()
        assert seen == ["text-start", '{"a": 1}', " ", "error", "text-end"]


async def test_a_delta_or_end_without_a_start_passes() -> None:
    script = (TextDelta(id="x", delta=" a "), TextEnd(id="x"))
    model = wrap_language_model(ScriptedModel([script]), ExtractJSON())

    async with await model.do_stream(ASK) as stream:
        seen = [part async for part in stream]

    assert seen == list(script)


async def test_a_transform_of_the_users_own_gets_whole_texts() -> None:
    told: list[str] = []

    def transform(text: str) -> str:
        told.append(text)
        return text.replace("<out>", "").replace("</out>", "")

    results: list[GenerateResult] = []
    for ask in ("generate", "stream"):
        model = under_test(ScriptedModel([parts("<o", 'ut>{"a":1}</out> ')]), ExtractJSON(transform))
        results.append(await (model.do_generate(ASK) if ask == "generate" else collect(await model.do_stream(ASK))))

    assert told == ['<out>{"a":1}</out> '] * 2
    assert [result.text for result in results] == ['{"a":1} '] * 2


def test_it_shows_its_settings() -> None:
    assert repr(ExtractJSON()) == "ExtractJSON()"
    assert repr(ExtractJSON(str.strip)) == "ExtractJSON(transform=…)"
