"""`onion cache`: what it shows of a store, and what it leaves alone."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from onion.cli.cache import age_text, open_store, read_entries
from onion.cli.main import MISUSED, main
from onion.middleware import SHARED, Cache, DiskStore, RedisStore
from onion.streaming import collect
from onion.testing import ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.cli.streams import Streams
from tests.middleware.stacks import ASK

if TYPE_CHECKING:
    from pathlib import Path

    from onion.middleware.stores import CacheStore


async def fill(store: DiskStore) -> None:
    """Keep a whole answer and a stream, as a program would."""
    model = wrap_language_model(ScriptedModel([text("first\nanswer"), text("second")]), Cache(store, scope=SHARED))
    await model.do_generate(ASK)
    await collect(await model.do_stream(ASK.replace(seed=2)))
    await store.aclose()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    asyncio.run(fill(DiskStore(tmp_path / "cache")))
    return str(tmp_path / "cache")


def plant(folder: str, key: str, value: str) -> None:
    async def keep() -> None:
        store = DiskStore(folder)
        await store.set(key, value, ttl=None)
        await store.aclose()

    asyncio.run(keep())


def output_of(*argv: str) -> str:
    streams = Streams()
    code = main(["cache", *argv], streams.terminal)
    assert code == 0, streams.stderr
    return streams.stdout


def test_entries_are_listed_oldest_first(folder: str) -> None:
    first, second = output_of("ls", folder).splitlines()

    assert "whole" in first
    assert first.endswith("first answer")
    assert "stream" in second
    assert second.endswith("second")


def test_entries_are_listed_as_json(folder: str) -> None:
    first, _ = (json.loads(line) for line in output_of("ls", folder, "--json").splitlines())

    assert first["readable"] is True
    assert first["text"] == "first\nanswer"
    assert first["finishReason"] == "stop"
    assert len(first["key"]) > 12
    assert 0 <= first["ageSeconds"] < 60


def test_junk_is_listed_as_what_it_is(folder: str) -> None:
    plant(folder, "junk", "no entry")

    first = output_of("ls", folder).splitlines()[0]

    assert first.startswith("junk")
    assert "not an entry of this release" in first


def test_an_entry_is_shown_by_the_beginning_of_its_key(folder: str) -> None:
    key = json.loads(output_of("ls", folder, "--json").splitlines()[0])["key"]

    entry = json.loads(output_of("show", folder, key[:10]))

    assert entry["key"] == key
    assert entry["result"]["content"] == [{"type": "text", "text": "first\nanswer"}]


def test_junk_is_shown_as_it_is(folder: str) -> None:
    plant(folder, "junk", "no entry")

    assert output_of("show", folder, "junk") == "no entry\n"


@pytest.mark.parametrize(("key", "count"), [("nothing", 0), ("", 2)])
def test_a_key_that_is_not_the_beginning_of_one_entry_is_misuse(folder: str, key: str, count: int) -> None:
    streams = Streams()

    assert main(["cache", "show", folder, key], streams.terminal) == MISUSED
    assert f"{count} keys begin with {key!r}" in streams.stderr


def test_entries_and_bytes_are_counted(folder: str) -> None:
    plant(folder, "junk", "no entry")

    stats = json.loads(output_of("stats", folder, "--json"))
    shown = output_of("stats", folder)

    assert (stats["entries"], stats["unreadable"]) == (3, 1)
    assert stats["bytes"] > 100
    assert 0 <= stats["newestSeconds"] <= stats["oldestSeconds"] < 60
    assert shown.startswith(f"3 entries, {stats['bytes']} bytes, 1 not readable")


def test_one_entry_is_one_entry(tmp_path: Path) -> None:
    folder = str(tmp_path)
    plant(folder, "junk", "no entry")
    streams = Streams()

    shown = output_of("stats", folder)
    code = main(["cache", "clear", folder], streams.terminal)

    assert shown.startswith("1 entry, ")
    assert code == 0
    assert "1 entry removed" in streams.stderr


def test_a_cleared_cache_is_empty(folder: str) -> None:
    streams = Streams()

    code = main(["cache", "clear", folder], streams.terminal)

    assert code == 0
    assert "2 entries removed" in streams.stderr
    assert output_of("ls", folder) == ""
    assert output_of("stats", folder) == "0 entries, 0 bytes, 0 not readable by this release\n"
    assert json.loads(output_of("stats", folder, "--json"))["oldestSeconds"] is None


def test_a_folder_without_a_cache_is_misuse_and_stays_as_it_is(tmp_path: Path) -> None:
    streams = Streams()

    assert main(["cache", "ls", str(tmp_path)], streams.terminal) == MISUSED
    assert "holds no cache" in streams.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("seconds", "shown"), [(3, "3 s"), (200, "3 min"), (7300, "2 h"), (200_000, "2 d"), (-5, "0 s")]
)
def test_an_age_is_told_in_its_unit(seconds: int, shown: str) -> None:
    assert age_text(seconds) == shown


def test_a_redis_url_names_a_redis_store() -> None:
    store: object = open_store("redis://127.0.0.1:1/0")

    assert isinstance(store, RedisStore)


async def test_an_entry_that_goes_away_meanwhile_is_passed_over(tmp_path: Path) -> None:
    class Forgetful(DiskStore):
        async def get(self, key: str) -> str | None:
            return None

    store: CacheStore = Forgetful(tmp_path)
    await store.set("a", "1", ttl=None)

    assert isinstance(store, DiskStore)
    assert await read_entries(store) == []
    await store.aclose()
