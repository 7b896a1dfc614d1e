"""Google as a provider: address, key and models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from onion.providers._http import HTTPTransport
from onion.providers._model import Address, Server, WireProvider
from onion.providers.google.names import NAME
from onion.providers.google.traits import MODELS, ModelTraits, traits_of
from onion.providers.google.wire import GeminiWire

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

PRODUCT = "google"
BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
KEY_VARIABLES = ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")

SUPPORTED_URLS: SupportedURLs = {
    "*/*": (
        re.compile(r"^https://generativelanguage\.googleapis\.com/\w+/files/"),
        re.compile(r"^gs://"),
        re.compile(r"^https://(?:(?:www|m)\.)?youtube\.com/(?:watch\?|shorts/|live/)"),
        re.compile(r"^https://youtu\.be/"),
    )
}
"""What Google's servers fetch by themselves; everything else is downloaded and sent along."""


class Google(WireProvider):
    """Google's models, with settings of one's own.

    Args:
        api_key: Sent as ``x-goog-api-key``, never in the URL; None reads ``GOOGLE_GENERATIVE_AI_API_KEY``,
            ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY`` at each call. A header ``authorization`` of yours stands for it.
        base_url: What stands before ``/models``; None reads ``GOOGLE_GEMINI_BASE_URL`` at each call, and else is the
            address of the Gemini API. For Vertex AI it ends in ``/publishers/google``.
        headers: Sent with each request.
        query: Added to the URL; no place for secrets.
        http_client: A client of httpx, httpx2 or aiohttp, which stays the caller's to close, or the name of a package.
        transform_request: Given each request's body, gives the body to send.
        models: What is known of models that the table lacks, or has wrong; of equal prefixes yours counts.

    Raises:
        InvalidArgumentError: For a URL that is none, or a header that HTTP cannot carry.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        http_client: HTTPClient | None = None,
        transform_request: Callable[[JsonObject], JsonObject] | None = None,
        models: tuple[ModelTraits, ...] = (),
    ) -> None:
        address = Address(
            product=PRODUCT,
            base_url=base_url,
            base_url_variable="GOOGLE_GEMINI_BASE_URL",
            default_base_url=BASE_URL,
            api_key=api_key,
            api_key_variable=KEY_VARIABLES,
            key_header="x-goog-api-key",
            headers=headers,
            query=query,
        )
        server = Server(
            provider=f"{NAME}.generative-ai",
            address=address,
            transport=HTTPTransport(http_client),
            supported_urls=SUPPORTED_URLS,
            transform_request=transform_request,
        )
        known = (*models, *MODELS)  # of equally long prefixes the first counts
        super().__init__(NAME, server, lambda model_id: GeminiWire(traits=traits_of(model_id, known)))
