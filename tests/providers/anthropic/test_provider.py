"""The provider: addresses and keys from arguments or the environment, models, and what it shows of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from onion.errors import InvalidArgumentError, NoSuchModelError
from onion.providers import anthropic
from onion.providers.anthropic import Anthropic, ModelTraits
from onion.registry import resolve_model
from tests.providers.anthropic.bodies import HELLO, KEY, message, text

if TYPE_CHECKING:
    from onion.spec.base import JsonObject


class Asked:
    """A client that keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, json=message(text("hi")))


async def test_address_and_key_come_from_the_environment_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked()
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-1")
    model = Anthropic(http_client=asked.client, query={"beta": "true"}).language_model("claude-x")

    await model.do_generate(HELLO)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway/anthropic/v1/")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-2")
    await model.do_generate(HELLO)

    assert [str(request.url) for request in asked.requests] == [
        "https://api.anthropic.com/v1/messages?beta=true",
        "http://gateway/anthropic/v1/messages?beta=true",
    ]
    assert [request.headers["x-api-key"] for request in asked.requests] == ["k-1", "k-2"]


async def test_the_body_can_be_changed_before_it_is_sent() -> None:
    asked = Asked()

    def change(body: JsonObject) -> JsonObject:
        return {"model": body["model"], "novelty": 1}

    provider = Anthropic(api_key=KEY, http_client=asked.client, transform_request=change)
    result = await provider.messages("claude-x").do_generate(HELLO)

    assert asked.requests[0].content == b'{"model":"claude-x","novelty":1}'
    assert result.request is not None
    assert result.request.body == {"model": "claude-x", "novelty": 1}


async def test_what_is_known_of_models_can_be_said_anew() -> None:
    asked = Asked()
    models = (ModelTraits(prefix="claude-x", max_output_tokens=7), ModelTraits(prefix="claude-opus-4-1"))
    provider = Anthropic(api_key=KEY, http_client=asked.client, models=models)

    results = [
        await provider.messages(name).do_generate(HELLO) for name in ("claude-x-1", "claude-opus-4-1", "claude-y")
    ]

    bodies = [result.request.body for result in results if result.request]
    assert [body["max_tokens"] for body in bodies if isinstance(body, dict)] == [7, 128_000, 128_000]


def test_the_module_is_a_provider_and_strings_name_its_models() -> None:
    model = resolve_model("anthropic:claude-x")

    assert (model.provider, model.model_id) == ("anthropic.messages", "claude-x")
    assert set(model.supported_urls) == {"image/*", "application/pdf"}
    assert repr(anthropic.messages("claude-x")) == "anthropic.messages/claude-x"


@pytest.mark.parametrize("kind", ["embedding_model", "image_model"])
def test_there_are_language_models_only(kind: str) -> None:
    ask = {"embedding_model": anthropic.embedding_model, "image_model": anthropic.image_model}[kind]

    with pytest.raises(NoSuchModelError, match=kind.replace("_", " ")):
        ask("x")
    with pytest.raises(NoSuchModelError, match="empty"):
        anthropic.language_model("")


def test_nothing_secret_is_shown() -> None:
    provider = Anthropic(api_key=KEY, base_url="https://me:pw@h/v1", headers={"x-api-key": KEY})

    assert KEY not in repr(provider)
    assert "pw" not in repr(provider)
    assert repr(provider).startswith("Anthropic('anthropic', base_url='https://h/v1'")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="http"):
        Anthropic(base_url="api.anthropic.com")


async def test_a_provider_can_be_closed() -> None:
    await Anthropic().aclose()
    await anthropic.aclose()
