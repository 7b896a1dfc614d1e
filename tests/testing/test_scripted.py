"""The scripted model: what it answers, and what it records."""

import asyncio
import itertools

import pytest

from onion.spec import (
    CallOptions,
    RequestInfo,
    ResponseInfo,
    StreamPart,
    StreamResult,
    TextDelta,
    TextPart,
    UserMessage,
)
from onion.streaming import collect
from onion.testing import (
    After,
    Raise,
    ScriptedModel,
    ScriptedStream,
    ScriptError,
    ScriptItem,
    Wait,
    parts,
    text,
    tool_call,
)
from tests.reading import read

PARAMS = CallOptions(prompt=(UserMessage(content=(TextPart(text="hi"),)),))


async def deltas(stream: StreamResult) -> list[str]:
    async with stream:
        return [part.delta async for part in stream if isinstance(part, TextDelta)]


async def test_items_answer_the_calls_in_order_and_in_either_mode() -> None:
    model = ScriptedModel([text("one"), parts("t", "wo"), tool_call("weather", {"city": "Bern"}), parts("four")])

    whole = await model.do_generate(PARAMS)
    streamed = await deltas(await model.do_stream(PARAMS))
    replayed = await collect(await model.do_stream(PARAMS))
    collected = await model.do_generate(PARAMS)

    assert whole == text("one")
    assert streamed == ["t", "wo"]
    assert replayed == tool_call("weather", {"city": "Bern"})
    assert collected == text("four")


async def test_calls_record_mode_params_and_how_far_a_stream_was_read() -> None:
    model = ScriptedModel([text("one"), parts("t", "w", "o")])
    hot = PARAMS.replace(temperature=1.0)

    await model.do_generate(PARAMS)
    stream = await model.do_stream(hot)
    async for part in stream:
        if isinstance(part, TextDelta):
            break
    before = (model.open_streams, model.open_calls, model.calls[1].parts_sent)
    await stream.aclose()

    assert [call.mode for call in model.calls] == ["generate", "stream"]
    assert model.params == [PARAMS, hot]
    assert before == (1, 1, 3)
    assert (model.open_streams, model.open_calls) == (0, 0)


@pytest.mark.parametrize("failure", [ValueError("broken"), ValueError], ids=["an instance", "a class"])
async def test_an_exception_is_raised_by_the_call_in_either_mode(failure: ScriptItem) -> None:
    model = ScriptedModel([failure, failure])

    with pytest.raises(ValueError, match=r"broken|^$"):
        await model.do_generate(PARAMS)
    with pytest.raises(ValueError, match=r"broken|^$"):
        await model.do_stream(PARAMS)

    assert model.open_calls == 0


async def test_a_failure_in_the_middle_of_a_stream_comes_after_the_parts_before_it() -> None:
    model = ScriptedModel([parts("a", Raise(ValueError("broken"))), parts("a", Raise(ValueError("broken")))])
    seen: list[StreamPart] = []
    stream = await model.do_stream(PARAMS)

    with pytest.raises(ValueError, match="broken"):
        await read(stream, seen)
    with pytest.raises(ValueError, match="broken"):
        await model.do_generate(PARAMS)

    assert [part.type for part in seen] == ["stream-start", "text-start", "text-delta"]
    assert model.open_calls == 0


async def test_a_part_waits_for_its_event() -> None:
    gate = asyncio.Event()
    model = ScriptedModel([parts("a", Wait(gate), "b")])
    seen: list[str] = []

    async def read() -> None:
        seen.extend(await deltas(await model.do_stream(PARAMS)))

    task = asyncio.create_task(read())
    await asyncio.sleep(0)
    sent_before = model.calls[0].parts_sent
    gate.set()
    await task

    assert sent_before == 3
    assert seen == ["a", "b"]


async def test_a_call_waits_for_what_a_function_returns() -> None:
    waits: list[float] = []

    async def pause() -> None:
        waits.append(1.0)

    model = ScriptedModel([After(pause, text("late")), After(pause, ValueError("late"))])

    answer = await model.do_generate(PARAMS)
    with pytest.raises(ValueError, match="late"):
        await model.do_stream(PARAMS)

    assert answer == text("late")
    assert waits == [1.0, 1.0]


async def test_a_function_answers_from_the_params() -> None:
    model = ScriptedModel(itertools.repeat(lambda params: text(f"at {params.temperature}")))

    answers = [(await model.do_generate(PARAMS.replace(temperature=heat))).text for heat in (0.0, 1.0)]

    assert answers == ["at 0.0", "at 1.0"]


async def test_a_scripted_stream_carries_request_and_response() -> None:
    request, response = RequestInfo(body={"a": 1}), ResponseInfo(headers={"x-id": "7"})
    model = ScriptedModel([ScriptedStream(parts=parts("a"), request=request, response=response)] * 2)

    whole = await model.do_generate(PARAMS)
    stream = await model.do_stream(PARAMS)

    assert (whole.request, whole.response) == (request, response)
    assert (stream.request, stream.response) == (request, response)
    await stream.aclose()


async def test_a_script_that_runs_out_says_so() -> None:
    model = ScriptedModel([text("one")])
    await model.do_generate(PARAMS)

    with pytest.raises(ScriptError, match="call 2 of the scripted model"):
        await model.do_generate(PARAMS)

    assert model.open_calls == 0


async def test_a_hundred_calls_at_once_each_get_one_item() -> None:
    model = ScriptedModel([text(str(number)) for number in range(100)])

    answers = await asyncio.gather(*(model.do_generate(PARAMS) for _ in range(100)))

    assert sorted(int(answer.text) for answer in answers) == list(range(100))


def test_the_model_shows_what_it_was_given() -> None:
    model = ScriptedModel([], provider="acme.chat", model_id="m-1")

    assert (model.provider, model.model_id, dict(model.supported_urls)) == ("acme.chat", "m-1", {})
    assert repr(model) == "ScriptedModel('acme.chat', 'm-1')"
