"""The vendors of the chat format: where their requests go, with which key, and how their form differs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest

from onion import providers
from onion.errors import InvalidArgumentError, LoadAPIKeyError
from onion.providers import azure_resource, vendor
from onion.providers._traits import ModelTraits
from onion.providers.openai_chat.presets import PRESETS
from onion.providers.openai_chat.vendors import VENDORS
from onion.registry import resolve_model
from onion.spec.call import CallOptions, JsonFormat, ReasoningEffort
from onion.spec.prompt import TextPart, UserMessage
from tests.providers.openai_chat.bodies import COMPLETION, DONE, KEY, text

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))
EVERYTHING = ASK.replace(
    max_output_tokens=9,
    temperature=0.5,
    top_p=0.9,
    top_k=4,
    presence_penalty=0.1,
    frequency_penalty=0.2,
    stop_sequences=("END",),
    seed=7,
    reasoning="low",
    response_format=JsonFormat(),
)
SETTINGS = {"temperature", "top_p", "presence_penalty", "frequency_penalty", "stop", "seed", "reasoning_effort"}
HOSTED = sorted(name for name, known in VENDORS.items() if known.key_variable)
OWN = sorted(name for name, known in VENDORS.items() if not known.key_variable)


class Wire:
    """Stands for the network: keeps what is sent, and answers as asked."""

    def __init__(self) -> None:
        self.sent: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    @property
    def body(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.sent[-1].content)
        return found

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if self.body.get("stream"):
            head = {"content-type": "text/event-stream"}
            return httpx.Response(200, headers=head, content=text("Hello") + DONE)
        return httpx.Response(200, json=dict(COMPLETION))


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.mark.parametrize("name", sorted(VENDORS))
async def test_any_model_of_any_vendor_works_and_warns_of_every_setting_that_is_left_out(name: str, wire: Wire) -> None:
    known = VENDORS[name]
    base = known.base_url or "https://mine.openai.azure.com"
    model = vendor(name, api_key=KEY, base_url=base, http_client=wire.client)("family/model-nobody-knows:7b")

    result = await model.do_generate(EVERYTHING)

    sent = wire.sent[-1]
    warned = {warning.feature for warning in result.warnings if warning.type == "unsupported"}
    renamed = {"stop_sequences": "stop", "reasoning": "reasoning_effort"}
    left_out = {renamed.get(feature, feature) for feature in warned}
    seed = {"seed": known.dialect.seed_key}
    assert (result.text, model.provider) == ("Hello, world", f"{name}.chat")
    assert str(sent.url) == base + known.path
    assert sent.headers[known.key_header] == (f"Bearer {KEY}" if known.key_header == "authorization" else KEY)
    assert wire.body["model"] == "family/model-nobody-knows:7b"
    assert wire.body[known.dialect.max_tokens_key] == 9
    assert {key for key in SETTINGS if seed.get(key, key) in wire.body} == SETTINGS - left_out
    assert ("top_k" in wire.body) == known.dialect.takes_top_k == ("top_k" not in warned)


@pytest.mark.parametrize("name", sorted(VENDORS))
async def test_usage_of_streams_is_asked_for_where_the_vendor_wants_to_be_asked(name: str, wire: Wire) -> None:
    provider = vendor(name, api_key=KEY, base_url="http://vendor/v1", http_client=wire.client)

    async with await provider.language_model("m").do_stream(ASK) as opened:
        types = [part.type async for part in opened]

    assert types[-1] == "finish"
    assert ("stream_options" in wire.body) == VENDORS[name].dialect.includes_usage


@pytest.mark.parametrize("name", HOSTED)
async def test_a_missing_key_is_an_error_that_names_the_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = VENDORS[name].key_variable or ""
    monkeypatch.delenv(variable, raising=False)

    with pytest.raises(LoadAPIKeyError, match=rf"{name}\.chat needs an API key: .*{variable}"):
        await PRESETS[name]("m").do_generate(ASK)


@pytest.mark.parametrize("name", HOSTED)
async def test_the_key_is_read_from_the_environment(name: str, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    known = VENDORS[name]
    monkeypatch.setenv(known.key_variable or "", KEY)

    await vendor(name, base_url="http://vendor/v1", http_client=wire.client)("m").do_generate(ASK)

    assert wire.sent[-1].headers[known.key_header].endswith(KEY)


@pytest.mark.parametrize("name", OWN)
async def test_a_server_of_ones_own_wants_no_key(name: str, wire: Wire) -> None:
    await vendor(name, http_client=wire.client)("m").do_generate(ASK)

    assert "authorization" not in wire.sent[-1].headers
    assert wire.sent[-1].url.host == "localhost"


@pytest.mark.parametrize("name", sorted(VENDORS))
def test_a_preset_is_found_by_its_name_and_by_a_string(name: str) -> None:
    preset = getattr(providers, name)

    model = resolve_model(f"{name}:family:x")

    assert preset is PRESETS[name]
    assert (preset("family:x").provider, preset("family:x").model_id) == (model.provider, model.model_id)


def test_a_vendor_that_is_not_known_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'nobody' is no known vendor: openai_compatible.* groq"):
        vendor("nobody")


async def test_json_of_any_shape_is_asked_for_in_the_vendors_way(wire: Wire) -> None:
    await vendor("lm_studio", http_client=wire.client)("m").do_generate(EVERYTHING)
    as_schema = wire.body["response_format"]
    await vendor("ollama", http_client=wire.client)("m").do_generate(EVERYTHING)

    assert as_schema == {"type": "json_schema", "json_schema": {"name": "response", "schema": {"type": "object"}}}
    assert wire.body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("name", "level", "sent"),
    [
        ("deepseek", "none", {"thinking": {"type": "disabled"}}),
        ("moonshot", "none", {"thinking": {"type": "disabled"}}),
        ("deepseek", "high", {"reasoning_effort": "high"}),
        ("groq", "none", {"reasoning_effort": "none"}),
    ],
)
async def test_reasoning_is_turned_off_in_the_vendors_way(
    wire: Wire, name: str, level: ReasoningEffort, sent: JsonObject
) -> None:
    await vendor(name, api_key="k", http_client=wire.client)("m").do_generate(ASK.replace(reasoning=level))

    assert {key: wire.body[key] for key in ("thinking", "reasoning_effort") if key in wire.body} == sent


async def test_what_is_known_of_a_model_can_be_said(wire: Wire) -> None:
    provider = vendor("ollama", http_client=wire.client, models=(ModelTraits(prefix="m", refuses=frozenset({"seed"})),))

    result = await provider("m-1").do_generate(ASK.replace(seed=7))

    assert "seed" not in wire.body
    assert [warning.type for warning in result.warnings] == ["unsupported"]


def test_images_are_left_to_vendors_that_fetch_them_unless_you_say_otherwise() -> None:
    assert list(vendor("groq")("m").supported_urls) == ["image/*"]
    assert dict(vendor("ollama")("m").supported_urls) == {}
    assert dict(vendor("groq", supported_urls={})("m").supported_urls) == {}


async def test_azure_is_reached_by_the_name_of_the_resource(wire: Wire) -> None:
    provider = azure_resource("mine", api_key=KEY, http_client=wire.client)

    await provider("my-deployment").do_generate(ASK)

    assert str(wire.sent[-1].url) == "https://mine.openai.azure.com/openai/v1/chat/completions"
    assert wire.sent[-1].headers["api-key"] == KEY
    assert wire.body["model"] == "my-deployment"


async def test_azure_takes_an_api_version_with_the_deployment_in_the_path(wire: Wire) -> None:
    provider = azure_resource("https://a.b/", api_version="2024-10-21", api_key=KEY, http_client=wire.client)

    await provider("my deployment/1").do_generate(ASK)

    path = "openai/deployments/my%20deployment%2F1/chat/completions?api-version=2024-10-21"
    assert str(wire.sent[-1].url) == f"https://a.b/{path}"


async def test_azure_takes_a_token_in_place_of_the_key(wire: Wire) -> None:
    provider = azure_resource("mine", headers={"Authorization": "Bearer entra"}, http_client=wire.client)

    await provider("d").do_generate(ASK)

    assert wire.sent[-1].headers["authorization"] == "Bearer entra"
    assert "api-key" not in wire.sent[-1].headers


async def test_azure_without_an_address_says_which_variable_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)

    with pytest.raises(InvalidArgumentError, match="AZURE_OPENAI_ENDPOINT"):
        await vendor("azure", api_key=KEY)("d").do_generate(ASK)


async def test_azures_address_is_read_from_the_environment(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://env.openai.azure.com/")

    await vendor("azure", api_key=KEY, http_client=wire.client)("d").do_generate(ASK)

    assert str(wire.sent[-1].url) == "https://env.openai.azure.com/openai/v1/chat/completions"


@pytest.mark.parametrize(
    ("model_id", "sent"),
    [
        ("grok-9", "low"),
        ("grok-4.3", "low"),
        ("grok-3-mini", "low"),
        ("grok-4-fast-reasoning", None),
        ("grok-4.20-reasoning", None),
        ("grok-3", None),
    ],
)
async def test_groks_that_take_no_level_of_reasoning_are_asked_for_none(
    wire: Wire, model_id: str, sent: str | None
) -> None:
    result = await vendor("xai", api_key=KEY, http_client=wire.client)(model_id).do_generate(
        ASK.replace(reasoning="low")
    )

    assert wire.body.get("reasoning_effort") == sent
    assert [warning.type for warning in result.warnings] == ([] if sent else ["unsupported"])
