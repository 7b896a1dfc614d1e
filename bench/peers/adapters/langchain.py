"""LangChain's create_agent."""

import json
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool

from bench.objects import deltas_of_object
from bench.workload import Workload, expect, repeated, streamed

DELTA = "tok "
QUESTION = {"messages": [{"role": "user", "content": "hi"}]}
NO_LIMIT = {"recursion_limit": 100_000}
USAGE = {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30}


class Scripted(BaseChatModel):
    """Answers whole with what the script makes of the messages."""

    script: Any = None

    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=self.script(messages))])

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        return self._generate(messages)

    def bind_tools(self, _tools, **_more):
        """Take tools; the script calls them anyway."""
        return self


class Streaming(Scripted):
    """Streams deltas."""

    deltas: Any = ()

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        for delta in self.deltas:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=delta))
            if run_manager:
                await run_manager.on_llm_new_token(delta, chunk=chunk)
            yield chunk


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def running(agent, unit=1):
    async def one():
        found = await agent.ainvoke(QUESTION, NO_LIMIT)
        expect(found["messages"][-1].content)

    return repeated(one, unit=unit)


def generate(_params):
    model = Scripted(script=lambda _: AIMessage(content="hello", usage_metadata=USAGE))
    return running(create_agent(model, tools=[]))


def streaming(agent, params):
    async def deltas():
        async for chunk, _ in agent.astream(QUESTION, stream_mode="messages"):
            yield chunk.content

    return streamed(deltas, params)


def stream(params):
    return streaming(create_agent(Streaming(deltas=[DELTA] * params.deltas), tools=[]), params)


def loop(params):
    def script(messages):
        step = (len(messages) - 1) // (params.calls + 1)
        if step == params.steps:
            return AIMessage(content="done")
        calls = [
            {"name": "add", "args": json.loads(f'{{"a":{step},"b":{number}}}'), "id": f"c{step}_{number}"}
            for number in range(params.calls)
        ]
        return AIMessage(content="", tool_calls=calls)

    return running(create_agent(Scripted(script=script), tools=[add]), params.steps)


def partial_object(params):
    from langchain_core.output_parsers import JsonOutputParser

    chain = Streaming(deltas=deltas_of_object(params.size)) | JsonOutputParser()

    async def run(operations):
        for _ in range(operations):
            last = None
            async for value in chain.astream("hi"):
                last = value
            expect(last["items"])

    return Workload(run)


def agent_for(params, tools=()):
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="fake-1", base_url=params.base_url, api_key="x", stream_usage=True)
    return create_agent(model, tools=list(tools))


SETUPS = {
    "generate": generate,
    "stream": stream,
    "loop": loop,
    "object": partial_object,
    "network_generate": lambda params: running(agent_for(params)),
    "network_loop": lambda params: running(agent_for(params, [add]), params.steps),
    "network_stream": lambda params: streaming(agent_for(params), params),
}
