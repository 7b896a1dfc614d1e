"""Providers of chat models: a server's address, key and dialect, and the models behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn, overload
from urllib.parse import urlencode, urlsplit

from onion.errors import InvalidArgumentError, LoadAPIKeyError, NoSuchModelError, mask_headers
from onion.providers._chat import ChatDialect
from onion.providers._http import HTTPTransport, merge_headers, shown_url
from onion.providers.openai_chat.model import ChatModel, ChatServer

if TYPE_CHECKING:
    from onion.providers._http import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

PRODUCT = "openai-chat"
_PATH = "/chat/completions"
_RESERVED_NAME = "onion"


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
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        http_client: HTTPClient | None = None,
        transform_request: Callable[[JsonObject], JsonObject] | None = None,
        supported_urls: SupportedURLs | None = None,
    ) -> None:
        if not dialect.name or dialect.name == _RESERVED_NAME:
            msg = f"a provider cannot be called {dialect.name!r}: choose another name"
            raise InvalidArgumentError(msg, parameter="name", value=dialect.name)
        self._base_url = None if base_url is None else _checked_url(base_url)
        self._base_url_variable = base_url_variable
        self._default_base_url = default_base_url
        self._api_key = api_key
        self._api_key_variable = api_key_variable
        self._headers = dict(headers or {})
        self._query = urlencode(dict(query or {}))
        merge_headers(self._headers, product=PRODUCT)  # raises what HTTP cannot carry
        self._server = ChatServer(
            provider=f"{dialect.name}.chat",
            dialect=dialect,
            address=self._address,
            transport=HTTPTransport(http_client),
            supported_urls=supported_urls or {},
            transform_request=transform_request,
        )

    def chat(self, model_id: str, /) -> ChatModel:
        """The model of that id; whether it exists only the server knows."""
        if not model_id:
            msg = f"{self._server.dialect.name} needs a model id, got an empty one"
            raise NoSuchModelError(msg, model_id=model_id)
        return ChatModel(model_id, self._server)

    def language_model(self, model_id: str, /) -> ChatModel:
        """The model of that id."""
        return self.chat(model_id)

    def embedding_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        raise self._no_such_model(model_id, "embedding model")

    def image_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        raise self._no_such_model(model_id, "image model")

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop; they open again when needed."""
        await self._server.transport.aclose()

    def __repr__(self) -> str:
        url = shown_url(self._base_url or self._default_base_url)
        name, headers = self._server.dialect.name, mask_headers(self._headers)
        return f"{type(self).__name__}({name!r}, base_url={url!r}, headers={headers!r})"

    def _no_such_model(self, model_id: str, kind: str) -> NoSuchModelError:
        msg = f"{self._server.dialect.name} offers no {kind} {model_id!r} here: only language models"
        return NoSuchModelError(msg, model_id=model_id, kind=kind)

    def _address(self, call_headers: Mapping[str, str] | None) -> tuple[str, dict[str, str]]:
        given = merge_headers(
            {"content-type": "application/json", "accept": "application/json, text/event-stream"},
            self._headers,
            call_headers,
            product=PRODUCT,
        )
        if "authorization" not in given:
            key = self._key()
            if key:
                given = merge_headers(given, {"authorization": f"Bearer {key}"}, product=PRODUCT)
        return self._url(), given

    def _url(self) -> str:
        said = os.environ.get(self._base_url_variable, "") if self._base_url_variable else ""
        base = self._base_url or (_checked_url(said) if said else self._default_base_url)
        address, _, query = base.partition("?")
        queries = "&".join(filter(None, (query, self._query)))
        return f"{address.rstrip('/')}{_PATH}" + (f"?{queries}" if queries else "")

    def _key(self) -> str:
        if self._api_key is not None or self._api_key_variable is None:
            return (self._api_key or "").strip()
        key = os.environ.get(self._api_key_variable, "").strip()
        if not key:
            msg = f"{self._server.provider} needs an API key: pass api_key=, or set {self._api_key_variable}"
            raise LoadAPIKeyError(msg)
        return key


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        msg = f"base_url must begin with http:// or https:// and name a host, got {shown_url(url)!r}"
        raise InvalidArgumentError(msg, parameter="base_url", value=shown_url(url))
    return url


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
