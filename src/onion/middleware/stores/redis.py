"""Entries in a Redis server, shared by processes and machines."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from onion.errors import MissingExtraError
from onion.middleware.stores._limits import check_above_zero

if TYPE_CHECKING:
    from redis.asyncio import Redis

MAX_CONNECTIONS = 20
TIMEOUT_SECONDS = 1.0
CLAIM_PREFIX = "claim-"
GLOB_SIGNS = "*?[]\\^-"
GIVE_BACK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"


class RedisStore:
    """Keeps entries in Redis. The server decides what is thrown out when it is full (``maxmemory-policy``).

    One pool of connections is kept per event loop, opened on first use; a caller waits for a free one instead of being
    refused. Needs the extra ``redis``.

    Args:
        url: Where the server is: ``redis://localhost:6379/0``.
        prefix: Put before every key, so that several programs can share a server.
        max_connections: How many connections one event loop opens at most.
        timeout: Seconds to wait for a connection, and for an answer.

    Raises:
        InvalidArgumentError: For a limit that is not above 0.
        MissingExtraError: From the first use, when the package is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "onion:",
        max_connections: int = MAX_CONNECTIONS,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        check_above_zero(max_connections=max_connections, timeout=timeout)
        self.prefix = prefix
        self.max_connections = max_connections
        self.timeout = timeout
        self._url = url
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Redis] = WeakKeyDictionary()

    async def get(self, key: str) -> str | None:
        """The text under *key*."""
        found: str | bytes | None = await self._client().get(self.prefix + key)
        return None if found is None else _text(found)

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        """Keep *value*; the last of several writers wins."""
        await self._client().set(self.prefix + key, value, px=None if ttl is None else max(1, round(ttl * 1000)))

    async def delete(self, key: str) -> None:
        """Forget *key*."""
        await self._client().delete(self.prefix + key)

    async def keys(self) -> list[str]:
        """The keys of all entries under the prefix."""
        pattern = "".join(f"\\{sign}" if sign in GLOB_SIGNS else sign for sign in self.prefix) + "*"
        scan = self._client().scan_iter(pattern)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # untyped keywords
        found = [_text(key) async for key in scan]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # as above
        return [key for name in found if not (key := name.removeprefix(self.prefix)).startswith(CLAIM_PREFIX)]

    async def claim(self, key: str, *, seconds: float) -> str:
        """A token if nobody holds *key*, else an empty text. It lapses after *seconds*."""
        token = secrets.token_hex(8)
        is_ours = await self._client().set(
            self.prefix + CLAIM_PREFIX + key, token, nx=True, px=max(1, round(seconds * 1000))
        )
        return token if is_ours else ""

    async def release(self, key: str, token: str) -> None:
        """Give back what *token* holds."""
        await self._client().eval(GIVE_BACK, 1, self.prefix + CLAIM_PREFIX + key, token)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def __repr__(self) -> str:
        return f"RedisStore({self._url.rpartition('@')[2]!r})"

    def _client(self) -> Redis:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            try:
                from redis.asyncio import BlockingConnectionPool, Redis
            except ImportError as error:
                raise MissingExtraError("redis", extra="redis") from error
            pool = BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType]  # untyped keywords
                self._url,
                max_connections=self.max_connections,
                timeout=self.timeout,
                socket_timeout=self.timeout,
                socket_connect_timeout=self.timeout,
            )
            client = self._clients[loop] = Redis.from_pool(pool)
        return client


def _text(name: str | bytes) -> str:
    """What Redis gives, with or without its decoding."""
    return name.decode() if isinstance(name, bytes) else name
