"""The client of a provider, and what becomes of it when the provider is closed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from onion.providers import openai_compatible
from onion.streaming import collect
from tests.providers.clients import make_httpx
from tests.providers.loopback import Server, stream
from tests.providers.openai_chat.bodies import HELLO, STREAM
from tests.providers.test_loops import serving

if TYPE_CHECKING:
    from onion.providers._model import WireModel
    from onion.providers.openai_chat import ChatProvider


async def use(model: WireModel) -> list[str]:
    """Two answers."""
    return [(await collect(await model.do_stream(HELLO))).text for _ in range(2)]


def test_a_client_that_was_given_is_not_closed_with_the_provider() -> None:
    async def run(server: Server) -> bool:
        async with make_httpx() as client:
            provider = openai_compatible(base_url=server.url, http_client=client)
            await use(provider.chat("m"))
            await provider.aclose()
            return client.is_closed

    with serving(stream(*STREAM)) as server:
        assert not asyncio.run(run(server))


def test_a_provider_that_was_closed_opens_again_when_needed() -> None:
    async def run(provider: ChatProvider) -> list[str]:
        first = await use(provider.chat("m"))
        await provider.aclose()
        return first + await use(provider.chat("m"))

    with serving(stream(*STREAM)) as server:
        assert asyncio.run(run(openai_compatible(base_url=server.url))) == ["Hello, world"] * 4
