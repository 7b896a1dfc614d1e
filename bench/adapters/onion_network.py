"""Onion's provider for the chat format, over the loopback server. The variant names the HTTP client under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bench.adapters.onion_calls import add
from bench.workload import Params, Setups, Workload, expect, repeated, streamed
from onion import generate_text, is_step_count, stream_text
from onion.providers import openai_compatible

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from onion import LanguageModel


def model_for(params: Params) -> LanguageModel:
    """The model behind the server."""
    client: Literal["aiohttp", "httpx"] = "aiohttp" if params.variant == "aiohttp" else "httpx"
    return openai_compatible(base_url=params.base_url, model="fake-1", api_key="x", http_client=client)


def generate(params: Params) -> Workload:
    """One step of `generate_text`."""
    model = model_for(params)

    async def one() -> None:
        expect((await generate_text(model=model, prompt="hi")).text)

    return repeated(one, concurrency=params.concurrency)


def loop(params: Params) -> Workload:
    """Steps of tool calls until there is text."""
    model = model_for(params)
    until = is_step_count(params.steps + 2)

    async def one() -> None:
        result = await generate_text(model=model, prompt="hi", tools=[add], stop_when=until)
        expect(result.text and len(result.steps) == params.steps + 1, result.text)

    return repeated(one, unit=params.steps, concurrency=params.concurrency)


def stream(params: Params) -> Workload:
    """Streamed answers."""
    model = model_for(params)

    def read() -> AsyncIterator[str]:
        return stream_text(model=model, prompt="hi").text_stream

    return streamed(read, params)


SETUPS: Setups = {"generate": generate, "stream": stream, "loop": loop}
