"""What was read from the disk stays in memory, as long as it is what the disk says."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from onion.middleware import DiskStore
from onion.middleware.stores._recent import MAX_CHARACTERS, MAX_TEXTS, Recent

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DiskStore]:
    made = DiskStore(tmp_path / "cache", lock_timeout=0.2)
    yield made
    await made.aclose()


@pytest.fixture
def recent(tmp_path: Path) -> Iterator[Recent]:
    made = Recent(tmp_path / "cache.db")
    yield made
    made.close()


async def test_what_is_read_again_and_again_is_what_was_written_last_whoever_writes(store: DiskStore) -> None:
    other = DiskStore(store.directory)
    found: list[str | None] = []

    for number in range(3):
        await store.set("a", f"ours {number}", ttl=None)
        found += [await store.get("a") for _ in range(3)]
        await other.set("a", f"theirs {number}", ttl=None)
        found += [await store.get("a") for _ in range(3)]
        await other.delete("a")
        found += [await store.get("a") for _ in range(3)]
    await other.aclose()

    expected = [(f"ours {number}", f"theirs {number}", None) for number in range(3)]
    assert found == [text for texts in expected for text in texts for _ in range(3)]


async def test_what_was_read_is_given_again_while_another_process_holds_the_database(store: DiskStore) -> None:
    await store.set("a", "1", ttl=None)
    await store.get("a")

    with closing(sqlite3.connect(store.directory / "cache.db", isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        found = await store.get("a")
        database.execute("ROLLBACK")

    assert found == "1"


def test_any_commit_of_another_connection_is_another_version(recent: Recent, tmp_path: Path) -> None:
    before = [recent.version(), recent.version()]
    with closing(sqlite3.connect(tmp_path / "cache.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE a (b)")

    after = recent.version()

    assert before[0] == before[1]
    assert after not in (None, before[0])


def test_who_cannot_tell_whether_somebody_wrote_says_so(recent: Recent) -> None:
    recent.close()

    assert recent.version() is None


def test_a_text_is_given_at_its_version_and_in_its_time(recent: Recent) -> None:
    now = time.time()
    recent.keep("a", 1, "text", now + 60)
    recent.keep("b", 1, "text", now - 1)
    recent.keep("c", 1, "text", None)

    assert [recent.find(key, 1) for key in "abcd"] == ["text", None, "text", None]
    assert recent.find("a", 2) is None


def test_of_many_texts_the_last_are_kept_and_of_long_ones_none(recent: Recent) -> None:
    recent.keep("long", 1, "x" * (MAX_CHARACTERS + 1), None)
    for number in range(MAX_TEXTS + 1):
        recent.keep(str(number), 1, "text", None)

    assert [recent.find(key, 1) for key in ("long", "0", "1", str(MAX_TEXTS))] == [None, None, "text", "text"]
