"""The pydantic-ai agent."""

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, PartDeltaEvent, PartStartEvent, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits

from bench.objects import deltas_of_object
from bench.workload import Workload, expect, repeated, streamed

NO_LIMIT = UsageLimits(request_limit=None)
DELTA = "tok "


def used():
    return RequestUsage(input_tokens=10, output_tokens=20)


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def generate(_params):
    async def answer(_messages, _info):
        return ModelResponse(parts=[TextPart("hello")], usage=used())

    agent = Agent(FunctionModel(answer))

    async def one():
        expect((await agent.run("hi")).output == "hello")

    return repeated(one)


def stream(params):
    async def source(_messages, _info):
        for _ in range(params.deltas):
            yield DELTA

    agent = Agent(FunctionModel(stream_function=source))

    async def deltas():
        async with agent.run_stream_events("hi") as events:
            async for event in events:
                yield isinstance(event, PartDeltaEvent | PartStartEvent)

    return streamed(deltas, params)


def loop(params):
    async def answer(messages, _info):
        step = len(messages) // 2
        if step == params.steps:
            return ModelResponse(parts=[TextPart("done")], usage=used())
        calls = [
            ToolCallPart("add", f'{{"a":{step},"b":{number}}}', tool_call_id=f"c{step}_{number}")
            for number in range(params.calls)
        ]
        return ModelResponse(parts=calls, usage=used())

    agent = Agent(FunctionModel(answer), tools=[add])

    async def one():
        expect((await agent.run("go", usage_limits=NO_LIMIT)).output == "done")

    return repeated(one, unit=params.steps)


class Item(BaseModel):
    """An item of the streamed object."""

    id: int
    name: str
    tags: list[str]
    score: float
    ok: bool


class Report(BaseModel):
    """The streamed object."""

    title: str
    items: list[Item]


def partial_object(params):
    pieces = deltas_of_object(params.size)

    async def source(_messages, info):
        yield {0: DeltaToolCall(name=info.output_tools[0].name, json_args="", tool_call_id="c1")}
        for piece in pieces:
            yield {0: DeltaToolCall(json_args=piece)}

    agent = Agent(FunctionModel(stream_function=source), output_type=Report)

    async def run(operations):
        for _ in range(operations):
            last = None
            async with agent.run_stream("hi") as result:
                async for value in result.stream_output(debounce_by=None):
                    last = value
            expect(last.items)

    return Workload(run)


def agent_for(params, tools=()):
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=params.base_url, api_key="x")
    return Agent(OpenAIChatModel("fake-1", provider=provider), tools=tools)


def network_generate(params):
    agent = agent_for(params)

    async def one():
        expect((await agent.run("hi", usage_limits=NO_LIMIT)).output)

    return repeated(one)


def network_loop(params):
    agent = agent_for(params, [add])

    async def one():
        expect((await agent.run("hi", usage_limits=NO_LIMIT)).output)

    return repeated(one, unit=params.steps)


def network_stream(params):
    agent = agent_for(params)

    async def deltas():
        async with agent.run_stream("hi") as result:
            async for text in result.stream_text(delta=True, debounce_by=None):
                yield text

    return streamed(deltas, params)


SETUPS = {
    "generate": generate,
    "stream": stream,
    "loop": loop,
    "object": partial_object,
    "network_generate": network_generate,
    "network_loop": network_loop,
    "network_stream": network_stream,
}
