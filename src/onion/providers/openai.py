"""OpenAI. The module is the provider: ``openai.chat("gpt-5")``; `OpenAI` makes one with settings of its own.

The key is read from ``OPENAI_API_KEY`` and the address from ``OPENAI_BASE_URL`` when a call is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from onion.providers.openai_chat import OPENAI, ChatProvider

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

__all__ = ["OpenAI", "aclose", "chat", "embedding_model", "image_model", "language_model", "openai"]

BASE_URL = "https://api.openai.com/v1"
SUPPORTED_URLS: SupportedURLs = {"image/*": (re.compile(r"^https://"),)}
"""OpenAI's servers fetch images by themselves, and nothing else."""


class OpenAI(ChatProvider):
    """OpenAI's models, with settings of one's own.

    Args:
        api_key: None reads ``OPENAI_API_KEY`` at each call.
        base_url: None reads ``OPENAI_BASE_URL`` at each call, and else is OpenAI's address.
        organization: Which of the key's organizations pays.
        project: Which of the organization's projects pays.
        headers: Sent with each request.
        query: Added to the URL; no place for secrets.
        http_client: An ``AsyncClient`` of httpx or httpx2, which stays the caller's to close.
        transform_request: Given each request's body, gives the body to send.

    Raises:
        InvalidArgumentError: For a URL that is none, or a header that HTTP cannot carry.
    """

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
    ) -> None:
        account = {"openai-organization": organization, "openai-project": project}
        super().__init__(
            OPENAI,
            base_url=base_url,
            base_url_variable="OPENAI_BASE_URL",
            default_base_url=BASE_URL,
            api_key=api_key,
            api_key_variable="OPENAI_API_KEY",
            headers={**{name: found for name, found in account.items() if found is not None}, **(headers or {})},
            query=query,
            http_client=http_client,
            transform_request=transform_request,
            supported_urls=SUPPORTED_URLS,
        )


openai = OpenAI()
"""The provider with settings from the environment alone; the functions of this module are its own."""

chat = openai.chat
language_model = openai.language_model
embedding_model = openai.embedding_model
image_model = openai.image_model
aclose = openai.aclose
