"""Providers: addresses, keys from arguments or the environment, headers, event loops, and no secret anywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest

from onion.errors import (
    InvalidArgumentError,
    LoadAPIKeyError,
    NoSuchModelError,
)
from onion.providers import openai, openai_compatible
from onion.providers._chat import ChatDialect
from onion.providers._http import package_version
from onion.providers._model import WireModel
from onion.providers.openai import OpenAI
from onion.providers.openai_chat import ChatProvider
from tests.providers.openai_chat.bodies import COMPLETION, HELLO, KEY

if TYPE_CHECKING:
    from onion.spec.base import JsonObject


class Asked:
    """A client that answers every request with `COMPLETION` and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    @property
    def last(self) -> httpx.Request:
        """The latest request."""
        return self.requests[-1]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, json=COMPLETION)


@pytest.fixture
def asked() -> Asked:
    """Where requests go."""
    return Asked()


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VENDOR_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://h/v1", "http://h/v1/chat/completions?v=1"),
        ("http://h/v1/", "http://h/v1/chat/completions?v=1"),
        ("https://h/x?api-version=2", "https://h/x/chat/completions?api-version=2&v=1"),
    ],
)
async def test_the_address_is_made_of_base_url_and_query(asked: Asked, base_url: str, url: str) -> None:
    model = openai_compatible(base_url=base_url, model="m", query={"v": "1"}, http_client=asked.client)

    await model.do_generate(HELLO)

    assert str(asked.last.url) == url


@pytest.mark.parametrize("base_url", ["", "localhost:8080", "ftp://h/v1", "http://", "/v1"])
def test_a_base_url_that_is_none_is_refused(base_url: str) -> None:
    with pytest.raises(InvalidArgumentError, match="base_url must begin with http"):
        openai_compatible(base_url=base_url, model="m")


@pytest.mark.parametrize("name", ["", "onion"])
def test_a_reserved_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="choose another name"):
        openai_compatible(base_url="http://h", name=name)


async def test_a_server_without_a_key_gets_none(asked: Asked) -> None:
    await openai_compatible(base_url="http://h/v1", model="m", http_client=asked.client).do_generate(HELLO)

    assert "authorization" not in asked.last.headers


async def test_a_key_is_a_bearer_token_without_the_spaces_around_it(asked: Asked) -> None:
    model = openai_compatible(base_url="http://h/v1", model="m", api_key=f" {KEY}\n", http_client=asked.client)

    await model.do_generate(HELLO)

    assert asked.last.headers["authorization"] == f"Bearer {KEY}"


