"""The models that cases are run with, by wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers import openai_compatible
from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage
from tests.cases.case import WaitingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.providers import HTTPClient
    from onion.spec.model import LanguageModel

NAME = "vendor"
KEY = "sk-TESTKEY-123"
ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="go"),)),))


def _openai_chat(client: HTTPClient) -> LanguageModel:
    return openai_compatible(base_url="http://case/v1", model="m-1", name=NAME, api_key=KEY, http_client=client)


MODELS: Mapping[str, Callable[[HTTPClient], LanguageModel]] = {"openai-chat": _openai_chat}
"""The wire formats that are built."""


def model_over(provider: str, client: HTTPClient) -> LanguageModel:
    """A model that speaks the format *provider* over *client*."""
    if provider not in MODELS:
        raise WaitingError(provider)
    return MODELS[provider](client)
