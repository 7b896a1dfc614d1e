"""The models that cases are run with, by wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers import openai_compatible
from onion.providers.anthropic import Anthropic
from onion.providers.google import Google
from onion.providers.openai import OpenAI
from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage
from tests.cases.case import WaitingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.providers import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import LanguageModel

NAME = "vendor"
KEY = "sk-TESTKEY-123"
ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="go"),)),))


def _openai_chat(client: HTTPClient, key: str) -> LanguageModel:
    return openai_compatible(base_url="http://case/v1", model="m-1", name=NAME, api_key=key, http_client=client)


def _anthropic(client: HTTPClient, key: str) -> LanguageModel:
    return Anthropic(base_url="http://case/v1", api_key=key, http_client=client).language_model("claude-c-1")


def _openai_responses(client: HTTPClient, key: str) -> LanguageModel:
    return OpenAI(base_url="http://case/v1", api_key=key, http_client=client).responses("gpt-c-1")


def _gemini(client: HTTPClient, key: str) -> LanguageModel:
    return Google(base_url="http://case/v1beta", api_key=key, http_client=client).language_model("gemini-c-1")


MODELS: Mapping[str, Callable[[HTTPClient, str], LanguageModel]] = {
    "anthropic": _anthropic,
    "gemini": _gemini,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
"""The wire formats that are built."""

_CHAT: JsonObject = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}
_MESSAGE: JsonObject = {"content": [{"type": "text", "text": "fine"}], "stop_reason": "end_turn"}
_CANDIDATES: JsonObject = {"candidates": [{"content": {"parts": [{"text": "fine"}]}, "finishReason": "STOP"}]}
_RESPONSE: JsonObject = {
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "fine"}]}],
}
FINE: Mapping[str, JsonObject] = {
    "anthropic": {"body": _MESSAGE},
    "gemini": {"body": _CANDIDATES},
    "openai-chat": {"body": _CHAT},
    "openai-responses": {"body": _RESPONSE},
}
"""An answer that succeeds."""


def model_over(provider: str, client: HTTPClient, key: str = KEY) -> LanguageModel:
    """A model that speaks the format *provider* over *client*, with that API key."""
    if provider not in MODELS:
        raise WaitingError(provider)
    return MODELS[provider](client, key)
