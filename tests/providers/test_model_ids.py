"""Ids of models, which may come from a stranger: they reach the server as they are, or are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from onion.errors import NoSuchModelError, OnionError
from onion.providers import openai_compatible, vendor
from onion.providers.anthropic import Anthropic
from onion.providers.google import Google
from onion.providers.openai import OpenAI
from onion.providers.openai_chat.presets import azure_resource
from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers import HTTPClient
    from onion.spec.model import LanguageModel

URL = "http://host/v1"
KEY = "sk-TESTKEY-123"
ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="hi"),)),))
MAKERS: dict[str, Callable[[HTTPClient, str], LanguageModel]] = {
    "anthropic": lambda client, name: Anthropic(base_url=URL, api_key=KEY, http_client=client).language_model(name),
    "azure": lambda client, name: azure_resource(URL, api_version="1", api_key=KEY, http_client=client)(name),
    "chat": lambda client, name: openai_compatible(base_url=URL, api_key=KEY, http_client=client).chat(name),
    "google": lambda client, name: Google(base_url=URL, api_key=KEY, http_client=client).language_model(name),
    "groq": lambda client, name: vendor("groq", base_url=URL, api_key=KEY, http_client=client)(name),
    "responses": lambda client, name: OpenAI(base_url=URL, api_key=KEY, http_client=client).responses(name),
}


async def asked(maker: str, model_id: str) -> httpx.URL:
    """Where a call of that model goes."""
    urls: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        urls.append(request.url)
        return httpx.Response(500)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(OnionError):
            await MAKERS[maker](client, model_id).do_generate(ASK)
    return urls[0]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("model_id", ["", "../files", "a/../../b", "..", ".", "m\n", "m\0", "\ud83d", "a/./b"])
async def test_an_id_that_would_lead_elsewhere_is_refused(maker: str, model_id: str) -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200))) as client:
        with pytest.raises(NoSuchModelError) as caught:
            MAKERS[maker](client, model_id)

    assert caught.value.model_id == model_id


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    "model_id", ["a b", "é", "a?b=c", "a#b", "a..b", "...", "org/model:free", "%2e%2e", "x" * 3000]
)
async def test_every_other_id_stays_in_its_place(maker: str, model_id: str) -> None:
    url = await asked(maker, model_id)

    assert url.host == "host"
    assert url.path.startswith("/v1/")
    assert url.fragment == ""
    assert set(url.params) <= {"api-version"}
