"""OpenAI as a provider of both APIs, and other servers with the Responses API."""

from __future__ import annotations

import json

import httpx
import pytest

from onion.errors import InvalidArgumentError, LoadAPIKeyError, NoSuchModelError
from onion.providers import Address, openai
from onion.providers.openai import ModelTraits, OpenAI
from onion.providers.openai_responses import ResponsesDialect, ResponsesProvider
from tests.providers.openai_responses.bodies import HELLO, KEY, RESPONSE

AT_H = Address("http://h/v1")


class Asked:
    """A client that answers every request with `RESPONSE` and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, json=RESPONSE)


@pytest.fixture
def asked() -> Asked:
    """Where requests go."""
    return Asked()


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_openai_speaks_responses_unless_told_otherwise() -> None:
    models = [openai.language_model("gpt-5"), openai.responses("gpt-5"), openai.chat("gpt-5")]

    assert [repr(model) for model in models] == [
        *("openai.responses/gpt-5", "openai.responses/gpt-5", "openai.chat/gpt-5")
    ]
    assert set(models[0].supported_urls) == {"image/*", "application/pdf"}
    assert set(models[2].supported_urls) == {"image/*"}
    assert openai.tools.web_search().id == "openai.web_search"
    assert OpenAI.tools is openai.tools


async def test_settings_hold_for_both_apis(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = OpenAI(http_client=asked.client, organization="org", headers={"x-team": "a"}, query={"v": "1"})
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy/v1")

    await provider.responses("gpt-5").do_generate(HELLO)

    (request,) = asked.requests
    assert str(request.url) == "http://proxy/v1/responses?v=1"
    assert request.headers["openai-organization"] == "org"
    assert request.headers["x-team"] == "a"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert repr(provider).startswith("OpenAI('openai', base_url='https://api.openai.com/v1'")
    await provider.aclose()


async def test_without_a_key_nothing_is_sent() -> None:
    with pytest.raises(LoadAPIKeyError, match="set OPENAI_API_KEY"):
        await openai.responses("gpt-5").do_generate(HELLO)
    await openai.aclose()


async def test_what_is_known_of_a_model_can_be_said_anew(asked: Asked) -> None:
    provider = OpenAI(api_key=KEY, http_client=asked.client, models=(ModelTraits(prefix="gpt-5", takes_effort=False),))

    await provider.responses("gpt-5").do_generate(HELLO.replace(temperature=0.5))

    assert json.loads(asked.requests[0].content)["temperature"] == 0.5


def test_models_that_there_are_none_of_are_named() -> None:
    vendor = ResponsesProvider(ResponsesDialect(name="vendor"), AT_H)

    for provider in (OpenAI(), vendor):
        with pytest.raises(NoSuchModelError, match="no embedding model 'e'"):
            provider.embedding_model("e")
        with pytest.raises(NoSuchModelError, match="no image model 'i'"):
            provider.image_model("i")
        with pytest.raises(NoSuchModelError, match="needs a model id"):
            provider.language_model("")


async def test_another_server_is_a_provider_of_its_own(asked: Asked) -> None:
    provider = ResponsesProvider(
        ResponsesDialect(name="vendor"),
        AT_H,
        http_client=asked.client,
        transform_request=lambda body: {**body, "extra": 1},
    )
    model = provider.language_model("m")

    result = await model.do_generate(HELLO)

    assert json.loads(asked.requests[0].content) == {
        "model": "m",
        "input": [{"role": "user", "content": "Say hello."}],
        "extra": 1,
    }
    assert result.provider_metadata == {"vendor": {"responseId": "resp_1"}}
    assert repr(provider) == "ResponsesProvider('vendor', base_url='http://h/v1', headers={})"
    assert dict(model.supported_urls) == {}
    await provider.aclose()


def test_a_reserved_name_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="choose another name"):
        ResponsesProvider(ResponsesDialect(name="onion"), AT_H)
