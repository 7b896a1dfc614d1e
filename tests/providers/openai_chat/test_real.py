"""The chat API of a real server: the local one, with the real weights that ``onion local fetch`` brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion import generate_text, stream_text
from onion.errors import APICallError
from onion.providers import vendor
from onion.providers._json import parse_json
from onion.providers.local import serve
from onion.spec.call import FunctionTool, JsonFormat
from onion.spec.prompt import AssistantMessage, JsonOutput, ToolCallPart, ToolMessage, ToolResultPart
from onion.streaming import collect
from onion.testing import ModelCheckOptions, check_language_model
from tests.providers.openai_chat.bodies import HELLO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.providers._model import WireModel
    from onion.spec.base import JsonObject

pytestmark = [pytest.mark.local, pytest.mark.timeout(120)]

SHORT = HELLO.replace(max_output_tokens=12, temperature=0)
NUMBER: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def model() -> Iterator[WireModel]:
    """A model of the local server, behind its chat API."""
    with serve(context_tokens=1024, slots=2) as server:
        yield vendor("llama_cpp", base_url=f"{server.url}/v1")(server.model_id)


async def test_a_real_answer_is_whole_and_streams_alike(model: WireModel) -> None:
    whole = await model.do_generate(SHORT)
    streamed = await collect(await model.do_stream(SHORT))

    assert whole.text
    assert whole.text == streamed.text
    assert whole.usage.output_tokens.total == streamed.usage.output_tokens.total
    assert whole.finish_reason == streamed.finish_reason


async def test_a_real_server_keeps_the_contract(model: WireModel) -> None:
    report = await check_language_model(
        lambda: model,
        ModelCheckOptions(
            params=SHORT,
            strict=True,
            places=2,
            timeout=60,
            volatile=("request", "response", "providerMetadata", "usage"),
        ),
    )

    assert set(report.skipped) <= {"connections-released"}


async def test_a_real_server_takes_calls_and_results_back(model: WireModel) -> None:
    call = ToolCallPart(tool_call_id="c1", tool_name="count", input={"n": 2})
    result = ToolResultPart(tool_call_id="c1", tool_name="count", output=JsonOutput(value=2))
    tool = FunctionTool(name="count", description="Say a number.", input_schema=NUMBER)
    prompt = (*SHORT.prompt, AssistantMessage(content=(call,)), ToolMessage(content=(result,)))

    answered = await model.do_generate(SHORT.replace(prompt=prompt, tools=(tool,)))

    assert answered.usage.input_tokens.total


async def test_a_real_server_fills_in_a_form(model: WireModel) -> None:
    form = SHORT.replace(response_format=JsonFormat(schema=NUMBER), max_output_tokens=60)

    answered = await collect(await model.do_stream(form))

    assert isinstance(parse_json(answered.text), dict)


async def test_a_real_server_refuses_what_is_too_long(model: WireModel) -> None:
    with pytest.raises(APICallError) as caught:
        await generate_text(model=model, prompt="word " * 3000, max_retries=0)

    assert caught.value.status_code == 400
    assert not caught.value.is_retryable


async def test_runs_against_a_real_server_continue_with_what_it_said(model: WireModel) -> None:
    first = await generate_text(model=model, prompt="Say hello.", temperature=0, max_output_tokens=12)
    messages = [{"role": "user", "content": "Say hello."}, *first.response_messages]
    result = stream_text(
        model=model, messages=[*messages, {"role": "user", "content": "Again."}], temperature=0, max_output_tokens=12
    )

    assert first.text
    assert await result.text
