"""Fetches a file for a prompt, from the internet and from nowhere else.

A URL in a prompt may come from a stranger, and what it leads to goes to the model. So a download reaches only the
internet: not this machine, not its network, whatever a name resolves to and wherever a redirect points. The address
that was checked is the one that is connected to.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from onion.errors import DownloadError, InvalidArgumentError, mask_url
from onion.loop.addresses import Address, is_public, resolve
from onion.loop.attachments import UNKNOWN, Download, Downloaded, DownloadRequest

if TYPE_CHECKING:
    import httpx

__all__ = ["Download", "DownloadRequest", "Downloaded", "Downloader"]

MAX_BYTES = 50 * 1024 * 1024
"""More than any provider takes inline."""
TIMEOUT_SECONDS = 60.0
MAX_REDIRECTS = 5
_PORTS = {"http": 80, "https": 443}


class Downloader:
    """The download that is used where none is given.

    It follows redirects, sends no credentials or cookies, uses no proxy, and stops at a limit of size or time.

    Args:
        max_bytes: Largest file.
        timeout_seconds: Longest download, from the first look-up to the last byte.
        is_allowed: Which addresses may be reached; the default is the internet.
        resolve: Gives the addresses of a host and port; tests pass a fake.
        transport: How requests are sent; tests pass a fake.

    Raises:
        DownloadError: When called with a URL that cannot or must not be fetched.
    """

    def __init__(
        self,
        *,
        max_bytes: int = MAX_BYTES,
        timeout_seconds: float = TIMEOUT_SECONDS,
        is_allowed: Callable[[Address], bool] = is_public,
        resolve: Callable[[str, int], Awaitable[Sequence[str]]] = resolve,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        for name, limit in (("max_bytes", max_bytes), ("timeout_seconds", timeout_seconds)):
            if limit <= 0:
                msg = f"{name} must be more than 0, not {limit!r}"
                raise InvalidArgumentError(msg, parameter=name, value=limit)
        self._max_bytes = max_bytes
        self._timeout_seconds = timeout_seconds
        self._is_allowed = is_allowed
        self._resolve = resolve
        self._transport = transport

    def __repr__(self) -> str:
        return f"Downloader(max_bytes={self._max_bytes}, timeout_seconds={self._timeout_seconds})"

    async def __call__(self, request: DownloadRequest) -> Downloaded:
        """Fetch the file."""
        import httpx

        try:
            async with (
                asyncio.timeout(self._timeout_seconds),
                httpx.AsyncClient(transport=self._transport, trust_env=False, timeout=None) as client,  # noqa: S113  # above
            ):
                return await self._fetch(client, request)
        except TimeoutError as error:
            raise _failure(request.url, f"took more than {self._timeout_seconds:g} seconds") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _failure(request.url, f"failed with {type(error).__name__}: {error}") from error

    async def _fetch(self, client: httpx.AsyncClient, request: DownloadRequest) -> Downloaded:
        url = request.url
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._get(client, url)
            try:
                if not response.has_redirect_location:
                    return Downloaded(data=await self._read(response, url), media_type=_served(response))
                url = _joined(url, response.headers["location"])
            finally:
                client.cookies.clear()
                await response.aclose()
        raise _failure(request.url, f"was redirected more than {MAX_REDIRECTS} times")

    async def _get(self, client: httpx.AsyncClient, url: str) -> httpx.Response:
        """The response to a request that went to an address which was looked at; its body is not read yet."""
        import httpx

        wanted = httpx.URL(url)
        if wanted.scheme not in _PORTS or not wanted.host:
            raise _failure(url, "is not a URL of http or https, and nothing else is downloaded")
        host = wanted.raw_host.decode("ascii")
        failure: httpx.ConnectError | None = None
        for address in await self._addresses(url, host, wanted.port or _PORTS[wanted.scheme]):
            request = client.build_request(
                "GET",
                wanted.copy_with(host=address, userinfo=b"", fragment=None),
                headers={
                    "host": wanted.netloc.decode("ascii"),
                    "user-agent": user_agent(),
                    "accept-encoding": "identity",
                },
                extensions={"sni_hostname": host},
            )
            try:
                return await client.send(request, stream=True)
            except httpx.ConnectError as error:
                failure = error
        raise _failure(url, f"failed: none of its addresses answers ({failure})") from failure

    async def _addresses(self, url: str, host: str, port: int) -> Sequence[str]:
        try:
            found = await self._resolve(host, port)
        except (socket.gaierror, UnicodeError) as error:
            raise _failure(url, f"failed: the host {host!r} is not known") from error
        allowed = [address for address in found if self._is_allowed(ipaddress.ip_address(address))]
        if not allowed:
            raise _failure(
                url, f"is not allowed: {host!r} is no address of the internet; give download= to fetch it anyway"
            )
        return allowed

    async def _read(self, response: httpx.Response, url: str) -> bytes:
        if not response.is_success:
            raise _failure(url, f"failed with status {response.status_code}", status_code=response.status_code)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _failure(url, "came compressed, although that was not asked for")
        data = bytearray()
        if int(response.headers.get("content-length", "0")) <= self._max_bytes:
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > self._max_bytes:
                    break
            else:
                return bytes(data)
        raise _failure(url, f"is larger than {self._max_bytes} bytes")


def _failure(url: str, what: str, *, status_code: int | None = None) -> DownloadError:
    return DownloadError(f"the download of {mask_url(url)} {what}", url=url, status_code=status_code)


def _joined(url: str, location: str) -> str:
    import httpx

    return str(httpx.URL(url).join(location))


def _served(response: httpx.Response) -> str:
    """The media type that the server names, without parameters."""
    named: str = response.headers.get("content-type", "")
    return named.partition(";")[0].strip().lower() or UNKNOWN


def user_agent(package: str = "onion-ai") -> str:
    """Who asks: ``onion/VERSION``, or ``onion`` where the *package* runs without being installed."""
    import importlib.metadata

    try:
        return f"onion/{importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return "onion"
