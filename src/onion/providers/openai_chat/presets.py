"""The vendors of the chat format as providers: ``groq("model")``, or `vendor` for settings of one's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from onion.errors import InvalidArgumentError
from onion.providers._model import Address
from onion.providers.openai_chat.provider import PRODUCT, ChatProvider
from onion.providers.openai_chat.vendors import VENDORS

if TYPE_CHECKING:
    from onion.providers._chat import ModelTraits
    from onion.providers._http import HTTPClient
    from onion.spec.base import JsonObject
    from onion.spec.model import SupportedURLs

_IMAGES: SupportedURLs = {"image/*": (re.compile(r"^https://"),)}
_RESOURCE = re.compile(r"[A-Za-z0-9-]+")


def vendor(  # noqa: PLR0913 - a public entry point
    name: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    http_client: HTTPClient | None = None,
    transform_request: Callable[[JsonObject], JsonObject] | None = None,
    supported_urls: SupportedURLs | None = None,
    models: tuple[ModelTraits, ...] = (),
) -> ChatProvider:
    """A vendor of the chat format, with settings of one's own.

    Args:
        name: Of the vendor: ``groq``, ``ollama``; the docs have a table of all.
        api_key: None reads the vendor's variable, such as ``GROQ_API_KEY``, at each call.
        base_url: None is the vendor's address.
        headers: Sent with each request.
        query: Added to the URL; no place for secrets.
        http_client: A client of httpx, httpx2 or aiohttp, which stays the caller's to close, or the name of a package.
        transform_request: Given each request's body, gives the body to send.
        supported_urls: What the server fetches itself, by media type; None is what is known of the vendor.
        models: What is known of models; of equal prefixes yours counts.

    Raises:
        InvalidArgumentError: For a vendor that is not known, a URL that is none, or a header that HTTP cannot carry.
    """
    known = VENDORS.get(name)
    if known is None:
        msg = f"{name!r} is no known vendor: openai_compatible(base_url=...) takes any; known are {', '.join(VENDORS)}"
        raise InvalidArgumentError(msg, parameter="name", value=name)
    address = Address(
        product=PRODUCT,
        base_url=base_url,
        base_url_variable=known.base_url_variable,
        default_base_url=known.base_url,
        api_key=api_key,
        api_key_variable=known.key_variable,
        key_header=known.key_header,
        headers=headers,
        query=query,
    )
    return ChatProvider(
        replace(known.dialect, models=(*models, *known.dialect.models)),
        address,
        path=known.path,
        http_client=http_client,
        transform_request=transform_request,
        supported_urls=(_IMAGES if known.fetches_images else {}) if supported_urls is None else supported_urls,
    )


def azure_resource(
    resource: str,
    *,
    api_version: str | None = None,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    http_client: HTTPClient | None = None,
    transform_request: Callable[[JsonObject], JsonObject] | None = None,
    models: tuple[ModelTraits, ...] = (),
) -> ChatProvider:
    """The models of one Azure OpenAI resource; their ids are the names of its deployments.

    Args:
        resource: Its name, or its address: ``https://mine.openai.azure.com``.
        api_version: Of the API that has the deployment in its path; None is the v1 API, which needs none.
        api_key: Sent as ``api-key``; None reads ``AZURE_OPENAI_API_KEY`` at each call. A header ``authorization`` of
            yours, such as a token of Microsoft Entra, stands for it.
        headers: Sent with each request.
        http_client: A client of httpx, httpx2 or aiohttp, which stays the caller's to close, or the name of a package.
        transform_request: Given each request's body, gives the body to send.
        models: What is known of the deployments' models.

    Raises:
        InvalidArgumentError: For a resource that is neither a name nor an address, or a header that HTTP cannot carry.
    """
    known = VENDORS["azure"]
    is_name = _RESOURCE.fullmatch(resource)
    path = known.path
    if api_version is not None:
        path = f"/openai/deployments/{{model}}/chat/completions?api-version={quote_plus(api_version)}"
    address = Address(
        product=PRODUCT,
        base_url=f"https://{resource}.openai.azure.com" if is_name else resource,
        api_key=api_key,
        api_key_variable=known.key_variable,
        key_header=known.key_header,
        headers=headers,
    )
    return ChatProvider(
        replace(known.dialect, models=(*models, *known.dialect.models)),
        address,
        path=path,
        http_client=http_client,
        transform_request=transform_request,
        supported_urls=_IMAGES,
    )


PRESETS: Mapping[str, ChatProvider] = {name: vendor(name) for name in VENDORS}
"""Every vendor with settings from the environment alone."""

azure: ChatProvider = PRESETS["azure"]
cerebras: ChatProvider = PRESETS["cerebras"]
deepseek: ChatProvider = PRESETS["deepseek"]
fireworks: ChatProvider = PRESETS["fireworks"]
groq: ChatProvider = PRESETS["groq"]
llama_cpp: ChatProvider = PRESETS["llama_cpp"]
lm_studio: ChatProvider = PRESETS["lm_studio"]
mistral: ChatProvider = PRESETS["mistral"]
moonshot: ChatProvider = PRESETS["moonshot"]
ollama: ChatProvider = PRESETS["ollama"]
openrouter: ChatProvider = PRESETS["openrouter"]
perplexity: ChatProvider = PRESETS["perplexity"]
together: ChatProvider = PRESETS["together"]
vllm: ChatProvider = PRESETS["vllm"]
xai: ChatProvider = PRESETS["xai"]