async def test_the_key_is_read_from_the_environment_at_each_call(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = openai_compatible(base_url="http://h/v1", api_key_variable="VENDOR_KEY", http_client=asked.client)
    model = provider.chat("m")

    with pytest.raises(LoadAPIKeyError, match="set VENDOR_KEY"):
        await model.do_stream(HELLO)
    monkeypatch.setenv("VENDOR_KEY", KEY)
    await model.do_generate(HELLO)

    assert len(asked.requests) == 1
    assert asked.last.headers["authorization"] == f"Bearer {KEY}"


async def test_the_callers_own_authorization_needs_no_key(asked: Asked) -> None:
    own = {"Authorization": "Basic abc"}
    provider = OpenAI(http_client=asked.client, headers=own)

    await provider.chat("gpt-5").do_generate(HELLO)

    assert asked.last.headers["authorization"] == "Basic abc"


async def test_headers_of_a_call_win_over_those_of_the_provider(asked: Asked) -> None:
    model = openai_compatible(
        base_url="http://h", model="m", headers={"X-Team": "a", "User-Agent": "app/1"}, http_client=asked.client
    )

    await model.do_generate(HELLO.replace(headers={"x-team": "b"}))

    assert asked.last.headers["x-team"] == "b"
    assert asked.last.headers["user-agent"] == f"app/1 onion/{package_version()} openai-chat"


def test_a_header_that_http_cannot_carry_is_refused_at_once() -> None:
    with pytest.raises(InvalidArgumentError, match="line breaks"):
        openai_compatible(base_url="http://h", model="m", headers={"x": "a\nb"})


async def test_a_request_can_be_changed_before_it_is_sent(asked: Asked) -> None:
    def add(body: JsonObject) -> JsonObject:
        return {**body, "extra": True}

    model = openai_compatible(base_url="http://h", model="m", transform_request=add, http_client=asked.client)
    result = await model.do_generate(HELLO)

    sent = json.loads(asked.last.content)
    assert sent["extra"] is True
    assert result.request is not None
    assert result.request.body == sent


def test_without_a_model_there_is_a_provider_of_all_of_them() -> None:
    provider = openai_compatible(base_url="http://u:pw@h/v1?k=s3cret", name="vendor", headers={"x-api-key": KEY})

    assert isinstance(provider, ChatProvider)
    model = provider.language_model("m-7")
    assert isinstance(model, WireModel)
    assert (model.provider, model.model_id, dict(model.supported_urls)) == ("vendor.chat", "m-7", {})
    assert repr(provider) == "ChatProvider('vendor', base_url='http://h/v1', headers={'x-api-key': '***'})"


def test_a_dialect_may_be_given() -> None:
    dialect = ChatDialect(name="other", includes_usage=False)

    assert openai_compatible(base_url="http://h", model="m", dialect=dialect).provider == "other.chat"


def test_what_a_provider_does_not_have_is_named() -> None:
    provider = openai_compatible(base_url="http://h", name="vendor")

    with pytest.raises(NoSuchModelError, match="no embedding model 'e'") as embedding:
        provider.embedding_model("e")
    with pytest.raises(NoSuchModelError, match="no image model 'i'") as image:
        provider.image_model("i")
    with pytest.raises(NoSuchModelError, match="needs a model id"):
        provider.language_model("")

    assert (embedding.value.kind, image.value.kind) == ("embedding model", "image model")


def test_the_module_is_the_provider_of_openai() -> None:
    model = openai.chat("gpt-5")

    assert (model.provider, model.model_id, repr(model)) == ("openai.chat", "gpt-5", "openai.chat/gpt-5")
    assert openai.language_model("gpt-4o").model_id == "gpt-4o"
    assert [pattern.pattern for pattern in model.supported_urls["image/*"]] == ["^https://"]
    with pytest.raises(NoSuchModelError):
        openai.embedding_model("e")


async def test_openai_without_a_key_is_an_error_before_anything_is_sent() -> None:
    with pytest.raises(LoadAPIKeyError, match="set OPENAI_API_KEY"):
        await openai.chat("gpt-5").do_generate(HELLO)
    await openai.aclose()


async def test_openais_settings_come_from_arguments_or_the_environment(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = OpenAI(http_client=asked.client, organization="org", project="proj").chat("gpt-5")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    await model.do_generate(HELLO.replace(max_output_tokens=5, temperature=0.1))
    first = asked.last
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy/v1")
    await model.do_generate(HELLO)

    assert str(first.url) == "https://api.openai.com/v1/chat/completions"
    assert (first.headers["openai-organization"], first.headers["openai-project"]) == ("org", "proj")
    assert json.loads(first.content)["max_completion_tokens"] == 5
    assert "temperature" not in json.loads(first.content)
    assert str(asked.last.url) == "http://proxy/v1/chat/completions"


async def test_an_address_in_the_environment_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "proxy")

    with pytest.raises(InvalidArgumentError, match="base_url"):
        await OpenAI(api_key=KEY).chat("gpt-5").do_generate(HELLO)


@pytest.mark.parametrize(
    ("model_id", "sent"),
    [
        ("gpt-4o", {"temperature", "stop"}),
        ("gpt-5-chat-latest", {"temperature", "stop"}),
        ("o1", {"stop", "reasoning_effort"}),
        ("o3-mini", {"reasoning_effort"}),
        ("gpt-5-mini", {"reasoning_effort"}),
        ("gpt-5.2", {"reasoning_effort"}),
        ("a-model-of-tomorrow", {"reasoning_effort"}),
    ],
)
async def test_what_a_model_refuses_is_not_sent(asked: Asked, model_id: str, sent: set[str]) -> None:
    params = HELLO.replace(temperature=0.5, stop_sequences=("x",), reasoning="low")

    result = await OpenAI(api_key=KEY, http_client=asked.client).chat(model_id).do_generate(params)

    assert set(json.loads(asked.last.content)) - {"model", "messages"} == sent
    assert len(result.warnings) == 3 - len(sent)
