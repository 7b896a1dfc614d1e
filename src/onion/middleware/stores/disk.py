"""Entries in a folder, shared by processes on one machine. Text only: nothing that is found there is ever run."""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import diskcache

from onion.middleware.stores._limits import check_above_zero
from onion.middleware.stores._recent import IS_THREAD_SAFE, Recent
from onion.middleware.stores._text_disk import TextDisk, text_in

SIZE_LIMIT_BYTES = 1_000_000_000
LOCK_TIMEOUT_SECONDS = 1.0
CULL_AT_ONCE = 2  # diskcache's own 10 empty a folder that has room for fewer than ten entries
TURN_SECONDS = 0.002
OVERSHOOT = 1.1  # one long entry may be more than what two short ones make room for
DATABASE = "cache.db"
CLAIM_PREFIX = "claim-"

T = TypeVar("T")


class DiskStore:
    """Keeps entries in a folder with diskcache, oldest thrown out first. Several processes may share the folder.

    All work on the disk is done in one thread of its own, so the event loop never waits for it; what was read stays in
    memory until somebody writes. A database that is locked, broken or full raises, which `Cache` answers with a warning
    and a live call.

    Args:
        directory: The folder, made if it is not there. Whoever can write there can change answers, but run nothing.
        size_limit: Bytes that the entries may take together.
        lock_timeout: Seconds to wait for another process that holds the database.

    Raises:
        InvalidArgumentError: For a limit that is not above 0.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        size_limit: int = SIZE_LIMIT_BYTES,
        lock_timeout: float = LOCK_TIMEOUT_SECONDS,
    ) -> None:
        check_above_zero(size_limit=size_limit, lock_timeout=lock_timeout)
        self.directory: Path = Path(directory)
        self.size_limit = size_limit
        self.lock_timeout = lock_timeout
        self._cache: diskcache.Cache | None = None
        self._recent: Recent | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._process = 0
        self._next_turn = 0.0

    async def get(self, key: str) -> str | None:
        """The text under *key*. One that was read before, with nothing written since, comes at once."""
        recent = self._recent if self._process == os.getpid() else None
        version = None if recent is None else recent.version()
        if recent is None or version is None:
            return (await self._run(lambda cache: self._read(cache, key)))[0]
        known = recent.find(key, version)
        if known is not None:
            await self._let_others_run()
            return known
        text, expires = await self._run(lambda cache: self._read(cache, key))
        if text is not None:
            recent.keep(key, version, text, expires)
        return text

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        """Keep *value*, and throw out what no longer fits; the last of several writers wins."""

        def keep(cache: diskcache.Cache) -> None:
            cache.set(key, value, expire=ttl)
            if cache.volume() > self.size_limit * OVERSHOOT:
                cache.cull()

        await self._run(keep)

    async def delete(self, key: str) -> None:
        """Forget *key*."""
        await self._run(lambda cache: cache.delete(key))

    async def keys(self) -> list[str]:
        """The keys of all entries. Rows that are no text are passed over: they are none of ours."""

        def listed(_: diskcache.Cache) -> list[str]:
            with closing(sqlite3.connect(self.directory / DATABASE, timeout=self.lock_timeout)) as database:
                rows: list[tuple[object]] = database.execute("SELECT key FROM Cache WHERE raw = 1").fetchall()
            return [key for (key,) in rows if isinstance(key, str) and not key.startswith(CLAIM_PREFIX)]

        return await self._run(listed)

    async def claim(self, key: str, *, seconds: float) -> str:
        """A token if nobody holds *key*, else an empty text. It lapses after *seconds*."""
        token = secrets.token_hex(8)
        is_ours = await self._run(lambda cache: cache.add(CLAIM_PREFIX + key, token, expire=seconds))
        return token if is_ours else ""

    async def release(self, key: str, token: str) -> None:
        """Give back what *token* holds."""

        def give_back(cache: diskcache.Cache) -> None:
            if self._read(cache, CLAIM_PREFIX + key)[0] == token:
                cache.delete(CLAIM_PREFIX + key)

        await self._run(give_back)

    async def aclose(self) -> None:
        """Close the database and end the thread. Using the store again opens both anew."""
        thread, cache, recent = self._thread, self._cache, self._recent
        self._thread = self._cache = self._recent = None
        if recent is not None:
            recent.close()
        if thread is not None:
            if cache is not None:
                await asyncio.get_running_loop().run_in_executor(thread, cache.close)
            thread.shutdown(wait=False)

    def __repr__(self) -> str:
        return f"DiskStore({str(self.directory)!r})"

    async def _run(self, work: Callable[[diskcache.Cache], T]) -> T:
        if self._thread is None or self._process != os.getpid():  # threads do not survive a fork
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="onion-disk-store")
            self._process = os.getpid()
            self._cache = self._recent = None
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(self._opened()))

    def _opened(self) -> diskcache.Cache:
        if self._cache is None:
            self.directory.mkdir(parents=True, exist_ok=True)
            # diskcache waits a minute for a lock while it opens; this says so at once.
            with closing(sqlite3.connect(self.directory / DATABASE, timeout=self.lock_timeout)) as database:
                database.execute("BEGIN IMMEDIATE")
                database.rollback()
            self._cache = diskcache.Cache(
                str(self.directory),
                timeout=self.lock_timeout,
                disk=TextDisk,
                size_limit=self.size_limit,
                cull_limit=CULL_AT_ONCE,
                eviction_policy="least-recently-stored",
            )
            self._recent = Recent(self.directory / DATABASE) if IS_THREAD_SAFE else None
        return self._cache

    async def _let_others_run(self) -> None:
        """Give up the event loop now and then: who reads a thousand times in a row would keep it otherwise."""
        now = time.monotonic()
        if now >= self._next_turn:
            self._next_turn = now + TURN_SECONDS
            await asyncio.sleep(0)

    def _read(self, cache: diskcache.Cache, key: str) -> tuple[str | None, float | None]:
        """The text under *key*, and when it will be too old."""
        found, expires = cache.get(key, expire_time=True)
        return (None if found is None else text_in(found)), expires
