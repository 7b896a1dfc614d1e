"""The provider: addresses and keys from arguments or the environment, models, and what it shows of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from onion.errors import InvalidArgumentError, LoadAPIKeyError, NoSuchModelError
from onion.providers import google
from onion.providers.google import Google, ModelTraits
from onion.registry import resolve_model
from tests.providers.google.bodies import HELLO, KEY, text, whole

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

VARIABLES = ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


class Asked:
    """A client that keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, json=whole(text("hi")))


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


async def test_address_and_key_come_from_the_environment_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked()
    model = Google(http_client=asked.client, query={"x": "1"}).language_model("gemini-x")

    for name in reversed(VARIABLES):
        monkeypatch.setenv(name, name.lower())
        await model.do_generate(HELLO)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://gateway/v1/publishers/google/")
    await model.do_generate(HELLO)

    keys = [request.headers["x-goog-api-key"] for request in asked.requests]
    assert keys == [*(name.lower() for name in reversed(VARIABLES)), VARIABLES[0].lower()]
    assert [str(request.url) for request in asked.requests[2:]] == [
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent?x=1",
        "http://gateway/v1/publishers/google/models/gemini-x:generateContent?x=1",
    ]


async def test_without_a_key_nothing_is_sent_and_the_variables_are_named() -> None:
    asked = Asked()

    with pytest.raises(LoadAPIKeyError, match=" or ".join(VARIABLES)):
        await Google(http_client=asked.client).language_model("gemini-x").do_generate(HELLO)

    assert asked.requests == []


async def test_the_body_can_be_changed_before_it_is_sent() -> None:
    asked = Asked()

    def change(body: JsonObject) -> JsonObject:
        return {"contents": body["contents"], "novelty": 1}

    provider = Google(api_key=KEY, http_client=asked.client, transform_request=change)
    await provider.language_model("gemini-x").do_generate(HELLO)

    assert asked.requests[0].content.endswith(b'"novelty":1}')


async def test_what_is_known_of_models_can_be_said_anew() -> None:
    asked = Asked()
    provider = Google(api_key=KEY, http_client=asked.client, models=(ModelTraits(prefix="", thinking="none"),))

    result = await provider.language_model("gemini-x").do_generate(HELLO.replace(reasoning="low"))

    assert len(result.warnings) == 1


@pytest.mark.parametrize(
    ("url", "is_fetched"),
    [
        ("https://generativelanguage.googleapis.com/v1beta/files/abc", True),
        ("https://www.youtube.com/watch?v=x", True),
        ("https://youtu.be/x", True),
        ("gs://bucket/file.wav", True),
        ("https://example.com/files/x.png", False),
        ("https://youtube.com.example.com/watch?v=x", False),
    ],
)
def test_what_google_fetches_itself_is_known(url: str, *, is_fetched: bool) -> None:
    patterns = google.language_model("gemini-x").supported_urls["*/*"]

    assert any(pattern.search(url) for pattern in patterns) is is_fetched


async def test_the_module_is_a_provider_and_a_string_names_its_models() -> None:
    model = resolve_model("google:gemini-x")

    assert (model.provider, model.model_id) == ("google.generative-ai", "gemini-x")
    for make in (google.embedding_model, google.image_model):
        with pytest.raises(NoSuchModelError):
            make("m")
    with pytest.raises(NoSuchModelError):
        google.language_model("")
    await google.aclose()


def test_it_shows_no_secrets_and_refuses_what_is_no_address() -> None:
    shown = repr(Google(api_key=KEY, headers={"x-goog-api-key": KEY}))

    assert KEY not in shown
    assert "generativelanguage" in shown
    with pytest.raises(InvalidArgumentError):
        Google(base_url="nowhere")
