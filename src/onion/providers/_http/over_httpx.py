"""Sending with httpx, or with its successor httpx2, which has the same API; each is imported when it is used."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from onion.providers._http.certificates import trusted_by_httpx, trusted_by_httpx2

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from onion.providers._http.limits import HTTPLimits

_KNOWN_URLS = 256


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


class ClosableResponse(HTTPResponse, Protocol):
    """A response that its reader closes."""

    async def aclose(self) -> None:
        """Give up what was not read."""
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
    """An answer of httpx or httpx2; *close* ends what surrounds it."""

    __slots__ = ("_bytes", "_close", "headers", "status_code")

    def __init__(self, response: HTTPResponse, close: Callable[[], Awaitable[None]]) -> None:
        self.status_code: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._bytes = response.aiter_bytes()
        self._close = close

    async def read_some(self) -> bytes:
        """The next piece of the body that is not empty; nothing at its end."""
        async for data in self._bytes:
            if data:
                return data
        return b""

    async def aclose(self) -> None:
        """Close the body, then the response."""
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
        return StreamedReply(response, resources.aclose)

    async def aclose(self) -> None:
        """Nothing: it is the caller's."""


class OwnClient:
    """Sends with a client that nobody else sees, which spares merging its settings into each request."""

    def __init__(
        self,
        send: Callable[[str, bytes, Mapping[str, str]], Awaitable[ClosableResponse]],
        close: Callable[[], Awaitable[None]],
    ) -> None:
        self._send = send
        self._close = close

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> StreamedReply:
        """Send a request."""
        response = await self._send(url, content, headers)
        return StreamedReply(response, response.aclose)

    async def aclose(self) -> None:
        """Close the client."""
        await self._close()


def open_httpx(limits: HTTPLimits) -> OwnClient:
    """A client of httpx."""
    import httpx

    client = httpx.AsyncClient(
        verify=trusted_by_httpx(),
        timeout=httpx.Timeout(
            connect=limits.connect_seconds, read=limits.read_seconds, write=limits.write_seconds, pool=None
        ),
        limits=httpx.Limits(
            max_connections=None,
            max_keepalive_connections=limits.idle_connections,
            keepalive_expiry=limits.idle_seconds,
        ),
    )
    url_of = functools.lru_cache(_KNOWN_URLS)(httpx.URL)
    own, extensions = dict(client.headers), {"timeout": client.timeout.as_dict()}

    async def send(url: str, content: bytes, headers: Mapping[str, str]) -> httpx.Response:
        request = httpx.Request("POST", url_of(url), headers={**own, **headers}, content=content, extensions=extensions)
        return await client.send(request, stream=True)

    return OwnClient(send, client.aclose)


def open_httpx2(limits: HTTPLimits) -> OwnClient:
    """A client of httpx2."""
    import httpx2

    client = httpx2.AsyncClient(
        verify=trusted_by_httpx2(),
        timeout=httpx2.Timeout(
            connect=limits.connect_seconds, read=limits.read_seconds, write=limits.write_seconds, pool=None
        ),
        limits=httpx2.Limits(
            max_connections=None,
            max_keepalive_connections=limits.idle_connections,
            keepalive_expiry=limits.idle_seconds,
        ),
    )
    url_of = functools.lru_cache(_KNOWN_URLS)(httpx2.URL)
    own, extensions = dict(client.headers), {"timeout": client.timeout.as_dict()}

    async def send(url: str, content: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        request = httpx2.Request(
            "POST", url_of(url), headers={**own, **headers}, content=content, extensions=extensions
        )
        return await client.send(request, stream=True)

    return OwnClient(send, client.aclose)
