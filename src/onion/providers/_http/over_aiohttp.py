"""Sending with aiohttp: a fifth of what httpx takes for a call. It is imported when its first client is opened.

What httpx does by itself is done here: its certificates, the proxies of the environment, a limit for writing.
"""

from __future__ import annotations

import asyncio
import functools
import io
import re
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from onion.errors import InvalidArgumentError, mask_url
from onion.providers._http.routes import route_to, trusted_by_httpx, without_credentials

if TYPE_CHECKING:
    import ssl

    import aiohttp
    import yarl

    from onion.providers._http.limits import HTTPLimits

_HEADER_BYTES = 64 * 2**10
_KNOWN = 64
_PLAIN = re.compile(r"[!-~]*")
"""Characters that can stand in the first line of a request."""
_PIECE_BYTES = 64 * 2**10
"""What is written at once of a body. Less than that is taken off us at once, whether the server reads or not."""


class ReadReply:
    """An answer of aiohttp."""

    __slots__ = ("_content", "_response", "headers", "status_code")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.status_code: int = response.status
        self.headers: Mapping[str, str] = _joined(response.headers)
        self._response = response
        self._content = response.content

    async def read_some(self) -> bytes:
        """All that has come; what came before the connection broke off is given first, then the error."""
        content = self._content
        if content.exception() is not None:
            # The public methods raise at once: the end of an answer would be lost to a server's careless goodbye.
            rest = content._read_nowait(-1)  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001 - no public way
            if rest:
                return rest
        return await content.readany()

    async def aclose(self) -> None:
        """Close the connection, unless the body was read: then the pool has it back."""
        self._response.close()


class _Way(NamedTuple):
    """A route as aiohttp wants it."""

    url: yarl.URL | str
    credentials: Mapping[str, str]
    proxy: str | None
    ssl: ssl.SSLContext | bool


class GivenSession:
    """Sends with the caller's own session, and with all that it is set to."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._target = functools.lru_cache(_KNOWN)(_target_of)

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> ReadReply:
        """Send a request.

        Raises:
            InvalidArgumentError: When the session refuses it, as one with ``auth=`` does where we send a key.
        """
        target, credentials = self._target(url)

        is_small = len(content) <= _PIECE_BYTES
        body = _Readable(content)

        async def send() -> aiohttp.ClientResponse:
            body.seek(0)
            return await self._session.post(
                target,
                data=content if is_small else body,
                headers={**headers, **credentials},
                allow_redirects=False,
                auto_decompress=True,
                raise_for_status=False,
            )

        try:
            return ReadReply(await _sent(send, lambda: is_small or body.taken <= 1))
        except ValueError as error:
            import aiohttp

            if isinstance(error, OSError | aiohttp.ClientError):
                raise  # an answer, or the lack of one, that is reported like any other
            msg = f"the session given as http_client= refuses the request: {error}"
            raise InvalidArgumentError(msg, parameter="http_client") from error

    async def aclose(self) -> None:
        """Nothing: it is the caller's."""


