"""The Responses API of a real server: the local one, with the real weights that ``onion local fetch`` brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion import generate_text, stream_text
from onion.providers._model import Address
from onion.providers.local import serve
from onion.providers.openai_responses import ResponsesDialect, ResponsesProvider
from onion.spec.call import FunctionTool
from onion.spec.prompt import AssistantMessage, JsonOutput, SystemMessage, ToolCallPart, ToolMessage, ToolResultPart
from onion.streaming import collect
from onion.testing import ModelCheckOptions, check_language_model
from tests.providers.openai_responses.bodies import HELLO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.providers._model import WireModel
    from onion.spec.base import JsonObject

pytestmark = [pytest.mark.local, pytest.mark.timeout(120)]

SHORT = HELLO.replace(max_output_tokens=12, temperature=0)
ADD = FunctionTool(
    name="add",
    description="Add two numbers.",
    input_schema={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
)


@pytest.fixture(scope="module")
def model() -> Iterator[WireModel]:
    """A model of the local server, behind its Responses API."""
    with serve(context_tokens=1024, slots=2) as server:
        address = Address(f"{server.url}/v1")
        yield ResponsesProvider(ResponsesDialect(name="local"), address).responses(server.model_id)


async def test_a_real_answer_is_whole_and_streams_alike(model: WireModel) -> None:
    params = SHORT.replace(prompt=(SystemMessage(content="Be brief."), *SHORT.prompt))
    whole = await model.do_generate(params)
    streamed = await collect(await model.do_stream(params))

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
    call = ToolCallPart(tool_call_id="c1", tool_name="add", input={"a": 2, "b": 3})
    result = ToolResultPart(tool_call_id="c1", tool_name="add", output=JsonOutput(value=5))
    prompt = (*SHORT.prompt, AssistantMessage(content=(call,)), ToolMessage(content=(result,)))

    answered = await model.do_generate(SHORT.replace(prompt=prompt, tools=(ADD,)))

    assert answered.usage.input_tokens.total


async def test_options_reach_a_real_server_that_knows_more_than_the_api(model: WireModel) -> None:
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    asked: JsonObject = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    params = SHORT.replace(max_output_tokens=40, provider_options={"local": {"response_format": asked}})

    answered = await model.do_generate(params)

    assert answered.text.lstrip().startswith("{")


async def test_runs_against_a_real_server_continue_with_what_it_said(model: WireModel) -> None:
    first = await generate_text(model=model, prompt="Say hello.", temperature=0, max_output_tokens=12)
    messages = [{"role": "user", "content": "Say hello."}, *first.response_messages]
    result = stream_text(
        model=model, messages=[*messages, {"role": "user", "content": "Again."}], temperature=0, max_output_tokens=12
    )

    assert first.text
    assert await result.text
