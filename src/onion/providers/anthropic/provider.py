"""Anthropic as a provider: address, key and models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from onion.providers._http import HTTPTransport
from onion.providers._model import Address, Server, WireModel, WireProvider
from onion.providers.anthropic.names import NAME
from onion.providers.anthropic.traits import MODELS, ModelTraits, traits_of
from onion.providers.anthropic.wire import MessagesWire

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

PRODUCT = "anthropic"
BASE_URL = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"
"""Of the API, which each request names (Anthropic, "Versions", read 2026-12-01)."""

_WEB = (re.compile(r"^https?://"),)
SUPPORTED_URLS: SupportedURLs = {"image/*": _WEB, "application/pdf": _WEB}
"""What Anthropic's servers fetch by themselves."""


class Anthropic(WireProvider):
    """Anthropic's models, with settings of one's own.

    Args:
        api_key: Sent as ``x-api-key``; None reads ``ANTHROPIC_API_KEY`` at each call. A header ``authorization`` of
            yours stands for it.
        base_url: What stands before ``/messages``; None reads ``ANTHROPIC_BASE_URL`` at each call, and else is
            Anthropic's address.
        headers: Sent with each request. Features that you name in ``anthropic-beta`` come to those that are needed.
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
            base_url_variable="ANTHROPIC_BASE_URL",
            default_base_url=BASE_URL,
            api_key=api_key,
            api_key_variable="ANTHROPIC_API_KEY",
            key_header="x-api-key",
            headers={"anthropic-version": VERSION, **{name.lower(): found for name, found in (headers or {}).items()}},
            query=query,
        )
        server = Server(
            provider=f"{NAME}.messages",
            address=address,
            transport=HTTPTransport(http_client),
            supported_urls=SUPPORTED_URLS,
            transform_request=transform_request,
        )
        known = (*models, *MODELS)  # of equally long prefixes the first counts
        super().__init__(NAME, server, lambda model_id: MessagesWire(traits=traits_of(model_id, known)))

    def messages(self, model_id: str, /) -> WireModel:
        """The model of that id; whether it exists only the server knows."""
        return self.language_model(model_id)
