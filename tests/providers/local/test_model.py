import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onion.errors import APICallError, LocalModelError, MissingExtraError, StreamInterruptedError, StreamProviderError
from onion.providers.local.model import LocalModel
from onion.providers.local.native import EngineSettings, NativeEngine
from onion.providers.local.pool import EnginePool
from onion.spec.call import CallOptions, ToolChoice
from onion.spec.content import ToolCall
from onion.spec.parts import ErrorPart, FinishPart, RawPart, StreamStart, TextDelta, ToolInputEnd
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, UnsupportedWarning
from onion.testing import ModelCheckOptions, check_language_model
from tests.providers.local.engines import ADD, HELLO, USAGE, Starter, Step, delta, finish, says

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

SETTINGS = EngineSettings(weights=Path("tiny.gguf"), model_id="tiny")
MUST_ADD = HELLO.replace(tools=(ADD,), tool_choice=ToolChoice(type="required"))
TOO_LONG: Step = {"error": {"code": 400, "message": "too many tokens", "type": "exceed_context_size_error"}}


def model(*answers: Sequence[Step]) -> tuple[LocalModel, Starter]:
    starter = Starter(*answers)
    return LocalModel(SETTINGS, engines=EnginePool(starter), generate_id=lambda: "call-1"), starter


async def answer(params: CallOptions, *answers: Sequence[Step]) -> list[object]:
    """All parts of the streamed answer."""
    local, _ = model(*answers)
    async with await local.do_stream(params) as stream:
        parts: list[object] = [part async for part in stream]
    await local.aclose()
    return parts


def test_it_says_what_it_is() -> None:
    local, starter = model(says("Hi"))

    assert (local.provider, local.model_id, dict(local.supported_urls)) == ("local", "tiny", {})
    assert repr(local) == "local/tiny"
    assert starter.started == []


async def test_it_keeps_the_contract() -> None:
    starter = Starter(says("Hel", "lo"))
    pool = EnginePool(starter)

    report = await check_language_model(
        lambda: LocalModel(SETTINGS, engines=pool),
        ModelCheckOptions(params=HELLO, strict=True, open_connections=lambda _model: starter.engine.active),
    )

    assert report.skipped == {}
    assert len(starter.started) == 1
    pool.close()


async def test_it_keeps_the_contract_when_it_calls_tools() -> None:
    starter = Starter(says('{"name": "add", ', '"arguments": {"a": 1', ', "b": 2}}'))
    pool = EnginePool(starter)

    report = await check_language_model(
        lambda: LocalModel(SETTINGS, engines=pool, generate_id=lambda: "call-1"),
        ModelCheckOptions(params=MUST_ADD, strict=True, open_connections=lambda _model: starter.engine.active),
    )

    assert report.skipped == {}
    pool.close()


async def test_a_whole_answer_has_text_usage_reason_and_response() -> None:
    local, _ = model(says("Hel", "lo", reason="length"))

    result = await local.do_generate(HELLO)

    assert result.text == "Hello"
    assert result.finish_reason == FinishReason(unified="length", raw="length")
    assert result.usage.input_tokens == InputTokens(total=7, no_cache=5, cache_read=2)
    assert result.usage.output_tokens == OutputTokens(total=3)
    assert result.usage.raw == USAGE
    assert result.response is not None
    assert (result.response.id, result.response.model_id) == ("chat-1", "tiny")
    assert result.request is not None
    await local.aclose()


async def test_a_tool_call_is_content_and_the_reason_to_finish() -> None:
    local, starter = model(says('{"name": "add", "arguments": {"a": 1, "b": 2}}'))

    result = await local.do_generate(MUST_ADD)

    assert result.content == (ToolCall(tool_call_id="call-1", tool_name="add", input='{"a": 1, "b": 2}'),)
    assert result.finish_reason == FinishReason(unified="tool-calls", raw="stop")
    assert str(starter.engine.requests[0]["grammar"]).startswith("grammar of")
    await local.aclose()


async def test_warnings_come_first() -> None:
    parts = await answer(HELLO.replace(reasoning="high"), says("Hi"))

    assert isinstance(parts[0], StreamStart)
    assert [type(warning) for warning in parts[0].warnings] == [UnsupportedWarning]


