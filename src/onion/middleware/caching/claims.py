"""Single flight between processes: who makes a call claims its key in the store, and the others wait for the entry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.middleware.caching.readings import Reading
    from onion.middleware.stores import ClaimingStore

CLAIM_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 0.5


class Claims:
    """The claims of one cache.

    Args:
        store: Where they are; None if the store has none.
        ask: Asks the store for a text within its time; None if that failed.
        read: Looks for an entry.
        seconds: How long a claim holds, and how long others wait for its owner at most.
        sleep: Awaits the given seconds.
    """

    def __init__(
        self,
        store: ClaimingStore | None,
        *,
        ask: Callable[[str, Awaitable[str]], Awaitable[str | None]],
        read: Callable[[str], Awaitable[Reading | None]],
        seconds: float,
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._store = store
        self._ask = ask
        self._read = read
        self._seconds = seconds
        self._sleep = sleep

    async def wait(self, key: str, flights: Container[str]) -> Reading | str:
        """A token if the call is ours to make, the entry if another process made it; empty if nobody knows.

        Returns as soon as this process has a flight of its own with that key.
        """
        if self._store is None:
            return ""
        waited, pause = 0.0, FIRST_PAUSE_SECONDS
        while key not in flights:
            token = await self._ask("claim", self._store.claim(key, seconds=self._seconds))
            if token is None:
                return ""
            entry = await self._read(key)
            if entry is not None:
                await self.release(key, token)
                return entry
            if token or waited >= self._seconds:
                return token
            await self._sleep(pause)
            waited += pause
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        return ""

    async def release(self, key: str, token: str) -> None:
        """Give back a claim, so that nobody waits for what will not come."""
        store = self._store
        if store is None or not token:
            return

        async def give_back() -> str:
            await store.release(key, token)
            return ""

        await self._ask("release", give_back())
