"""Sending with httpx, or with its successor httpx2, which has the same API; each is imported when it is used."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from onion.errors import InvalidArgumentError, mask_url
from onion.providers._http.routes import route_to, trusted_by_httpx, trusted_by_httpx2

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from onion.providers._http.limits import HTTPLimits

_KNOWN = 64
"""How many URLs and sets of headers are kept ready."""


class HTTPResponse(Protocol):
    """What is read of a response of httpx or httpx2."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; several of one name are joined."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it arrives, content encodings undone."""
        ...


@runtime_checkable
class AsyncClient(Protocol):
    """What a provider needs of a client: ``httpx.AsyncClient`` and ``httpx2.AsyncClient`` have it."""

    def stream(
        self, method: str, url: str, *, content: bytes, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[HTTPResponse]:
        """Send a request; the response's body is read inside the context."""
        ...


class StreamedReply:
    """An answer of httpx or httpx2; *close* ends what surrounds its body."""

    __slots__ = ("_bytes", "_close", "headers", "status_code")

    def __init__(
        self,
        status_code: int,
        headers: Mapping[str, str],
        body: AsyncIterator[bytes],
        close: Callable[[], Awaitable[None]],
    ) -> None:
        self.status_code = status_code
        self.headers = headers
        self._bytes = body
        self._close = close

    async def read_some(self) -> bytes:
        """The next piece of the body that is not empty; nothing at its end."""
        async for data in self._bytes:
            if data:
                return data
        return b""

    async def aclose(self) -> None:
        """Close the body, then what surrounds it."""
        iterator = self._bytes
        is_being_read = isinstance(iterator, AsyncGeneratorType) and iterator.ag_running  # by a task that will end it
        if isinstance(iterator, AsyncGenerator) and not is_being_read:
            await iterator.aclose()
        await self._close()


class GivenClient:
    """Sends with the caller's own client, and with all that it is set to."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> StreamedReply:
        """Send a request."""
        resources = AsyncExitStack()
        response = await resources.enter_async_context(
            self._client.stream("POST", url, content=content, headers=headers)
        )
        return StreamedReply(response.status_code, response.headers, response.aiter_bytes(), resources.aclose)

    async def aclose(self) -> None:
        """Nothing: it is the caller's."""


_Send: TypeAlias = Callable[[str, bytes, Mapping[str, str]], Awaitable[StreamedReply]]
_Close: TypeAlias = Callable[[], Awaitable[None]]


class OwnClient:
    """Sends with a client that nobody else sees. It keeps no cookies.

    That is a transport of the package per proxy, for most of what its client does beyond that is nothing to a
    provider, and takes a third of the time of a call.

    Args:
        connect: Gives what sends through a proxy, or without one, and what closes its connections.
    """

    def __init__(self, connect: Callable[[str | None], tuple[_Send, _Close]]) -> None:
        self._connect = connect
        self._sends: dict[str | None, _Send] = {}
        self._closes: list[_Close] = []
        self._route = functools.lru_cache(_KNOWN)(route_to)
        self._is_closed = False

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> StreamedReply:
        """Send a request.

        Raises:
            InvalidArgumentError: When the environment names a proxy that cannot be used.
        """
        if self._is_closed:
            raise RuntimeError("the HTTP client is closed")
        route = self._route(url)
        send = self._sends.get(route.proxy) or self._open(route.proxy)
        return await send(route.url, content, {**headers, **route.credentials} if route.credentials else headers)

    async def aclose(self) -> None:
        """Close all connections; one that cannot be closed keeps no other one open."""
        self._is_closed = True
        async with AsyncExitStack() as closing:
            for close in self._closes:
                closing.push_async_callback(close)

    def _open(self, proxy: str | None) -> _Send:
        try:
            send, close = self._connect(proxy)
        except (ImportError, ValueError) as error:
            if proxy is None:
                raise
            shown = mask_url(proxy)
            needs = ": SOCKS needs a package more, as `pip install 'httpx[socks]'` brings it"
            msg = f"the environment names the proxy {shown!r}, which cannot be used" + (
                needs if isinstance(error, ImportError) else ": name one of http, https or socks5"
            )
            raise InvalidArgumentError(msg, parameter="proxy", value=shown) from None
        self._sends[proxy] = send
        self._closes.append(close)
        return send


def open_httpx(limits: HTTPLimits) -> OwnClient:
    """A client of httpx."""
    import httpx

    own = httpx.AsyncClient(transport=httpx.AsyncBaseTransport(), trust_env=False).headers
    extensions = {"timeout": _timeouts(limits)}
    url_of = functools.lru_cache(_KNOWN)(httpx.URL)

    @functools.lru_cache(_KNOWN)
    def encoded(headers: tuple[tuple[str, str], ...]) -> httpx.Headers:
        return httpx.Headers({**own, **dict(headers)})

    def connect(proxy: str | None) -> tuple[_Send, _Close]:
        pool = httpx.Limits(
            max_connections=None,
            max_keepalive_connections=limits.idle_connections,
            keepalive_expiry=limits.idle_seconds,
        )
        transport = httpx.AsyncHTTPTransport(verify=trusted_by_httpx(), limits=pool, proxy=proxy)

        async def send(url: str, content: bytes, headers: Mapping[str, str]) -> StreamedReply:
            wanted = encoded(tuple(headers.items()))
            request = httpx.Request("POST", url_of(url), headers=wanted, content=content, extensions=extensions)
            response = await transport.handle_async_request(request)
            found, body = _joined(response.headers.raw), response.stream
            if "content-encoding" in found or not isinstance(body, httpx.AsyncByteStream):
                return StreamedReply(response.status_code, found, response.aiter_bytes(), response.aclose)
            return StreamedReply(response.status_code, found, aiter(body), body.aclose)

        return send, transport.aclose

    return OwnClient(connect)


def open_httpx2(limits: HTTPLimits) -> OwnClient:
    """A client of httpx2."""
    import httpx2

    own = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport(), trust_env=False).headers
    extensions = {"timeout": _timeouts(limits)}
    url_of = functools.lru_cache(_KNOWN)(httpx2.URL)

    @functools.lru_cache(_KNOWN)
    def encoded(headers: tuple[tuple[str, str], ...]) -> httpx2.Headers:
        return httpx2.Headers({**own, **dict(headers)})

    def connect(proxy: str | None) -> tuple[_Send, _Close]:
        pool = httpx2.Limits(
            max_connections=None,
            max_keepalive_connections=limits.idle_connections,
            keepalive_expiry=limits.idle_seconds,
        )
        transport = httpx2.AsyncHTTPTransport(verify=trusted_by_httpx2(), limits=pool, proxy=proxy)

        async def send(url: str, content: bytes, headers: Mapping[str, str]) -> StreamedReply:
            wanted = encoded(tuple(headers.items()))
            request = httpx2.Request("POST", url_of(url), headers=wanted, content=content, extensions=extensions)
            response = await transport.handle_async_request(request)
            found, body = _joined(response.headers.raw), response.stream
            if "content-encoding" in found or not isinstance(body, httpx2.AsyncByteStream):
                return StreamedReply(response.status_code, found, response.aiter_bytes(), response.aclose)
            return StreamedReply(response.status_code, found, aiter(body), body.aclose)

        return send, transport.aclose

    return OwnClient(connect)


def _timeouts(limits: HTTPLimits) -> dict[str, float]:
    return {"connect": limits.connect_seconds, "read": limits.read_seconds, "write": limits.write_seconds}


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), _text(value)
        joined[key] = f"{joined[key]}, {text}" if key in joined else text
    return joined


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
