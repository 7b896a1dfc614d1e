"""`onion cache`: what a cache on disk or in Redis holds, and how to empty it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from onion.cli.loading import UsageError
from onion.cli.render import Kind
from onion.errors import TypeValidationError
from onion.spec.json import to_json

if TYPE_CHECKING:
    from onion.cli.options import Command, Options
    from onion.cli.terminal import Terminal
    from onion.middleware.caching.entry import Entry
    from onion.middleware.stores import ListingStore
    from onion.spec.base import JsonValue

REDIS = ("redis://", "rediss://", "unix://")
SHOWN_KEY = 12
MINUTE, HOUR, DAY = 60, 3600, 86400

Work: TypeAlias = "Callable[[ListingStore, Options, Terminal], Coroutine[None, None, int]]"


def open_store(target: str) -> ListingStore:
    """The store that *target* names: a Redis URL, or the folder of a DiskStore.

    Raises:
        UsageError: For a folder that holds no cache; opening it would make one.
    """
    if target.startswith(REDIS):
        from onion.middleware.stores import RedisStore

        return RedisStore(target)
    from onion.middleware.stores.disk import DATABASE, DiskStore

    if not Path(target, DATABASE).is_file():
        raise UsageError(f"{target} holds no cache: name the folder of a DiskStore, or a redis:// URL")
    return DiskStore(target)


def _command(work: Work) -> Callable[[Options, Terminal], int]:
    async def run(options: Options, terminal: Terminal) -> int:
        store = open_store(options.target)
        try:
            return await work(store, options, terminal)
        finally:
            await store.aclose()

    return lambda options, terminal: asyncio.run(run(options, terminal))


async def read_entries(store: ListingStore) -> list[tuple[str, str, Entry | None]]:
    """Key, text and meaning of every entry, oldest first; None for what is no entry of this release."""
    from onion.middleware.caching.entry import read_entry

    found: list[tuple[str, str, Entry | None]] = []
    for key in await store.keys():
        text = await store.get(key)
        if text is None:
            continue
        try:
            found.append((key, text, read_entry(text, key)))
        except TypeValidationError:
            found.append((key, text, None))
    return sorted(found, key=lambda entry: (0.0 if entry[2] is None else entry[2].created, entry[0]))


def age_text(seconds: float) -> str:
    """Seconds in the largest unit of which there is one."""
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(0.0, seconds):.0f} s"


def _row(key: str, text: str, entry: Entry | None, now: float) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = {"key": key, "bytes": len(text.encode())}
    if entry is None:
        return {**row, "readable": False}
    result = entry.to_result()
    return {
        **row,
        "readable": True,
        "ageSeconds": round(now - entry.created, 1),
        "kind": "stream" if entry.result is None else "whole",
        "modelId": None if result.response is None else result.response.model_id,
        "finishReason": result.finish_reason.unified,
        "text": result.text,
    }


def _shown(row: dict[str, JsonValue]) -> str:
    key, size = str(row["key"])[:SHOWN_KEY], row["bytes"]
    if not row["readable"]:
        return f"{key}  {size:>8} bytes  not an entry of this release"
    age = age_text(float(str(row["ageSeconds"])))
    text = " ".join(str(row["text"]).split())
    return f"{key}  {size:>8} bytes  {age:>6}  {row['kind']:<6}  {row['finishReason']:<10}  {text[:60]}"


async def _list(store: ListingStore, options: Options, terminal: Terminal) -> int:
    now = time.time()
    for entry in await read_entries(store):
        row = _row(*entry, now)
        terminal.line(json.dumps(row) if options.json else _shown(row))
    return 0


async def _show(store: ListingStore, options: Options, terminal: Terminal) -> int:
    matching = [entry for entry in await read_entries(store) if entry[0].startswith(options.key)]
    if len(matching) != 1:
        raise UsageError(
            f"{len(matching)} keys begin with {options.key!r}: give more of the key, as `onion cache ls` shows"
        )
    _, text, entry = matching[0]
    terminal.line(text if entry is None else json.dumps(to_json(entry), indent=2, ensure_ascii=False))
    return 0


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


async def _stats(store: ListingStore, options: Options, terminal: Terminal) -> int:
    now = time.time()
    rows = [_row(*entry, now) for entry in await read_entries(store)]
    ages = [float(str(row["ageSeconds"])) for row in rows if row["readable"]]
    stats: dict[str, JsonValue] = {
        "entries": len(rows),
        "unreadable": sum(not row["readable"] for row in rows),
        "bytes": sum(int(str(row["bytes"])) for row in rows),
        "oldestSeconds": max(ages, default=None),
        "newestSeconds": min(ages, default=None),
    }
    if options.json:
        terminal.line(json.dumps(stats))
        return 0
    terminal.line(f"{_entries(len(rows))}, {stats['bytes']} bytes, {stats['unreadable']} not readable by this release")
    if ages:
        terminal.line(f"oldest {age_text(max(ages))}, newest {age_text(min(ages))}")
    return 0


async def _clear(store: ListingStore, options: Options, terminal: Terminal) -> int:
    keys = await store.keys()
    for key in keys:
        await store.delete(key)
    terminal.note(f"{_entries(len(keys))} removed from {options.target.rpartition('@')[2]}", Kind.FIGURES)
    return 0


ls: Command = _command(_list)
show: Command = _command(_show)
stats: Command = _command(_stats)
clear: Command = _command(_clear)
