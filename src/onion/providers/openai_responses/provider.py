"""Providers of models behind the Responses API: a server's address, key and dialect, and the models there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from onion.providers._http import HTTPTransport
from onion.providers._model import Address, Server, WireModel, WireProvider
from onion.providers.openai_responses.wire import ResponsesWire

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.providers.openai_responses.dialect import ResponsesDialect
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

PRODUCT = "openai-responses"


class ResponsesProvider(WireProvider):
    """The models of one server that speaks the Responses API.

    Args:
        dialect: How the server's form differs; its name is the provider's.
        address: Where it is, and the key to it.
        http_client: A client of httpx, httpx2 or aiohttp, which stays the caller's to close, or the name of a package.
            None takes the fastest that is installed, and keeps a client per event loop, closed with it or by `aclose`.
        transform_request: Given each request's body, gives the body to send.
        supported_urls: What the server fetches itself; everything else is downloaded and sent along.

    Raises:
        InvalidArgumentError: For a reserved name.
    """

    def __init__(
        self,
        dialect: ResponsesDialect,
        address: Address,
        *,
        http_client: HTTPClient | None = None,
        transform_request: Callable[[JsonObject], JsonObject] | None = None,
        supported_urls: SupportedURLs | None = None,
    ) -> None:
        server = Server(
            provider=f"{dialect.name}.responses",
            address=address,
            transport=HTTPTransport(http_client),
            supported_urls=supported_urls or {},
            transform_request=transform_request,
        )
        wire = ResponsesWire(dialect=dialect)
        super().__init__(dialect.name, server, lambda _: wire)

    def responses(self, model_id: str, /) -> WireModel:
        """The model of that id; whether it exists only the server knows."""
        return self.language_model(model_id)
