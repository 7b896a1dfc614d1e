from __future__ import annotations

import asyncio
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from onion.errors import InvalidArgumentError
from onion.middleware import SHARED, Cache, DiskStore
from onion.middleware.stores import ClaimingStore, ListingStore
from onion.middleware.stores._text_disk import TextDisk
from onion.testing import ScriptedModel, text
from tests.middleware.stacks import ASK, under_test


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DiskStore]:
    made = DiskStore(tmp_path / "cache", lock_timeout=0.2)
    yield made
    await made.aclose()


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def change(store: DiskStore, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(store.directory / "cache.db")) as database:
        database.execute(statement, values)
        database.commit()


async def test_it_gives_back_what_it_was_given_also_after_opening_it_anew(store: DiskStore) -> None:
    await store.set("a", "1", ttl=None)
    await store.set("a", "ä\n2", ttl=None)
    await store.aclose()

    assert await store.get("a") == "ä\n2"
    assert await store.get("b") is None


async def test_its_keys_are_those_of_its_entries_alone(store: DiskStore) -> None:
    await store.set("a", "1", ttl=None)
    await store.set("b", "2", ttl=None)
    await store.claim("c", seconds=60)
    change(store, "INSERT INTO Cache (key, raw, value) VALUES (?, 0, ?)", pickle.dumps("d"), "4")
    change(store, "INSERT INTO Cache (key, raw, value) VALUES (5, 1, '5')")

    assert sorted(await store.keys()) == ["a", "b"]
    assert isinstance(store, ListingStore)


async def test_an_entry_is_gone_after_its_time(store: DiskStore) -> None:
    await store.set("a", "1", ttl=-1)

    assert await store.get("a") is None


async def test_a_key_can_be_forgotten(store: DiskStore) -> None:
    await store.set("a", "1", ttl=None)
    await store.delete("a")
    await store.delete("a")

    assert await store.get("a") is None


async def test_a_very_long_text_lies_in_a_file_of_its_own_and_comes_back(store: DiskStore) -> None:
    long = "ü" * 5_000_000

    await store.set("a", long, ttl=None)

    assert await store.get("a") == long
    assert list(store.directory.rglob("*.val"))


