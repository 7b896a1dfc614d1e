"""The OpenAI Agents SDK, with tracing off."""

import agents
from agents import Agent, ModelResponse, Runner, Usage, function_tool
from agents.models.interface import Model
from openai import AsyncOpenAI
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from bench.workload import expect, repeated, streamed

DELTA = "tok "
MAX_TURNS = 1000

agents.set_tracing_disabled(disabled=True)


def message(text):
    content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
    return ResponseOutputMessage(id="m1", type="message", role="assistant", status="completed", content=content)


class Scripted(Model):
    """Answers with what the script makes of the input; streams deltas."""

    def __init__(self, script=None, deltas=0):
        self.script = script
        self.deltas = deltas

    async def get_response(self, system_instructions, input, *args, **more):
        """Answer whole."""
        usage = Usage(requests=1, input_tokens=10, output_tokens=20, total_tokens=30)
        return ModelResponse(output=self.script(input), usage=usage, response_id=None)

    async def stream_response(self, *args, **more):
        """Answer as a stream."""
        place = {"content_index": 0, "item_id": "m1", "output_index": 0, "logprobs": []}
        for number in range(self.deltas):
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta", delta=DELTA, sequence_number=number, **place
            )
        response = Response(
            id="r",
            created_at=0,
            model="m",
            object="response",
            output=[message(DELTA * self.deltas)],
            tool_choice="auto",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(type="response.completed", sequence_number=self.deltas, response=response)


@function_tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def generate(_params):
    agent = Agent(name="a", model=Scripted(lambda _: [message("hello")]))

    async def one():
        expect((await Runner.run(agent, "hi")).final_output == "hello")

    return repeated(one)


def streaming(agent, params):
    async def deltas():
        async for event in Runner.run_streamed(agent, "hi").stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                yield event.data.delta

    return streamed(deltas, params)


def stream(params):
    return streaming(Agent(name="a", model=Scripted(deltas=params.deltas)), params)


def loop(params):
    def script(items):
        step = 0 if isinstance(items, str) else (len(items) - 1) // (2 * params.calls)
        if step == params.steps:
            return [message("done")]
        return [
            ResponseFunctionToolCall(
                type="function_call",
                call_id=f"c{step}_{number}",
                name="add",
                arguments=f'{{"a":{step},"b":{number}}}',
            )
            for number in range(params.calls)
        ]

    return running(Agent(name="a", model=Scripted(script), tools=[add]), params.steps)


def running(agent, unit=1):
    async def one():
        expect((await Runner.run(agent, "hi", max_turns=MAX_TURNS)).final_output)

    return repeated(one, unit=unit)


def agent_for(params, tools=()):
    client = AsyncOpenAI(base_url=params.base_url, api_key="x")
    model = agents.OpenAIChatCompletionsModel(model="fake-1", openai_client=client)
    return Agent(name="a", model=model, tools=list(tools))


SETUPS = {
    "generate": generate,
    "stream": stream,
    "loop": loop,
    "network_generate": lambda params: running(agent_for(params)),
    "network_loop": lambda params: running(agent_for(params, [add]), params.steps),
    "network_stream": lambda params: streaming(agent_for(params), params),
}
