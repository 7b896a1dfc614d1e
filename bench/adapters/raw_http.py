"""What a careful hand-written client does with httpx: a POST, JSON parsing, the same loop."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Protocol, TypedDict

from bench.workload import Params, Setups, Workload, expect, repeated, streamed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

QUESTION = {"role": "user", "content": "hi"}
MODEL = "fake-1"
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}
SECONDS = 60.0


class Function(TypedDict):
    """Name and arguments of a call."""

    name: str
    arguments: str


class Call(TypedDict):
    """A call of a tool."""

    id: str
    function: Function


class Message(TypedDict, total=False):
    """What is read of a message, or of the delta of a streamed one."""

    role: str
    content: str | None
    tool_calls: Sequence[Call]


class Choice(TypedDict):
    """What is read of a choice."""

    message: Message
    delta: Message


class Completion(TypedDict):
    """What is read of an answer, or of a chunk of a streamed one."""

    choices: Sequence[Choice]


class Client(Protocol):
    """Posts bodies."""

    async def post(self, body: object) -> bytes:
        """The whole answer."""
        ...

    def chunks(self, body: object) -> AsyncIterator[bytes]:
        """The answer as it arrives."""
        ...


class HttpxClient:
    """The ordinary way: `AsyncClient.post` and `AsyncClient.stream`."""

    def __init__(self, params: Params) -> None:
        import httpx

        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx.AsyncClient(base_url=params.base_url, timeout=SECONDS, trust_env=False, limits=limits)

    async def post(self, body: object) -> bytes:
        """The whole answer."""
        response = await self._client.post("/chat/completions", json=body)
        response.raise_for_status()
        return response.content

    async def chunks(self, body: object) -> AsyncIterator[bytes]:
        """The answer as it arrives."""
        async with self._client.stream("POST", "/chat/completions", json=body) as response:
            response.raise_for_status()
            async for data in response.aiter_bytes():
                yield data


def parsed(data: bytes) -> Completion:
    """An answer, or a chunk."""
    found: Completion = json.loads(data)
    return found


def generate(params: Params) -> Workload:
    """One answer."""
    client: Client = HttpxClient(params)

    async def one() -> None:
        answer = parsed(await client.post({"model": MODEL, "messages": [QUESTION]}))
        expect(answer["choices"][0]["message"].get("content"))

    return repeated(one, concurrency=params.concurrency)


async def deltas(client: Client) -> AsyncIterator[str]:
    """The text of one streamed answer."""
    wanted = {"model": MODEL, "messages": [QUESTION], "stream": True, "stream_options": {"include_usage": True}}
    buffer = b""
    async for data in client.chunks(wanted):
        buffer += data
        *events, buffer = buffer.split(b"\n\n")
        for event in events:
            found = event.removeprefix(b"data:").strip()
            if found == b"[DONE]":
                continue  # the body is read to its end, or the connection could not be used again
            choices = parsed(found)["choices"]
            if choices and (text := choices[0]["delta"].get("content")):
                yield text


def stream(params: Params) -> Workload:
    """Streamed answers."""
    client: Client = HttpxClient(params)
    return streamed(lambda: deltas(client), params)


async def add(a: int, b: int) -> int:
    """The tool."""
    return a + b


async def execute(call: Call) -> dict[str, str]:
    """Run the tool; the message that tells what it gave."""
    arguments: dict[str, int] = json.loads(call["function"]["arguments"])
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(await add(**arguments))}


def loop(params: Params) -> Workload:
    """Steps of tool calls until there is text."""
    client: Client = HttpxClient(params)

    async def one() -> None:
        messages: list[object] = [QUESTION]
        while True:
            raw = await client.post({"model": MODEL, "messages": messages, "tools": [TOOL]})
            message = parsed(raw)["choices"][0]["message"]
            messages.append(message)
            calls = message.get("tool_calls") or ()
            if not calls:
                break
            messages += await asyncio.gather(*map(execute, calls)) if len(calls) > 1 else [await execute(calls[0])]
        expect(message.get("content"), message)

    return repeated(one, unit=params.steps, concurrency=params.concurrency)


SETUPS: Setups = {"generate": generate, "stream": stream, "loop": loop}
