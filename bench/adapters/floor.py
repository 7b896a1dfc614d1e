"""What the same work costs in bare Python, without any framework."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, TypedDict

from bench.objects import deltas_of_object
from bench.workload import Params, Setups, Workload, expect, repeated, streamed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable


class Message(TypedDict, total=False):
    """A message as plain as it gets."""

    role: str
    content: str
    tool_calls: list[ToolCall]
    id: str


class ToolCall(TypedDict):
    """A call of a tool."""

    id: str
    name: str
    arguments: str


async def answer(_request: object) -> dict[str, str]:
    """The model that answers at once."""
    return {"text": "hello", "finish": "stop"}


def passing(inner: Callable[[object], Awaitable[dict[str, str]]]) -> Callable[[object], Awaitable[dict[str, str]]]:
    """An asynchronous layer that does nothing."""

    async def layer(request: object) -> dict[str, str]:
        return await inner(request)

    return layer


def generate(params: Params) -> Workload:
    """Await an answer through layers."""
    call: Callable[[object], Awaitable[dict[str, str]]] = answer
    for _ in range(params.layers):
        call = passing(call)

    async def one() -> None:
        found = await call({"messages": [{"role": "user", "content": "hi"}]})
        expect(found["text"])

    return repeated(one)


async def deltas(count: int) -> AsyncGenerator[dict[str, str], None]:
    """A stream of deltas, each made anew."""
    for _ in range(count):
        yield {"type": "text-delta", "text": "tok "}


def stream(params: Params) -> Workload:
    """Read a stream."""
    return streamed(lambda: deltas(params.deltas), params)


async def add(a: int, b: int) -> int:
    """The tool."""
    return a + b


async def execute(call: ToolCall) -> int:
    """Run the tool for one call."""
    arguments: dict[str, int] = json.loads(call["arguments"])
    return await add(**arguments)


def tool_message(call: ToolCall, result: int) -> Message:
    """What the model is told of a result."""
    return {"role": "tool", "id": call["id"], "content": json.dumps(result)}


def loop(params: Params) -> Workload:
    """A hand-written loop of steps that call the tool."""
    steps, calls = params.steps, params.calls

    async def model(messages: list[Message]) -> Message:
        step = (len(messages) - 1) // (calls + 1)
        if step == steps:
            return {"role": "assistant", "content": "done"}
        asked: list[ToolCall] = [
            {"id": f"c{step}_{number}", "name": "add", "arguments": f'{{"a":{step},"b":{number}}}'}
            for number in range(calls)
        ]
        return {"role": "assistant", "tool_calls": asked}

    async def one() -> None:
        messages: list[Message] = [{"role": "user", "content": "go"}]
        while True:
            message = await model(messages)
            messages.append(message)
            asked = message.get("tool_calls")
            if not asked:
                break
            results = [await execute(asked[0])] if len(asked) == 1 else await asyncio.gather(*map(execute, asked))
            messages += map(tool_message, asked, results)
        expect(messages[-1].get("content") == "done", messages[-1])

    return repeated(one, unit=steps)


def whole_object(params: Params) -> Workload:
    """Read a streamed object and parse it once, at its end: the least that anybody needs."""
    pieces = deltas_of_object(params.size)

    async def source() -> AsyncGenerator[str, None]:
        for piece in pieces:
            yield piece

    async def one() -> None:
        read = [piece async for piece in source()]
        expect(json.loads("".join(read))["title"])

    return repeated(one)


def cache(_params: Params) -> Workload:
    """Look an answer up under the text of its request."""
    answers: dict[str, dict[str, str]] = {}

    async def one() -> None:
        key = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}, sort_keys=True)
        if key not in answers:
            answers[key] = await answer(None)
        expect(answers[key])

    return repeated(one)


SETUPS: Setups = {"generate": generate, "stream": stream, "loop": loop, "object": whole_object, "cache": cache}
