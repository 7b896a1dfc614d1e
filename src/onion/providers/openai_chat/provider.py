"""Providers of chat models: a server's address, key and dialect, and the models behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, overload

from onion.providers._chat import ChatDialect
from onion.providers._http import HTTPTransport
from onion.providers._model import Address, Server, WireModel, WireProvider
from onion.providers.openai_chat.wire import PATH, ChatWire

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

PRODUCT = "openai-chat"


class ChatProvider(WireProvider):
    """The chat models of one server.

    Args:
        dialect: How the server's form differs; its name is the provider's.
        address: Where it is, and the key to it.
        path: Where requests go below the address; ``{model}`` in it stands for the id of the model.
        http_client: A client of httpx, httpx2 or aiohttp, which stays the caller's to close, or the name of a package.
            None takes the fastest that is installed, and keeps a client per event loop, closed with it or by `aclose`.
        transform_request: Given each request's body, gives the body to send.
        supported_urls: What the server fetches itself; everything else is downloaded and sent along.

    Raises:
        InvalidArgumentError: For a reserved name.
    """

    def __init__(
        self,
        dialect: ChatDialect,
        address: Address,
        *,
        path: str = PATH,
        http_client: HTTPClient | None = None,
        transform_request: Callable[[JsonObject], JsonObject] | None = None,
        supported_urls: SupportedURLs | None = None,
    ) -> None:
        server = Server(
            provider=f"{dialect.name}.chat",
            address=address,
            transport=HTTPTransport(http_client),
            supported_urls=supported_urls or {},
            transform_request=transform_request,
        )
        wire = ChatWire(dialect=dialect, path=path)
        super().__init__(dialect.name, server, lambda _: wire)

    def __call__(self, model_id: str, /) -> WireModel:
        """The model of that id."""
        return self.language_model(model_id)

    def chat(self, model_id: str, /) -> WireModel:
        """The model of that id; whether it exists only the server knows."""
        return self.language_model(model_id)


@overload
def openai_compatible(
    *,
    base_url: str,
    model: str,
    api_key: str | None = None,
    api_key_variable: str | None = None,
    name: str = "openai_compatible",
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    http_client: HTTPClient | None = None,
    transform_request: Callable[[JsonObject], JsonObject] | None = None,
    supported_urls: SupportedURLs | None = None,
    dialect: ChatDialect | None = None,
) -> WireModel: ...
@overload
def openai_compatible(
    *,
    base_url: str,
    model: None = None,
    api_key: str | None = None,
    api_key_variable: str | None = None,
    name: str = "openai_compatible",
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    http_client: HTTPClient | None = None,
    transform_request: Callable[[JsonObject], JsonObject] | None = None,
    supported_urls: SupportedURLs | None = None,
    dialect: ChatDialect | None = None,
) -> ChatProvider: ...
def openai_compatible(  # noqa: PLR0913 - a public entry point
    *,
    base_url: str,
    model: str | None = None,
    api_key: str | None = None,
    api_key_variable: str | None = None,
    name: str = "openai_compatible",
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    http_client: HTTPClient | None = None,
    transform_request: Callable[[JsonObject], JsonObject] | None = None,
    supported_urls: SupportedURLs | None = None,
    dialect: ChatDialect | None = None,
) -> WireModel | ChatProvider:
    """A model of a server that speaks the chat completions API, or without *model* the provider of all its models.

    Args:
        base_url: What stands before ``/chat/completions``, such as ``http://127.0.0.1:8080/v1``.
        model: The server's id of the model.
        api_key: Sent as a bearer token. None sends none, unless *api_key_variable* names one.
        api_key_variable: Environment variable that holds the key; read at each call.
        name: Names the provider, its provider options and its provider metadata.
        headers: Sent with each request.
        query: Added to the URL; no place for secrets.
        http_client: A client of httpx, httpx2 or aiohttp, which stays the caller's to close, or the name of a package.
        transform_request: Given each request's body, gives the body to send.
        supported_urls: What the server fetches itself, by media type.
        dialect: How the server's form differs from the common one; its name counts instead of *name*.

    Raises:
        InvalidArgumentError: For a URL that is none, a header that HTTP cannot carry, or a reserved name.
    """
    address = Address(
        product=PRODUCT,
        base_url=base_url,
        api_key=api_key,
        api_key_variable=api_key_variable,
        headers=headers,
        query=query,
    )
    provider = ChatProvider(
        dialect or ChatDialect(name=name),
        address,
        http_client=http_client,
        transform_request=transform_request,
        supported_urls=supported_urls,
    )
    return provider if model is None else provider.chat(model)