async def test_raw_chunks_are_handed_out_when_asked_for() -> None:
    parts = await answer(HELLO.replace(include_raw_chunks=True), says("Hi"))

    assert [part.raw_value for part in parts if isinstance(part, RawPart)] == list(says("Hi"))


async def test_chunks_about_the_prompt_are_no_content() -> None:
    progress: JsonObject = {
        "choices": [{"delta": {"role": "assistant", "content": None}}],
        "prompt_progress": {"processed": 1},
    }

    parts = await answer(HELLO, [progress, *says("Hi")])

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["Hi"]


@pytest.mark.parametrize(
    ("step", "status"),
    [
        pytest.param(TOO_LONG, 400, id="an error as chunk"),
        pytest.param({"error": {}}, 500, id="an error without words"),
        pytest.param(ValueError("'messages' is required"), 400, id="a request that cannot be read"),
        pytest.param(RuntimeError("image input is not supported"), 500, id="a request that cannot be done"),
    ],
)
async def test_a_refused_call_raises_before_there_is_a_stream(step: Step, status: int) -> None:
    local, starter = model([step])

    with pytest.raises(APICallError, match="the local engine refused the call: ") as caught:
        await local.do_stream(HELLO)

    assert caught.value.status_code == status
    assert not caught.value.is_retryable
    assert starter.engine.active == 0
    await local.aclose()


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param(TOO_LONG, StreamProviderError, id="an error as chunk"),
        pytest.param(RuntimeError("broken"), APICallError, id="an exception"),
        pytest.param(finish()[1], StreamInterruptedError, id="no reason to finish"),
    ],
)
async def test_a_failure_behind_content_is_a_part_of_the_stream(step: Step, error: type[Exception]) -> None:
    *_, failure, last = await answer(HELLO, [delta("Hi"), step])

    assert isinstance(failure, ErrorPart)
    assert isinstance(failure.error, error)
    assert isinstance(last, FinishPart)
    assert last.finish_reason.unified == "error"


async def test_a_failure_inside_of_a_call_ends_the_call_but_does_not_make_it() -> None:
    parts = await answer(MUST_ADD, [delta('{"name": "add", "arguments": {"a"'), RuntimeError("broken")])

    assert [type(part) for part in parts[-3:]] == [ToolInputEnd, ErrorPart, FinishPart]
    assert not any(isinstance(part, ToolCall) for part in parts)


async def test_whole_answers_raise_what_failed_inside_of_them() -> None:
    local, _ = model([delta("Hi"), TOO_LONG])

    with pytest.raises(StreamProviderError, match="too many tokens"):
        await local.do_generate(HELLO)
    await local.aclose()


async def test_fifty_calls_at_once_all_get_their_answer() -> None:
    local, starter = model(says("Hi"))

    results = await asyncio.gather(*(local.do_generate(HELLO) for _ in range(50)))

    assert {result.text for result in results} == {"Hi"}
    assert len(starter.started) == 1
    assert starter.engine.most_at_once <= SETTINGS.slots
    await local.aclose()


async def test_later_calls_use_the_engine_of_the_first() -> None:
    local, starter = model(says("One"), says("Two"))

    answers = [(await local.do_generate(HELLO)).text, (await local.do_generate(HELLO)).text]

    assert answers == ["One", "Two"]
    assert len(starter.started) == 1
    await local.aclose()


async def test_after_it_was_closed_the_next_call_starts_the_engine_again() -> None:
    local, starter = model(says("Hi"))
    await local.do_generate(HELLO)

    await local.aclose()
    was_stopped = starter.engine.is_stopped
    await local.do_generate(HELLO)

    assert was_stopped
    assert len(starter.started) == 2
    await local.aclose()


@pytest.mark.parametrize("error", [LocalModelError("no memory"), MissingExtraError("xllamacpp", extra="local")])
async def test_an_engine_that_cannot_start_says_why(error: Exception) -> None:
    def start(_settings: EngineSettings) -> NativeEngine:
        raise error

    local = LocalModel(SETTINGS, engines=EnginePool(start))

    with pytest.raises(type(error), match=str(error)[:20]):
        await local.do_generate(HELLO)