class OwnSession:
    """Sends with a session that nobody else sees. It keeps no cookies."""

    def __init__(self, limits: HTTPLimits) -> None:
        import aiohttp

        self._limits = limits
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=limits.idle_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=limits.connect_seconds, sock_read=limits.read_seconds),
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
        )
        self._way = functools.lru_cache(_KNOWN)(_way_to)
        weakref.finalize(self, _abandon, self._session, asyncio.get_running_loop())

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> ReadReply:
        """Send a request."""
        way = self._way(url)
        if way.credentials:
            headers = {**headers, **way.credentials}
        if len(content) <= _PIECE_BYTES:
            return ReadReply(await _sent(lambda: self._send(way, content, headers), lambda: True))
        headers = {**headers, "content-length": str(len(content))}
        limit = asyncio.timeout(None)  # aiohttp knows none for a server that stops reading
        pieces = _Pieces(content, limit, self._limits.write_seconds)
        try:
            async with limit:
                return ReadReply(await _sent(lambda: self._send(way, pieces, headers), lambda: pieces.taken <= 1))
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError("WriteTimeout: the server does not read the request") from error
            raise

    async def _send(self, way: _Way, data: bytes | _Pieces, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        return await self._session.post(
            way.url, data=data, headers=headers, proxy=way.proxy, ssl=way.ssl, allow_redirects=False
        )

    async def aclose(self) -> None:
        """Close the session."""
        await self._session.close()


async def _sent(
    send: Callable[[], Awaitable[aiohttp.ClientResponse]], is_unwritten: Callable[[], bool]
) -> aiohttp.ClientResponse:
    """Send, and once more if the server was closing the kept connection, so that nothing could be written to it.

    httpx looks whether a connection is being closed before it takes it; aiohttp takes it and fails.

    Args:
        is_unwritten: Whether no more than the first piece of the body was taken, the one that could not be written:
            a request that a server has seen a part of is not ours to repeat.
    """
    import aiohttp

    try:
        return await send()
    except aiohttp.ClientResponseError as error:
        _forget_headers(error)
        raise
    except OSError as error:
        if not isinstance(error.__cause__, aiohttp.ClientConnectionResetError) or not is_unwritten():
            raise
    return await send()


def _forget_headers(error: aiohttp.ClientResponseError) -> None:
    """Take the key out of *error*: aiohttp keeps the headers of a request on it, and shows them in its `repr`."""
    from multidict import CIMultiDict, CIMultiDictProxy

    error.request_info = error.request_info._replace(headers=CIMultiDictProxy(CIMultiDict[str]()))
    error.args = (error.request_info, *error.args[1:])


class _Readable(io.BytesIO):
    """A body that a session of the caller's reads; it counts the pieces that were taken."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """The next piece."""
        self.taken += 1
        return super().read(size)


class _Pieces:
    """The pieces of *content*; each has *seconds* until the next one is asked for."""

    def __init__(self, content: bytes, limit: asyncio.Timeout, seconds: float) -> None:
        self.taken = 0
        self._content = content
        self._limit = limit
        self._seconds = seconds

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        now = asyncio.get_running_loop().time
        for start in range(0, len(self._content), _PIECE_BYTES):
            _expire(self._limit, now() + self._seconds)
            self.taken += 1
            yield self._content[start : start + _PIECE_BYTES]
        _expire(self._limit, None)


def _expire(limit: asyncio.Timeout, when: float | None) -> None:
    with suppress(RuntimeError):  # the answer has come before all of the request was read, and nobody waits any more
        limit.reschedule(when)


def _target_of(address: str) -> tuple[yarl.URL | str, Mapping[str, str]]:
    try:
        url, credentials = without_credentials(address)
        return _as_written(url), credentials
    except ValueError:
        return address, {}  # aiohttp will say what is wrong


def _as_written(url: str) -> yarl.URL:
    """A URL that is sent as it is, for it may be signed, unless it has characters that must be encoded."""
    import yarl

    read = yarl.URL(url)
    _, _, path, query, _ = urlsplit(url)
    if not _PLAIN.fullmatch(path + query):
        return read
    return yarl.URL.build(
        scheme=read.scheme, authority=read.raw_authority, path=path or "/", query_string=query, encoded=True
    )


def _way_to(address: str) -> _Way:
    route = route_to(address)
    if route.proxy is not None and not route.proxy.lower().startswith(("http://", "https://")):
        shown = mask_url(route.proxy)  # aiohttp would speak HTTP to it, and tell it the key
        msg = f"aiohttp cannot use {shown!r}, the proxy that the environment names: pass http_client='httpx'"
        raise InvalidArgumentError(msg, parameter="proxy", value=shown)
    trusted = trusted_by_httpx() if route.is_encrypted else True
    try:
        return _Way(_as_written(route.url), route.credentials, route.proxy, trusted)
    except ValueError:
        return _Way(address, {}, None, trusted)  # aiohttp will say what is wrong


def _joined(headers: Mapping[str, str]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        text = value if value.isascii() else _text(value)
        joined[key] = f"{joined[key]}, {text}" if key in joined else text
    return joined


def _text(value: str) -> str:
    """A value that is not UTF-8 is Latin-1; aiohttp has marked the bytes that it could not read."""
    found = value.encode("utf-8", "surrogateescape")
    try:
        return found.decode()
    except UnicodeDecodeError:
        return found.decode("latin-1")


def _abandon(session: aiohttp.ClientSession, loop: asyncio.AbstractEventLoop) -> None:
    """Let go of a session whose loop ended without closing it, so that none of its objects complains about that."""
    connector = session.connector
    session.detach()
    if connector is not None and not loop.is_running():
        with ExitStack() as stack:
            stack.push(connector)  # leaving it closes it without waiting
