"""The real engine with the real weights: ``onion local fetch`` brings them."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from onion.errors import APICallError, LocalModelError
from onion.loop import generate_text, is_step_count
from onion.loop.settings import StepOverrides, StepPreparation
from onion.loop.tools import tool
from onion.providers.local import LocalModel, LocalServer, local, serve
from onion.providers.local.native import EngineSettings, start_native
from onion.providers.local.pool import EnginePool
from onion.providers.local.weights import find_weights
from onion.spec.base import JsonObject, is_object
from onion.spec.call import FunctionTool, JsonFormat, ToolChoice
from onion.spec.content import ToolCall
from onion.spec.parts import TextDelta
from onion.streaming import collect
from onion.testing import ModelCheckOptions, check_language_model
from tests.providers.local.engines import ADD, HELLO, ask

pytestmark = [pytest.mark.local, pytest.mark.timeout(120)]

SHORT = HELLO.replace(max_output_tokens=12, temperature=0)
ENDLESS = HELLO.replace(max_output_tokens=2000, provider_options={"local": {"ignore_eos": True}})
WEATHER = FunctionTool(
    name="get_weather",
    description="Get the current weather in a city.",
    input_schema={"type": "object", "properties": {"city": {"$ref": "#/$defs/city"}}, "required": ["city"],
                  "$defs": {"city": {"type": "string"}}},
)  # fmt: skip
PERSON: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 30}, "age": {"type": "integer", "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def pool() -> Iterator[EnginePool]:
    engines = EnginePool()
    yield engines
    engines.close()


@pytest.fixture
def settings() -> EngineSettings:
    weights, model_id = find_weights(None)
    return EngineSettings(weights=weights, model_id=model_id, context_tokens=1024, slots=2)


@pytest.fixture
def model(pool: EnginePool, settings: EngineSettings) -> LocalModel:
    return LocalModel(settings, engines=pool)


async def busy_slots(url: str, api_key: str) -> int:
    """How many slots the engine itself says are at work."""
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    async with httpx.AsyncClient(headers=headers) as client:
        slots = (await client.get(f"{url}/slots")).json()
    return sum(slot["is_processing"] for slot in slots)


async def until_idle(url: str, api_key: str) -> None:
    """Wait until no slot is at work."""
    async with asyncio.timeout(10):
        while await busy_slots(url, api_key):
            pass


async def test_it_answers_and_counts(model: LocalModel) -> None:
    result = await model.do_generate(SHORT)

    assert result.text
    assert result.usage.input_tokens.total
    assert result.usage.output_tokens.total
    assert result.response is not None
    assert result.response.model_id == "smollm2-135m"
    assert result.response.timestamp is not None


async def test_it_streams_the_same_answer_in_pieces(model: LocalModel) -> None:
    async with await model.do_stream(SHORT) as stream:
        deltas = [part.delta async for part in stream if isinstance(part, TextDelta)]

    assert len(deltas) > 1
    assert "".join(deltas) == (await model.do_generate(SHORT)).text


async def test_it_keeps_the_contract(model: LocalModel) -> None:
    report = await check_language_model(
        lambda: model, ModelCheckOptions(params=SHORT, strict=True, repeats=False, places=3, timeout=60)
    )

    assert report.calls > 0


@pytest.mark.parametrize(
    ("question", "expected", "arguments"),
    [
        ("What is the weather in Paris?", "get_weather", {"city": "Paris"}),
        ("Add 3 and 4.", "add", {"a": 3, "b": 4}),
    ],
)
async def test_a_required_call_names_the_right_tool_with_the_right_arguments(
    model: LocalModel, question: str, expected: str, arguments: dict[str, object]
) -> None:
    params = HELLO.replace(prompt=ask(question), tools=(WEATHER, ADD), tool_choice=ToolChoice(type="required"))

    result = await model.do_generate(params.replace(max_output_tokens=60))

    (call,) = result.content
    assert isinstance(call, ToolCall)
    assert (call.tool_name, json.loads(call.input)) == (expected, arguments)
    assert result.finish_reason.unified == "tool-calls"


async def test_a_named_tool_is_called_and_no_other(model: LocalModel) -> None:
    choice = ToolChoice(type="tool", tool_name="add")
    params = HELLO.replace(prompt=ask("What is the weather in Paris?"), tools=(WEATHER, ADD), tool_choice=choice)

    result = await collect(await model.do_stream(params.replace(max_output_tokens=60)))

    assert [part.tool_name for part in result.content if isinstance(part, ToolCall)] == ["add"]


async def test_the_loop_calls_a_tool_and_answers_with_its_result(model: LocalModel) -> None:
    @tool
    def get_weather(city: str) -> str:
        """Get the current weather in a city."""
        return f"sunny and 21 degrees in {city}"

    def call_first(preparation: StepPreparation) -> StepOverrides:
        return {"tool_choice": "required"} if preparation.step_number == 0 else {"active_tools": ()}

    result = await generate_text(
        model=model, prompt="What is the weather in Paris?", tools=[get_weather], prepare_step=call_first,
        stop_when=is_step_count(2), temperature=0, max_output_tokens=60,
    )  # fmt: skip

    assert len(result.steps) == 2
    assert [found.output for found in result.steps[0].tool_results] == ["sunny and 21 degrees in Paris"]
    assert "21" in result.text


async def test_json_fits_its_schema(model: LocalModel) -> None:
    params = HELLO.replace(prompt=ask("Invent a person."), response_format=JsonFormat(schema=PERSON))

    result = await model.do_generate(params.replace(max_output_tokens=80))

    found = json.loads(result.text)
    assert is_object(found)
    assert found.keys() == {"name", "age"}
    assert isinstance(found["age"], int)


async def test_a_prompt_that_is_too_long_is_refused_as_error_400(model: LocalModel) -> None:
    with pytest.raises(APICallError, match="exceeds the available context size") as caught:
        await model.do_stream(HELLO.replace(prompt=ask("word " * 3000)))

    assert caught.value.status_code == 400
    assert not caught.value.is_retryable


async def test_closing_in_mid_stream_frees_the_slot(
    pool: EnginePool, settings: EngineSettings, model: LocalModel
) -> None:
    native = pool.acquire(settings, model).native

    async with await model.do_stream(ENDLESS) as stream:
        async for part in stream:
            if isinstance(part, TextDelta):
                break
        busy_meanwhile = await busy_slots(native.url, native.api_key)

    assert busy_meanwhile == 1
    await until_idle(native.url, native.api_key)


async def test_cancelling_a_whole_answer_frees_the_slot(
    pool: EnginePool, settings: EngineSettings, model: LocalModel
) -> None:
    native = pool.acquire(settings, model).native
    answering = asyncio.create_task(model.do_generate(ENDLESS))
    async with asyncio.timeout(30):
        while not await busy_slots(native.url, native.api_key):
            pass

    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering

    await until_idle(native.url, native.api_key)


async def test_fifty_calls_at_once_all_get_their_answer(model: LocalModel) -> None:
    calls = [SHORT.replace(prompt=ask(f"Count from {number}."), max_output_tokens=4) for number in range(50)]

    results = await asyncio.gather(*(model.do_generate(call) for call in calls))

    assert all(result.text for result in results)


async def test_strangers_cannot_use_the_engine_over_its_port(
    pool: EnginePool, settings: EngineSettings, model: LocalModel
) -> None:
    native = pool.acquire(settings, model).native

    async with httpx.AsyncClient() as client:
        response = await client.post(f"{native.url}/v1/chat/completions", json={"messages": []})

    assert response.status_code == 401


async def test_the_default_model_runs_and_ends() -> None:
    model = local(context_tokens=512, slots=1, threads=2)

    result = await model.do_generate(SHORT)
    await model.aclose()

    assert result.text


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with serve(context_tokens=1024, slots=2) as running:
        yield running


@pytest.fixture
async def client(server: LocalServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as opened:
        yield opened


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4}, "chat.completion"),
        ("/v1/responses", {"input": "Hi", "max_output_tokens": 4}, "response"),
        ("/v1/messages", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4}, "message"),
    ],
)
async def test_it_is_served_in_three_wire_formats(
    client: httpx.AsyncClient, path: str, body: dict[str, object], kind: str
) -> None:
    answer = (await client.post(path, json=body)).json()

    assert answer.get("object", answer.get("type")) == kind
    assert answer["model"] == "smollm2-135m"


async def test_a_request_that_makes_no_sense_is_status_400_over_http(client: httpx.AsyncClient) -> None:
    response = await client.post("/v1/chat/completions", json={"messages": "hello"})

    assert response.status_code == 400


async def test_a_begun_call_is_read_as_a_tool_call_over_http(client: httpx.AsyncClient) -> None:
    function = {"name": WEATHER.name, "description": WEATHER.description, "parameters": ADD.input_schema}
    body = {
        "messages": [{"role": "user", "content": "Add 3 and 4."}, {"role": "assistant", "content": "<tool_call>\n"}],
        "tools": [{"type": "function", "function": {**function, "name": "add"}}],
        "tool_choice": "required",
        "stop": ["</tool_call>"],
        "max_tokens": 60,
        "temperature": 0,
    }

    answer = (await client.post("/v1/chat/completions", json=body)).json()

    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "add"


async def test_hanging_up_in_mid_stream_frees_the_slot(server: LocalServer, client: httpx.AsyncClient) -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}], "stream": True, "ignore_eos": True, "max_tokens": 900}

    async with client.stream("POST", "/v1/chat/completions", json=body) as response:
        async for _ in response.aiter_lines():
            break
        busy_meanwhile = await busy_slots(server.url, "")

    assert busy_meanwhile == 1
    await until_idle(server.url, "")


def test_a_port_that_is_taken_is_an_error(server: LocalServer) -> None:
    port = int(server.url.rpartition(":")[2])

    with pytest.raises(LocalModelError, match=f"at 127.0.0.1:{port}.*is the port free"), serve(port=port):
        pass


def test_an_engine_can_be_ended_as_soon_as_it_has_started(settings: EngineSettings) -> None:
    native = start_native(settings)

    native.stop()

    with pytest.raises(RuntimeError, match="the engine was stopped"):
        native.complete({}, lambda _chunk: True)
