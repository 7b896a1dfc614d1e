"""Texts that were read from a SQLite database, good for as long as nobody writes to it."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

MAX_TEXTS = 100
MAX_CHARACTERS = 100_000  # of one text
IS_THREAD_SAFE = sqlite3.threadsafety == 3  # noqa: PLR2004 - "threads may share connections", PEP 249


class _Text(NamedTuple):
    version: int
    value: str
    expires: float | None


class Recent:
    """The texts that were read last. Asking whether they still hold touches no disk, only memory and locks.

    Args:
        database: The file. It is there already.
    """

    def __init__(self, database: Path) -> None:
        self._texts: OrderedDict[str, _Text] = OrderedDict()
        self._connection = sqlite3.connect(database, timeout=0, isolation_level=None, check_same_thread=False)

    def version(self) -> int | None:
        """A number that is another one once anybody has written; None if that cannot be told at once.

        https://www.sqlite.org/pragma.html#pragma_data_version, read 2026-12.
        """
        try:
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            return None
        return version

    def find(self, key: str, version: int) -> str | None:
        """The text under *key*, if it was read at that version and is not too old."""
        found = self._texts.get(key)
        if found is None or found.version != version or (found.expires is not None and found.expires <= time.time()):
            return None
        return found.value

    def keep(self, key: str, version: int, value: str, expires: float | None) -> None:
        """Keep a text that was read after the version was asked for."""
        if len(value) <= MAX_CHARACTERS:
            self._texts[key] = _Text(version, value, expires)
            if len(self._texts) > MAX_TEXTS:
                self._texts.popitem(last=False)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
