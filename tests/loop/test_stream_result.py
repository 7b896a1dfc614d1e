"""The values of a streamed run, and its partial outputs and elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from onion import Output, generate_text, stream_text, tool
from onion.errors import NoObjectGeneratedError, OnionError, TypeValidationError, UnsupportedFunctionalityError
from onion.spec import Reasoning, URLSource
from onion.spec.parts import ErrorPart
from onion.spec.usage import OtherWarning
from onion.testing import Raise, ScriptedModel, answer, parts, text, tool_call

if TYPE_CHECKING:
    from onion import StreamTextResult


@dataclass
class Item:
    name: str


@tool
def ping() -> str:
    """Answer."""
    return "pong"


def rich() -> ScriptedModel:
    made = answer(Reasoning(text="hm"), URLSource(id="s", url="https://example.test/"), "words")
    return ScriptedModel([made])


async def test_every_value_is_that_of_the_same_run_as_a_whole() -> None:
    whole = await generate_text(model=rich(), prompt="p")
    result = stream_text(model=rich(), prompt="p")

    assert await result.text == whole.text
    assert await result.reasoning == whole.reasoning
    assert await result.reasoning_text == whole.reasoning_text == "hm"
    assert await result.content == whole.content
    assert await result.sources == whole.sources
    assert await result.files == whole.files == ()
    assert await result.tool_calls == whole.tool_calls == ()
    assert await result.tool_results == whole.tool_results == ()
    assert await result.finish_reason == whole.finish_reason
    assert await result.raw_finish_reason == whole.raw_finish_reason
    assert await result.usage == whole.usage
    assert await result.warnings == whole.warnings
    assert await result.response_messages == whole.response_messages
    assert await result.provider_metadata == whole.provider_metadata
    assert await result.request == whole.request
    assert (await result.response).model_id == whole.response.model_id
    assert (await result.final_step).content == whole.final_step.content
    assert await result.output == whole.output
    assert await result.callback_errors == whole.callback_errors == ()
    assert len(await result.steps) == 1


async def test_a_long_text_is_cut_in_the_repr() -> None:
    result = await generate_text(model=ScriptedModel([text("x" * 100)]), prompt="p")

    assert "x" * 60 + "…" in repr(result)
    assert "x" * 61 not in repr(result)


async def test_the_state_of_a_stream_shows_in_its_repr() -> None:
    result = stream_text(model=rich(), prompt="p")
    view = result.text_stream
    unread = repr(result)

    await anext(view)

    assert (unread, repr(result)) == ("StreamTextResult(unread)", "StreamTextResult(being read)")


async def test_warnings_are_those_of_all_steps() -> None:
    from dataclasses import replace

    warned = replace(text("a"), warnings=(OtherWarning(message="careful"),))

    result = await generate_text(model=ScriptedModel([warned]), prompt="p")

    assert result.warnings == (OtherWarning(message="careful"),)


def items(*pieces: str, max_items: int | None = None) -> StreamTextResult[list[Item]]:
    model = ScriptedModel([parts(*pieces)])
    return stream_text(model=model, prompt="p", output=Output.array(Item, max_items=max_items))


async def test_partial_outputs_grow_and_elements_come_when_they_are_whole() -> None:
    result = items('{"elements":[{"name":"a"},', '{"name":', '"b"}]}')
    partials, more, elements, texts = (
        result.partial_output_stream,
        result.partial_output_stream,
        result.element_stream,
        result.text_stream,
    )

    grown = [partial async for partial in partials]

    assert [element async for element in elements] == [Item(name="a"), Item(name="b")]
    assert grown == [partial async for partial in more]
    assert len(grown) > 1
    assert len([piece async for piece in texts]) == 3
    assert await result.output == [Item(name="a"), Item(name="b")]
    assert await result.output is await result.output


async def test_too_many_elements_end_the_element_stream_with_an_error() -> None:
    result = items('{"elements":[{"name":"a"},{"name":"b"}', "]}", max_items=1)
    elements = result.element_stream

    assert await anext(elements) == Item(name="a")
    with pytest.raises(TypeValidationError):
        await anext(elements)
    assert await result.text


async def test_an_output_that_does_not_parse_is_raised_by_the_output_only() -> None:
    result = stream_text(model=ScriptedModel([text("no json")]), prompt="p", output=Item)

    assert await result.text == "no json"
    with pytest.raises(NoObjectGeneratedError) as caught:
        await result.output
    assert len(caught.value.steps) == 1


async def test_elements_need_an_array() -> None:
    result = stream_text(model=rich(), prompt="p")

    with pytest.raises(UnsupportedFunctionalityError, match="element_stream"):
        _ = result.element_stream


async def test_partial_outputs_raise_a_failure_at_its_position() -> None:
    model = ScriptedModel([parts('{"name":"a"', ErrorPart(error=OnionError("cut")), "}")])
    result = stream_text(model=model, prompt="p", output=Item)
    partials = result.partial_output_stream

    assert await anext(partials) == {"name": "a"}
    with pytest.raises(OnionError, match="cut"):
        await anext(partials)


async def test_partial_outputs_begin_again_with_a_restarted_step() -> None:
    model = ScriptedModel([parts('{"name":"wrong"', Raise(OnionError("cut"))), parts('{"name":"right"}')])
    result = stream_text(model=model, prompt="p", output=Item, stream_retries=1)

    grown = [partial async for partial in result.partial_output_stream]

    assert grown[0] == {"name": "wrong"}
    assert grown[-1] == {"name": "right"}


async def test_a_dropped_output_view_gets_nothing_more() -> None:
    result = items('{"elements":[{"name":"a"}', "]}")
    dropped, kept = result.partial_output_stream, result.partial_output_stream
    await anext(dropped)

    await dropped.aclose()

    assert [partial async for partial in kept]


async def test_partials_are_those_of_each_step() -> None:
    model = ScriptedModel([tool_call("ping"), parts('{"name":"a"}')])
    result = stream_text(model=model, prompt="p", output=Item, tools=[ping], stop_when=lambda steps: len(steps) > 3)

    assert [partial async for partial in result.partial_output_stream] == [{"name": "a"}]
