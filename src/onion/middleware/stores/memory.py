"""Entries in this process, the least recently used thrown out first."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from onion.middleware.stores._limits import check_at_least

MAX_ENTRIES = 1_000
MAX_CHARACTERS = 100_000_000


class MemoryStore:
    """Keeps entries in memory, up to a number and a size; usable from several threads and event loops.

    Args:
        max_entries: How many entries to keep at most.
        max_characters: How long all texts together may be. A longer one is not kept.
        clock: Seconds on a clock that only goes forward.

    Raises:
        InvalidArgumentError: For a limit below 1, or that is no number.
    """

    def __init__(
        self,
        *,
        max_entries: int = MAX_ENTRIES,
        max_characters: int = MAX_CHARACTERS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_at_least(1, max_entries=max_entries, max_characters=max_characters)
        self.max_entries = max_entries
        self.max_characters = max_characters
        self._clock = clock
        self._entries: OrderedDict[str, tuple[str, float | None]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    async def get(self, key: str) -> str | None:
        """The text under *key*, which is now the most recently used."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            value, expires = found
            if expires is not None and expires <= self._clock():
                self._forget(key)
                return None
            self._entries.move_to_end(key)
            return value

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        """Keep *value*, and throw out what no longer fits."""
        with self._lock:
            self._forget(key)
            if len(value) > self.max_characters:
                return
            self._entries[key] = (value, None if ttl is None else self._clock() + ttl)
            self._characters += len(value)
            while len(self._entries) > self.max_entries or self._characters > self.max_characters:
                self._forget(next(iter(self._entries)))

    async def delete(self, key: str) -> None:
        """Forget *key*."""
        with self._lock:
            self._forget(key)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return "MemoryStore()"

    def _forget(self, key: str) -> None:
        value, _ = self._entries.pop(key, ("", None))
        self._characters -= len(value)
