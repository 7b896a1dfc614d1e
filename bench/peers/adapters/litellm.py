"""LiteLLM: its mock answers in process, its provider for OpenAI over the network, with a hand-written loop."""

import asyncio
import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or the import asks the network

import litellm

from bench.adapters.raw_http import QUESTION, TOOL, add
from bench.workload import expect, repeated, streamed

litellm.suppress_debug_info = True
PART = {"is_finished": False, "finish_reason": "", "usage": None, "index": 0, "tool_use": None}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def generate(_params):
    async def one():
        answer = await litellm.acompletion("openai/fake-1", [QUESTION], mock_response="hello", api_key="x")
        expect(answer.choices[0].message.content == "hello")

    return repeated(one)


async def texts(stream):
    async for chunk in stream:
        yield chunk.choices and chunk.choices[0].delta.content


def stream(params):
    class Custom(litellm.CustomLLM):
        async def astreaming(self, *_args, **_more):
            for number in range(params.deltas):  # it raises on a hundred equal chunks in a row
                yield {**PART, "text": f"t{number % 7} "}
            yield {**PART, "text": "", "is_finished": True, "finish_reason": "stop", "usage": USAGE}

    litellm.custom_provider_map = [{"provider": "fake", "custom_handler": Custom()}]

    async def deltas():
        async for text in texts(await litellm.acompletion("fake/fake-1", [QUESTION], stream=True)):
            yield text

    return streamed(deltas, params)


def server(params):
    return {"model": "openai/fake-1", "api_key": "x", "api_base": params.base_url}


def network_generate(params):
    async def one():
        answer = await litellm.acompletion(messages=[QUESTION], **server(params))
        expect(answer.choices[0].message.content)

    return repeated(one)


def network_stream(params):
    async def deltas():
        wanted = {"messages": [QUESTION], "stream": True, "stream_options": {"include_usage": True}}
        async for text in texts(await litellm.acompletion(**wanted, **server(params))):
            yield text

    return streamed(deltas, params)


async def execute(call):
    return json.dumps(await add(**json.loads(call.function.arguments)))


def network_loop(params):
    async def one():
        messages = [QUESTION]
        while True:
            answer = await litellm.acompletion(messages=messages, tools=[TOOL], **server(params))
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            results = await asyncio.gather(*map(execute, message.tool_calls))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": result}
                for call, result in zip(message.tool_calls, results, strict=True)
            ]
        expect(message.content)

    return repeated(one, unit=params.steps)


SETUPS = {
    "generate": generate,
    "stream": stream,
    "network_generate": network_generate,
    "network_loop": network_loop,
    "network_stream": network_stream,
}
