"""Providers of chat models: a server's address, key and dialect, and the models behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn, overload

from onion.providers._chat import ChatDialect
from onion.providers._http import HTTPTransport
from onion.providers._model import Address, Server, check_name, no_such_model, require_id
from onion.providers.openai_chat.model import PATH, ChatModel, ChatWire

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

PRODUCT = "openai-chat"


class ChatProvider:
    """The chat models of one server.

    Args:
        dialect: How the server's form differs; its name is the provider's.
        base_url: What stands before ``/chat/completions``.
        base_url_variable: Environment variable that is read at each call where *base_url* is None.
        default_base_url: Holds where neither says anything.
        api_key: Sent as a bearer token; None looks into *api_key_variable*.
        api_key_variable: Environment variable with the key, read at each call; a missing one is an error before
            anything is sent. None: the server wants no key.
        key_header: The header that carries the key, where it is no bearer token.
        path: Where requests go below the base URL; ``{model}`` in it stands for the id of the model.
        headers: Sent with each request; a caller's own for one call win.
        query: Added to the URL. It may show up in the log of the HTTP client: no place for secrets.
        http_client: An ``AsyncClient`` of httpx or httpx2, which stays the caller's to close. None keeps one per event
            loop, closed with the loop or by `aclose`.
        transform_request: Given each request's body, gives the body to send.
        supported_urls: What the server fetches itself; everything else is downloaded and sent along.

    Raises:
        InvalidArgumentError: For a URL that is none, a header that HTTP cannot carry, or a reserved name.
    """

    def __init__(  # noqa: PLR0913 - a public entry point
        self,
        dialect: ChatDialect,
        *,
        base_url: str | None = None,
        base_url_variable: str | None = None,
        default_base_url: str = "",
        api_key: str | None = None,
        api_key_variable: str | None = None,
        key_header: str = "authorization",
        path: str = PATH,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        http_client: HTTPClient | None = None,
        transform_request: Callable[[JsonObject], JsonObject] | None = None,
        supported_urls: SupportedURLs | None = None,
    ) -> None:
        self._name = check_name(dialect.name)
        self._address = Address(
            product=PRODUCT,
            base_url=base_url,
            base_url_variable=base_url_variable,
            default_base_url=default_base_url,
            api_key=api_key,
            api_key_variable=api_key_variable,
            key_header=key_header,
            headers=headers,
            query=query,
        )
        self._server = Server(
            provider=f"{dialect.name}.chat",
            wire=ChatWire(dialect=dialect, path=path),
            address=self._address,
            transport=HTTPTransport(http_client),
            supported_urls=supported_urls or {},
            transform_request=transform_request,
        )

    def __call__(self, model_id: str, /) -> ChatModel:
        """The model of that id."""
        return self.chat(model_id)

    def chat(self, model_id: str, /) -> ChatModel:
        """The model of that id; whether it exists only the server knows."""
        return ChatModel(require_id(self._name, model_id), self._server)

    def language_model(self, model_id: str, /) -> ChatModel:
        """The model of that id."""
        return self.chat(model_id)

    def embedding_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        raise no_such_model(self._name, model_id, "embedding model")

    def image_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        raise no_such_model(self._name, model_id, "image model")

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop; they open again when needed."""
        await self._server.transport.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, {self._address})"


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
) -> ChatModel: ...
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
) -> ChatModel | ChatProvider:
    """A model of a server that speaks the chat completions API, or without *model* the provider of all its models.

    Args:
        base_url: What stands before ``/chat/completions``, such as ``http://127.0.0.1:8080/v1``.
        model: The server's id of the model.
        api_key: Sent as a bearer token. None sends none, unless *api_key_variable* names one.
        api_key_variable: Environment variable that holds the key; read at each call.
        name: Names the provider, its provider options and its provider metadata.
        headers: Sent with each request.
        query: Added to the URL; no place for secrets.
        http_client: An ``AsyncClient`` of httpx or httpx2, which stays the caller's to close.
        transform_request: Given each request's body, gives the body to send.
        supported_urls: What the server fetches itself, by media type.
        dialect: How the server's form differs from the common one; its name counts instead of *name*.

    Raises:
        InvalidArgumentError: For a URL that is none, a header that HTTP cannot carry, or a reserved name.
    """
    provider = ChatProvider(
        dialect or ChatDialect(name=name),
        base_url=base_url,
        api_key=api_key,
        api_key_variable=api_key_variable,
        headers=headers,
        query=query,
        http_client=http_client,
        transform_request=transform_request,
        supported_urls=supported_urls,
    )
    return provider if model is None else provider.chat(model)
