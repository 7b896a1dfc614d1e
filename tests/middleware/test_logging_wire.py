"""Everything that a program logs at DEBUG, ours and the HTTP client's, while secrets go over a real connection."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

import pytest
import structlog

from onion.errors import OnionError
from onion.middleware import SHARED, Cache, Logging, MemoryStore, Retry, ToolCallRepair
from onion.providers import openai_compatible
from onion.providers.anthropic import Anthropic
from onion.providers.google import Google
from onion.providers.openai import OpenAI
from onion.spec import (
    AssistantMessage,
    CallOptions,
    FilePart,
    FileURL,
    FunctionTool,
    ReasoningPart,
    TextPart,
    UserMessage,
)
from onion.streaming import collect
from onion.wrap import wrap_language_model
from tests.middleware.stacks import FakeSleep
from tests.providers.loopback import Script, answer, serve, stream
from tests.providers.openai_chat.bodies import COMPLETION, KEY, STREAM, event

if TYPE_CHECKING:
    from onion.providers.openai_chat.provider import ChatProvider

TOKEN = "eyJhbGciOi.eyJzdWIiOi.c2lnbmVk"
SIGNATURE = "U2lnbmF0dXJl" * 20
IMAGE = "iVBORw0KGgoAAAANSUhEUg"
PLANTED = (KEY, TOKEN, SIGNATURE, IMAGE)

PARAMS = CallOptions(
    prompt=(
        UserMessage(
            content=(
                TextPart(text=f"my key is {KEY}, see data:image/png;base64,{IMAGE}"),
                FilePart(media_type="image/png", data=FileURL(url=f"data:image/png;base64,{IMAGE}")),
            )
        ),
        AssistantMessage(
            content=(
                ReasoningPart(text="hm", provider_options={"anthropic": {"signature": SIGNATURE}}),
                TextPart(text="Hm.", provider_options={"google": {"thoughtSignature": SIGNATURE}}),
            )
        ),
        UserMessage(content=(TextPart(text="And?"),)),
    ),
    tools=(FunctionTool(name="wave", input_schema={"type": "object"}),),
    headers={"authorization": f"Bearer {TOKEN}", "x-session": TOKEN},
)
Client: TypeAlias = Literal["httpx", "aiohttp"]
PROVIDERS: dict[str, Callable[[str, Client], ChatProvider | OpenAI | Anthropic | Google]] = {
    "chat": lambda url, client: openai_compatible(
        base_url=url, api_key=KEY, headers={"x-api-key": KEY}, http_client=client
    ),
    "responses": lambda url, client: OpenAI(base_url=url, api_key=KEY, http_client=client),
    "anthropic": lambda url, client: Anthropic(base_url=url, api_key=KEY, http_client=client),
    "google": lambda url, client: Google(base_url=url, api_key=KEY, http_client=client),
}
ECHO = f"wrong key {KEY} or {TOKEN} for data:image/png;base64,{IMAGE}, signature={SIGNATURE}"
SCRIPTS: dict[str, Script] = {
    "an answer": answer(COMPLETION),
    "a stream": stream(*STREAM),
    "a refusal": answer({"error": {"message": ECHO}}, status=401),
    "an overload": answer({"error": {"message": ECHO}}, status=503),
    "a stream that breaks": stream(*STREAM[:2], event({"error": {"message": ECHO}})),
    "no answer": answer(ECHO.encode(), kind="text/html"),
}


@pytest.fixture
def everything() -> Iterator[io.StringIO]:
    """What all loggers of the process write, from DEBUG on; structlog writes through the same root."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.JSONRenderer()],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    yield written
    structlog.reset_defaults()
    root.setLevel(before)
    root.removeHandler(handler)


@pytest.mark.parametrize("client", ["httpx", "aiohttp"])
@pytest.mark.parametrize("wire", PROVIDERS)
@pytest.mark.parametrize("said", SCRIPTS)
async def test_no_secret_is_in_what_all_loggers_write_at_debug(
    wire: str, said: str, client: Client, everything: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    layers = [
        Logging(content=True),
        Cache(MemoryStore(), scope=SHARED),
        ToolCallRepair(),
        Retry(sleep=FakeSleep()),
        Logging(content=True),
    ]

    async with serve(SCRIPTS[said]) as server:
        provider = PROVIDERS[wire](server.url, client)
        model = wrap_language_model(provider.language_model("m"), layers)
        for is_stream in (True, False):
            with contextlib.suppress(OnionError):
                await (collect(await model.do_stream(PARAMS)) if is_stream else model.do_generate(PARAMS))
        await provider.aclose()

    printed = capfd.readouterr()
    written = everything.getvalue() + printed.out + printed.err
    assert "model call started" in written
    assert ("send_request_headers.started" in written) == (client == "httpx")
    assert [secret for secret in PLANTED if secret in written] == []
