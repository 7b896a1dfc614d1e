"""Structured output through whole runs: what views and values give, and how it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import pytest
from pydantic import AfterValidator, BaseModel

from onion import Output, generate_text, stream_text
from onion.errors import JSONParseError, NoObjectGeneratedError, TypeValidationError, UnsupportedFunctionalityError
from onion.spec import FinishPart, FinishReason, InputTokens, OutputTokens, TextDelta, TextEnd, TextStart, Usage
from onion.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec import StreamPart, UnifiedFinishReason

USAGE = Usage(input_tokens=InputTokens(total=9), output_tokens=OutputTokens(total=16))


def answer(deltas: Sequence[str], *, reason: UnifiedFinishReason = "stop", block: str = "a") -> list[StreamPart]:
    return [
        TextStart(id=block),
        *(TextDelta(id=block, delta=delta) for delta in deltas),
        TextEnd(id=block),
        FinishPart(finish_reason=FinishReason(unified=reason), usage=USAGE),
    ]


class Answer(BaseModel):
    name: str
    tags: list[str]


async def test_a_validator_with_an_effect_runs_once_however_often_the_output_is_read() -> None:
    calls: list[int] = []

    def add_one(n: int) -> int:
        calls.append(n)
        return n + 1

    class Counted(BaseModel):
        n: Annotated[int, AfterValidator(add_one)]

    model = ScriptedModel([answer(["{", '"n"', ":", "4", "1", "}"])])
    result = stream_text(model=model, prompt="p", output=Counted)

    partials = [partial async for partial in result.partial_output_stream]
    first, second, text = await result.output, await result.output, await result.text

    assert partials == [{}, {"n": 4}, {"n": 41}]
    assert first.n == 42
    assert second is first
    assert text == '{"n":41}'
    assert calls == [41]


async def test_elements_and_partials_of_one_array_are_validated_together_and_once() -> None:
    calls: list[str] = []

    def shout(name: str) -> str:
        calls.append(name)
        return name.upper()

    class Named(BaseModel):
        name: Annotated[str, AfterValidator(shout)]

    model = ScriptedModel([answer(['{"elements":[{"name":"a"},', '{"name":"b"}', "]}"])])
    result = stream_text(model=model, prompt="p", output=Output.array(Named))
    elements, partials = result.element_stream, result.partial_output_stream

    names = [element.name async for element in elements if isinstance(element, Named)]
    shown = [partial async for partial in partials]
    output = await result.output

    assert names == ["A", "B"]
    assert shown == [[], output[:1], output]
    assert [named.name for named in output] == ["A", "B"]
    assert calls == ["a", "b"]


async def test_too_many_elements_end_the_element_stream_only() -> None:
    model = ScriptedModel([answer(['{"elements":["a",', '"b","c"]}'])])
    result = stream_text(model=model, prompt="p", output=Output.array(str, max_items=1))
    elements, partials, texts = result.element_stream, result.partial_output_stream, result.text_stream
    taken: list[object] = []

    with pytest.raises(TypeValidationError, match="at most 1"):
        taken.extend([element async for element in elements])

    assert [partial async for partial in partials] == [[], ["a", "b", "c"]]
    assert "".join([text async for text in texts]) == '{"elements":["a","b","c"]}'
    with pytest.raises(NoObjectGeneratedError):
        await result.output


async def test_an_answer_that_is_cut_off_shows_partials_and_is_no_object() -> None:
    model = ScriptedModel([answer(['{"name":"Ann","tags":["a","b'], reason="length")])
    result = stream_text(model=model, prompt="p", output=Answer)

    partials = [partial async for partial in result.partial_output_stream]
    with pytest.raises(NoObjectGeneratedError) as caught:
        await result.output

    error = caught.value
    assert partials == [{"name": "Ann", "tags": ["a", "b"]}]
    assert (error.finish_reason, error.text) == ("length", '{"name":"Ann","tags":["a","b')
    assert error.usage is not None
    assert (error.usage.input_tokens, error.usage.output_tokens) == (9, 16)
    assert isinstance(error.__cause__, JSONParseError)
    assert len(error.steps) == 1
    assert len(model.calls) == 1


async def test_generate_raises_what_a_stream_keeps_for_its_output() -> None:
    broken = answer(["no json"])

    with pytest.raises(NoObjectGeneratedError) as raised:
        await generate_text(model=ScriptedModel([broken]), prompt="p", output=Answer)
    result = stream_text(model=ScriptedModel([broken]), prompt="p", output=Answer)
    text = await result.text
    with pytest.raises(NoObjectGeneratedError) as kept:
        await result.output

    assert text == "no json"
    assert str(raised.value) == str(kept.value)
    assert raised.value.text == kept.value.text
    assert [step.content for step in raised.value.steps] == [step.content for step in kept.value.steps]


async def test_partials_are_those_of_the_step_that_is_running() -> None:
    model = ScriptedModel([answer(['{"name":"Ann","tags":[]}'])])
    result = stream_text(model=model, prompt="p", output=Answer)
    first, second = result.partial_output_stream, result.partial_output_stream

    ahead = [partial async for partial in first]
    behind = [partial async for partial in second]

    assert ahead == behind == [{"name": "Ann", "tags": []}]


async def test_only_an_array_has_an_element_stream() -> None:
    result = stream_text(model=ScriptedModel([answer(["{}"])]), prompt="p", output=Output.json())

    with pytest.raises(UnsupportedFunctionalityError, match="array"):
        _ = result.element_stream

    assert await result.output == {}


async def test_what_is_asked_of_the_model_is_the_format_of_the_output() -> None:
    model = ScriptedModel([answer(['{"result":"yes"}'])])
    output = Output.choice(["yes", "no"], name="decision")

    result = await generate_text(model=model, prompt="p", output=output)

    assert result.output == "yes"
    assert model.params[0].response_format == output.response_format
