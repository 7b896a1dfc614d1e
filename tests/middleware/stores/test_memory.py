from __future__ import annotations

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError
from onion.middleware import MemoryStore


async def test_it_gives_back_what_it_was_given() -> None:
    store = MemoryStore()

    await store.set("a", "1", ttl=None)
    await store.set("a", "2", ttl=None)

    assert await store.get("a") == "2"
    assert await store.get("b") is None
    assert len(store) == 1


async def test_the_least_recently_used_entry_goes_first() -> None:
    store = MemoryStore(max_entries=2)

    await store.set("a", "1", ttl=None)
    await store.set("b", "2", ttl=None)
    await store.get("a")
    await store.set("c", "3", ttl=None)

    assert [await store.get(key) for key in "abc"] == ["1", None, "3"]


async def test_an_entry_is_gone_after_its_time() -> None:
    now = [0.0]
    store = MemoryStore(clock=lambda: now[0])

    await store.set("a", "1", ttl=5)
    now[0] = 4.9
    before = await store.get("a")
    now[0] = 5.0
    after = await store.get("a")

    assert (before, after) == ("1", None)
    assert len(store) == 0


async def test_the_texts_together_keep_a_limit_and_one_that_is_longer_is_not_kept() -> None:
    store = MemoryStore(max_characters=10)

    await store.set("a", "x" * 6, ttl=None)
    await store.set("b", "x" * 6, ttl=None)
    await store.set("c", "x" * 11, ttl=None)

    assert [await store.get(key) is None for key in "abc"] == [True, False, True]


async def test_a_key_can_be_forgotten() -> None:
    store = MemoryStore()

    await store.set("a", "1", ttl=None)
    await store.delete("a")
    await store.delete("a")

    assert await store.get("a") is None


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.text(max_size=8), st.booleans()), max_size=40))
def test_no_limit_is_ever_passed_whatever_is_done(steps: list[tuple[str, str, bool]]) -> None:
    async def play() -> list[tuple[int, int]]:
        store = MemoryStore(max_entries=3, max_characters=12)
        seen: list[tuple[int, int]] = []
        for key, text, is_deleted in steps:
            await (store.delete(key) if is_deleted else store.set(key, text, ttl=None))
            kept = [await store.get(key) or "" for key in "abcdef"]
            seen.append((len(store), sum(map(len, kept))))
        return seen

    assert all(entries <= 3 and characters <= 12 for entries, characters in asyncio.run(play()))


def test_several_threads_may_use_it() -> None:
    store = MemoryStore(max_entries=10)

    async def work() -> None:
        for number in range(200):
            await store.set(f"{threading.get_ident()}-{number % 20}", "x", ttl=None)
            await store.get(f"{number % 7}")

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(store) == 10


async def test_ten_thousand_entries_stay_within_the_limit() -> None:
    store = MemoryStore(max_entries=100)

    for number in range(10_000):
        await store.set(str(number), "x", ttl=None)

    assert len(store) == 100
    assert await store.get("9999") == "x"


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="max_entries must be at least 1, got 0"):
        MemoryStore(max_entries=0)
    with pytest.raises(InvalidArgumentError, match="max_characters must be at least 1, got 0"):
        MemoryStore(max_characters=0)


def test_it_shows_itself() -> None:
    assert repr(MemoryStore()) == "MemoryStore()"
