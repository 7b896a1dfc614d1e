"""OpenAI. The module is the provider: ``openai.responses("gpt-5")``; `OpenAI` makes one with settings of its own.

The key is read from ``OPENAI_API_KEY`` and the address from ``OPENAI_BASE_URL`` when a call is made.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from onion.providers._model import Address
from onion.providers._traits import ModelTraits
from onion.providers.openai_responses import OPENAI as RESPONSES
from onion.providers.openai_responses import PRODUCT as RESPONSES_PRODUCT
from onion.providers.openai_responses import ResponsesProvider, tools

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.providers._model import WireModel
    from onion.providers.openai_chat import ChatProvider
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

__all__ = [
    "ModelTraits",
    "OpenAI",
    "aclose",
    "chat",
    "embedding_model",
    "image_model",
    "language_model",
    "openai",
    "responses",
    "tools",
]

BASE_URL = "https://api.openai.com/v1"
_WEB = (re.compile(r"^https://"),)
SUPPORTED_URLS: SupportedURLs = {"image/*": _WEB}
"""The chat API fetches images by itself, and nothing else."""
SUPPORTED_URLS_OF_RESPONSES: SupportedURLs = {"image/*": _WEB, "application/pdf": _WEB}


class OpenAI:
    """OpenAI's models, with settings of one's own: by default behind the Responses API.

    Args:
        api_key: None reads ``OPENAI_API_KEY`` at each call.
        base_url: None reads ``OPENAI_BASE_URL`` at each call, and else is OpenAI's address.
        organization: Which of the key's organizations pays.
        project: Which of the organization's projects pays.
        headers: Sent with each request.
        query: Added to the URL; no place for secrets.
        http_client: A client of httpx, httpx2 or aiohttp, which stays the caller's to close, or the name of a package.
        transform_request: Given each request's body, gives the body to send.
        models: What is known of models that the table lacks, or has wrong; of equal prefixes yours counts.

    Raises:
        InvalidArgumentError: For a URL that is none, or a header that HTTP cannot carry.
    """

    tools = tools

    def __init__(  # noqa: PLR0913 - a public entry point
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        organization: str | None = None,
        project: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        http_client: HTTPClient | None = None,
        transform_request: Callable[[JsonObject], JsonObject] | None = None,
        models: tuple[ModelTraits, ...] = (),
    ) -> None:
        account = {"openai-organization": organization, "openai-project": project}
        own_headers = {name: found for name, found in account.items() if found is not None}

        def address(product: str) -> Address:
            return Address(
                product=product,
                base_url=base_url,
                base_url_variable="OPENAI_BASE_URL",
                default_base_url=BASE_URL,
                api_key=api_key,
                api_key_variable="OPENAI_API_KEY",
                headers={**own_headers, **(headers or {})},
                query=query,
            )

        def make_chat() -> ChatProvider:
            from onion.providers.openai_chat import OPENAI as CHAT
            from onion.providers.openai_chat import PRODUCT as CHAT_PRODUCT
            from onion.providers.openai_chat import ChatProvider

            return ChatProvider(
                replace(CHAT, models=(*models, *CHAT.models)),
                address(CHAT_PRODUCT),
                http_client=http_client,
                transform_request=transform_request,
                supported_urls=SUPPORTED_URLS,
            )

        self._make_chat = make_chat
        self._responses = ResponsesProvider(
            replace(RESPONSES, models=(*models, *RESPONSES.models)),
            address(RESPONSES_PRODUCT),
            http_client=http_client,
            transform_request=transform_request,
            supported_urls=SUPPORTED_URLS_OF_RESPONSES,
        )

    @functools.cached_property
    def _chat(self) -> ChatProvider:
        """Loaded by those who ask for it: most programs use one of the two formats."""
        return self._make_chat()

    def responses(self, model_id: str, /) -> WireModel:
        """The model of that id behind the Responses API; whether it exists only the server knows."""
        return self._responses.responses(model_id)

    def chat(self, model_id: str, /) -> WireModel:
        """The model of that id behind the chat completions API."""
        return self._chat.chat(model_id)

    def language_model(self, model_id: str, /) -> WireModel:
        """The model of that id behind the Responses API."""
        return self._responses.language_model(model_id)

    def embedding_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        self._responses.embedding_model(model_id)

    def image_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        self._responses.image_model(model_id)

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop; they open again when needed."""
        await self._responses.aclose()
        if "_chat" in vars(self):
            await self._chat.aclose()

    def __repr__(self) -> str:
        return repr(self._responses).replace(type(self._responses).__name__, type(self).__name__, 1)


openai: OpenAI = OpenAI()
"""The provider with settings from the environment alone; the functions of this module are its own."""

responses: Callable[[str], WireModel] = openai.responses
chat: Callable[[str], WireModel] = openai.chat
language_model: Callable[[str], WireModel] = openai.language_model
embedding_model: Callable[[str], NoReturn] = openai.embedding_model
image_model: Callable[[str], NoReturn] = openai.image_model
aclose: Callable[[], Coroutine[None, None, None]] = openai.aclose