async def test_a_planted_pickle_is_never_run(store: DiskStore, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    await store.set("a", "1", ttl=None)
    change(store, "UPDATE Cache SET mode = 4, value = ?", pickle.dumps(Evil(touched)))

    with pytest.raises(ValueError, match="is pickled"):
        await store.get("a")

    assert not touched.exists()


async def test_a_planted_pickle_in_a_file_or_as_a_key_is_never_run(store: DiskStore, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    await store.set("a", "x" * 100_000, ttl=None)
    (file,) = store.directory.rglob("*.val")
    file.write_bytes(pickle.dumps(Evil(touched)))
    change(store, "UPDATE Cache SET mode = 4")
    disk = TextDisk(str(store.directory))

    with pytest.raises(ValueError, match="is pickled"):
        await store.get("a")
    with pytest.raises(ValueError, match="a key that is pickled"):
        disk.get(pickle.dumps(Evil(touched)), raw=False)

    assert not touched.exists()
    assert disk.get("a", raw=True) == "a"


@pytest.mark.parametrize("value", [b"bytes", 1, 1.5], ids=str)
async def test_what_is_no_text_is_refused(store: DiskStore, value: object) -> None:
    await store.set("a", "1", ttl=None)
    change(store, "UPDATE Cache SET value = ?", value)

    with pytest.raises(ValueError, match="which is refused"):
        await store.get("a")


async def test_files_outside_of_the_folder_are_neither_read_nor_removed(store: DiskStore, tmp_path: Path) -> None:
    outside = tmp_path / "precious.txt"
    outside.write_text("mine")
    await store.set("a", "1", ttl=None)
    change(store, "UPDATE Cache SET mode = 3, value = NULL, filename = ?", "../precious.txt")

    with pytest.raises(ValueError, match="outside of the folder"):
        await store.get("a")
    await store.set("a", "2", ttl=None)

    assert await store.get("a") == "2"
    assert outside.read_text() == "mine"


async def test_a_pickle_is_a_miss_for_the_cache_and_is_replaced(
    store: DiskStore, caplog: pytest.LogCaptureFixture
) -> None:
    inner = ScriptedModel([text("first"), text("second")])
    model = under_test(inner, Cache(store, scope=SHARED))
    await model.do_generate(ASK)
    change(store, "UPDATE Cache SET mode = 4, value = ?", pickle.dumps("x"))

    answers = [(await model.do_generate(ASK)).text for _ in range(2)]

    assert answers == ["second", "second"]
    assert "could not read an entry: ValueError" in caplog.text


async def test_a_junk_database_costs_a_warning_and_never_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database" * 100)
    store = DiskStore(tmp_path)
    model = under_test(ScriptedModel([text("live"), text("again")]), Cache(store, scope=SHARED))

    answers = [(await model.do_generate(ASK)).text for _ in range(2)]
    await store.aclose()

    assert answers == ["live", "again"]
    assert "DatabaseError" in caplog.text


@pytest.mark.parametrize("when", ["before it is opened", "after it was used"])
async def test_a_locked_database_costs_a_bounded_wait(store: DiskStore, when: str) -> None:
    model = under_test(ScriptedModel([text("live")]), Cache(store, scope=SHARED, store_timeout=0.5))
    await store.set("other", "1", ttl=None)
    if when == "before it is opened":
        await store.aclose()
    with closing(sqlite3.connect(store.directory / "cache.db", isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        started = time.monotonic()
        answer = (await model.do_generate(ASK)).text
        waited = time.monotonic() - started
        database.execute("ROLLBACK")

    assert answer == "live"
    assert waited < 4


async def test_a_full_disk_costs_a_warning_and_never_the_call(
    store: DiskStore, caplog: pytest.LogCaptureFixture
) -> None:
    inner = ScriptedModel([text("x" * 200_000), text("y" * 200_000)])
    model = under_test(inner, Cache(store, scope=SHARED))
    await store.set("other", "1", ttl=None)
    change(store, "CREATE TRIGGER full BEFORE INSERT ON Cache BEGIN SELECT RAISE(ABORT, 'disk full'); END")

    answers = [len((await model.do_generate(ASK)).text) for _ in range(2)]

    assert answers == [200_000, 200_000]
    assert "could not write an entry" in caplog.text


@pytest.mark.parametrize("kind", ["one text", "new texts"])
async def test_reading_a_thousand_times_does_not_hold_up_the_event_loop(store: DiskStore, kind: str) -> None:
    keys = ["a"] * 1000 if kind == "one text" else [str(number) for number in range(1000)]
    for key in set(keys):
        await store.set(key, "x" * 4000, ttl=None)
    lags: list[float] = []

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            lags.append(time.perf_counter() - before - 0.001)

    watcher = asyncio.ensure_future(watch())
    for key in keys:
        await store.get(key)
    await asyncio.sleep(0.01)  # the reads may be over before it looked for the first time
    watcher.cancel()

    assert sorted(lags)[len(lags) * 9 // 10] < 0.02


async def test_a_claim_is_held_by_one_and_given_back_by_its_owner_only(store: DiskStore) -> None:
    first = await store.claim("k", seconds=60)
    second = await store.claim("k", seconds=60)
    await store.release("k", "not the token")
    third = await store.claim("k", seconds=60)
    await store.release("k", first)
    fourth = await store.claim("k", seconds=60)

    assert "" not in (first, fourth)
    assert (second, third) == ("", "")
    assert isinstance(store, ClaimingStore)


PROGRAM = """
import asyncio, os, sys
from onion.middleware import SHARED, Cache, DiskStore
from onion.streaming import collect
from onion.testing import After, ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK

async def slow():
    await asyncio.sleep(0.3)

async def main():
    store = DiskStore(sys.argv[1])
    inner = ScriptedModel([After(slow, text(f"from {os.getpid()}"))])
    model = wrap_language_model(inner, Cache(store, scope=SHARED))
    print((await collect(await model.do_stream(ASK))).text, len(inner.calls))
    await store.aclose()

asyncio.run(main())
"""


def test_two_processes_that_ask_the_same_make_one_call(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]

    lines = [process.communicate(timeout=15)[0].strip() for process in processes]

    assert sorted(line.split()[-1] for line in lines) == ["0", "1"]
    assert len({line.rpartition(" ")[0] for line in lines}) == 1


def test_a_process_killed_while_it_writes_leaves_nothing_wrong(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import asyncio, sys
        from onion.middleware import DiskStore
        async def main():
            store = DiskStore(sys.argv[1])
            await store.set("good", "whole", ttl=None)
            while True:
                print("writing", flush=True)
                await store.set("k", "x" * 3_000_000, ttl=None)
        asyncio.run(main())
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.kill()
    process.communicate()

    async def read() -> tuple[str | None, str | None]:
        store = DiskStore(tmp_path)
        found = await store.get("good"), await store.get("k")
        await store.aclose()
        return found

    good, other = asyncio.run(read())

    assert good == "whole"
    assert other in (None, "x" * 3_000_000)


def test_after_a_fork_both_processes_can_use_it(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import asyncio, os, sys
        from onion.middleware import DiskStore
        store = DiskStore(sys.argv[1])
        asyncio.run(store.set("a", "1", ttl=None))
        child = os.fork()
        found = asyncio.run(store.get("a"))
        os.write(1, f"{found}\\n".encode())  # one write: unbuffered prints of two processes interleave
        if child:
            os.waitpid(child, 0)
        os._exit(0)
        """
    )

    output = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True, timeout=15
    ).stdout

    assert output.split() == ["1", "1"]


async def test_closing_what_was_never_opened_does_nothing(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "never")
    await store.aclose()

    (tmp_path / "file").write_text("")
    broken = DiskStore(tmp_path / "file")
    with pytest.raises(OSError, match="file"):
        await broken.get("a")
    await broken.aclose()

    assert not store.directory.exists()


def test_a_limit_that_is_not_above_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="size_limit must be above 0, got 0"):
        DiskStore(tmp_path, size_limit=0)
    with pytest.raises(InvalidArgumentError, match="lock_timeout must be above 0, got 0"):
        DiskStore(tmp_path, lock_timeout=0)


def test_it_shows_its_folder() -> None:
    assert repr(DiskStore("answers")) == "DiskStore('answers')"
