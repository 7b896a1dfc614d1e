"""How a URL is reached: by the credentials in it, and the proxies and certificates that the environment names."""

from __future__ import annotations

import base64
import functools
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from onion.errors import InvalidArgumentError

if TYPE_CHECKING:
    import ssl


class Route(NamedTuple):
    """How a URL is reached.

    Attributes:
        url: Without credentials.
        credentials: A header made of them; it wins over one of the request.
        proxy: URL of the proxy to ask; None asks the server itself.
        is_encrypted: Whether certificates are needed on the way.
    """

    url: str
    credentials: Mapping[str, str]
    proxy: str | None
    is_encrypted: bool


def route_to(address: str) -> Route:
    """The route to *address*; one that cannot be read is left to the HTTP client, which says what is wrong.

    Raises:
        InvalidArgumentError: When the environment names a proxy that cannot be read.
    """
    try:
        url, credentials = without_credentials(address)
    except ValueError:
        return Route(address, {}, None, is_encrypted=False)
    proxy = proxy_for(url)
    is_encrypted = url.startswith("https:") or (proxy is not None and proxy.startswith("https:"))
    return Route(url, credentials, proxy, is_encrypted)


def without_credentials(address: str) -> tuple[str, Mapping[str, str]]:
    """*address* without credentials, and the header that is made of them.

    Raises:
        ValueError: When it cannot be read.
    """
    scheme, netloc, path, query, _ = urlsplit(address)
    said, at, host = netloc.rpartition("@")
    if not at:
        return address, {}
    user, _, password = said.partition(":")
    pair = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return urlunsplit((scheme, host, path, query, "")), {"authorization": f"Basic {pair}"}


def proxy_for(url: str) -> str | None:
    """The proxy that ``HTTP_PROXY``, ``HTTPS_PROXY`` or ``ALL_PROXY`` names; None where ``NO_PROXY`` excepts *url*.

    Raises:
        InvalidArgumentError: When it cannot be read.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not _names_a_host(proxy):
        msg = (
            "the environment names a proxy that cannot be read: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY want a URL such"
            " as http://user:password@host:8080, with special characters of the password percent-encoded"
        )
        raise InvalidArgumentError(msg, parameter="proxy")  # which would show the password, wherever that ends
    return proxy


def is_any_socks() -> bool:
    """Whether the environment names a SOCKS proxy, which aiohttp cannot use."""
    from urllib.request import getproxies

    return any(proxy.lower().startswith("socks") for scheme, proxy in getproxies().items() if scheme != "no")


def trusted_by_httpx() -> ssl.SSLContext:
    """The certificates of its bundle, or of ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``; read once, for that takes long."""
    return _read_of_httpx(*_said())


def trusted_by_httpx2() -> ssl.SSLContext:
    """The certificates of the system, or of ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``; read once."""
    return _read_of_httpx2(*_said())


def _names_a_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is none
    except ValueError:
        return False
    return bool(parts.hostname)


def _said() -> tuple[str | None, str | None]:
    return os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")


@functools.cache
def _read_of_httpx(_file: str | None, _directory: str | None) -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()


@functools.cache
def _read_of_httpx2(_file: str | None, _directory: str | None) -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
