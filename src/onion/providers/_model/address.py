"""Where requests go and who asks: the base URL, the key, and the headers of each call."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import TypeAlias
from urllib.parse import urlencode, urlsplit

from onion.errors import InvalidArgumentError, LoadAPIKeyError, mask_headers, mask_url
from onion.providers._http import check_headers, merge_headers

_KNOWN = 64
"""How many sets of headers, and how many URLs, are kept ready: one per model and kind of call, nearly always."""
_Headers: TypeAlias = tuple[tuple[str, str], ...]


class Address:
    """The address of one server, with the key to it.

    Args:
        base_url: What stands before the paths of the API.
        product: Joins the User-Agent: ``openai-chat``.
        base_url_variable: Environment variable that is read at each call where *base_url* is None.
        default_base_url: Holds where neither says anything.
        api_key: None looks into *api_key_variable*.
        api_key_variable: Environment variable with the key, or several of which the first that is set counts, read at
            each call; a missing one is an error before anything is sent. None: the server wants no key.
        key_header: The header that carries the key; ``authorization`` carries it as a bearer token. A caller who sets
            it, or ``authorization``, needs no key.
        headers: Sent with each request; a caller's own for one call win.
        query: Added to the URL. It may show up in the log of the HTTP client: no place for secrets.

    Raises:
        InvalidArgumentError: For a URL that is none, or a header that HTTP cannot carry.
    """

    def __init__(  # noqa: PLR0913 - what there is to say of an address
        self,
        base_url: str | None = None,
        *,
        product: str = "",
        base_url_variable: str | None = None,
        default_base_url: str = "",
        api_key: str | None = None,
        api_key_variable: str | tuple[str, ...] | None = None,
        key_header: str = "authorization",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        self._product = product
        self._base_url = None if base_url is None else _checked_url(base_url)
        self._base_url_variable = base_url_variable
        self._default_base_url = default_base_url
        self._api_key = api_key
        self._api_key_variables = (api_key_variable,) if isinstance(api_key_variable, str) else api_key_variable or ()
        self._key_header = key_header
        self._headers = dict(headers or {})
        self._query = urlencode(dict(query or {}))
        check_headers(self._headers)
        self._merged = functools.lru_cache(_KNOWN)(self._merge)
        self._joined = functools.lru_cache(_KNOWN)(self._join)

    def of(
        self, path: str, needed: Mapping[str, str] | None, call_headers: Mapping[str, str] | None, *, sender: str
    ) -> tuple[str, Mapping[str, str]]:
        """URL and headers of one request, credentials included; equal requests are given the same headers.

        Args:
            path: Below the base URL.
            needed: Headers that the request needs; the provider's own and the caller's win over them.
            call_headers: The caller's own, for this call.
            sender: Who asks, for messages.

        Raises:
            LoadAPIKeyError: When there is no key.
            InvalidArgumentError: When the environment holds a URL that is none, or the caller's headers cannot be sent.
        """
        needs, wishes = tuple(needed.items()) if needed else (), tuple(call_headers.items()) if call_headers else ()
        headers = self._merged(needs, wishes, "")
        if self._key_header not in headers and "authorization" not in headers:
            headers = self._merged(needs, wishes, self._key(sender))
        return self._joined(self._base(), path), headers

    def __str__(self) -> str:
        """What may be shown of it."""
        url = mask_url(self._base_url or self._default_base_url)
        return f"base_url={url!r}, headers={mask_headers(self._headers)!r}"

    def _merge(self, needed: _Headers, call_headers: _Headers, key: str) -> Mapping[str, str]:
        given = merge_headers(
            {"content-type": "application/json", "accept": "application/json, text/event-stream"},
            dict(needed),
            self._headers,
            dict(call_headers),
            product=self._product,
        )
        if not key:
            return given
        credential = f"Bearer {key}" if self._key_header == "authorization" else key
        return merge_headers(given, {self._key_header: credential}, product=self._product)

    def _base(self) -> str:
        said = os.environ.get(self._base_url_variable, "") if self._base_url_variable else ""
        base = self._base_url or (_checked_url(said) if said else self._default_base_url)
        if not base:
            msg = f"no address is known: pass base_url=, or set {self._base_url_variable}"
            raise InvalidArgumentError(msg, parameter="base_url", value=base)
        return base

    def _join(self, base: str, path: str) -> str:
        address, _, query = base.partition("?")
        path, _, more = path.partition("?")
        queries = "&".join(filter(None, (query, self._query, more)))
        return f"{address.rstrip('/')}{path}" + (f"?{queries}" if queries else "")

    def _key(self, sender: str) -> str:
        if self._api_key is not None or not self._api_key_variables:
            return (self._api_key or "").strip()
        found = (os.environ.get(name, "").strip() for name in self._api_key_variables)
        key = next(filter(None, found), "")
        if not key:
            msg = f"{sender} needs an API key: pass api_key=, or set {' or '.join(self._api_key_variables)}"
            raise LoadAPIKeyError(msg)
        return key


def _checked_url(url: str) -> str:
    if not _is_usable(url):
        shown = mask_url(url)
        if "@" in shown:  # a password with a slash in it is taken for a port and a path
            shown = "(unreadable URL)"
        msg = f"base_url must begin with http:// or https:// and name a host, and a port if any, got {shown!r}"
        raise InvalidArgumentError(msg, parameter="base_url", value=shown)
    return url


def _is_usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a number, and no larger than ports are; else this raises
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
