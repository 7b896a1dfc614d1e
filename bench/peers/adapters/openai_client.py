"""OpenAI's own client, with a hand-written loop. It has no mock model: it is measured over the network only."""

import asyncio
import json

from openai import AsyncOpenAI

from bench.adapters.raw_http import MODEL, QUESTION, TOOL, add
from bench.workload import expect, repeated, streamed


def client_for(params):
    return AsyncOpenAI(base_url=params.base_url, api_key="x")


def network_generate(params):
    client = client_for(params)

    async def one():
        answer = await client.chat.completions.create(model=MODEL, messages=[QUESTION])
        expect(answer.choices[0].message.content)

    return repeated(one)


def network_stream(params):
    client = client_for(params)

    async def deltas():
        wanted = {"model": MODEL, "messages": [QUESTION], "stream_options": {"include_usage": True}}
        async for chunk in await client.chat.completions.create(stream=True, **wanted):
            yield chunk.choices and chunk.choices[0].delta.content

    return streamed(deltas, params)


async def execute(call):
    return json.dumps(await add(**json.loads(call.function.arguments)))


def network_loop(params):
    client = client_for(params)

    async def one():
        messages = [QUESTION]
        while True:
            answer = await client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
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


SETUPS = {"network_generate": network_generate, "network_loop": network_loop, "network_stream": network_stream}
