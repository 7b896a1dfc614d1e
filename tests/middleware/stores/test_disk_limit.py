"""A disk store that is full all the time: what is thrown out is asked for again, and nothing else happens."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeAlias

import pytest

from onion.middleware import SHARED, Cache, DiskStore
from onion.testing import ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec import CallOptions, GenerateResult

LIMIT_BYTES = 1_000_000
Open: TypeAlias = Callable[[], DiskStore]


@pytest.fixture
async def limited(tmp_path: Path) -> AsyncIterator[Open]:
    """Opens stores that share a folder, as processes do, and have little room there."""
    async with AsyncExitStack() as stack:

        def made() -> DiskStore:
            store = DiskStore(tmp_path / "cache", size_limit=LIMIT_BYTES)
            stack.push_async_callback(store.aclose)
            return store

        yield made


def size_of(folder: Path) -> int:
    """Bytes of the entries, after the store was closed: until then some of it is a log of what was done."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.suffix in {".db", ".val"})


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_ten_thousand_entries_stay_within_the_limit_and_what_is_left_is_right(limited: Open) -> None:
    stores = [limited(), limited()]

    for number in range(10_000):
        await stores[number % 2].set(f"k{number}", f"answer {number} " * 40, ttl=None)
    found = [await stores[0].get(f"k{number}") for number in range(10_000)]
    kept = [number for number, text_ in enumerate(found) if text_ is not None]
    for store in stores:
        await store.aclose()

    assert [found[number] for number in kept] == [f"answer {number} " * 40 for number in kept]
    assert 500 < len(kept) < 2_000
    assert kept == [*range(kept[0], 10_000)]
    assert size_of(stores[0].directory) < LIMIT_BYTES * 1.1


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_cache_that_is_always_full_loses_speed_and_nothing_else(limited: Open) -> None:
    def said(params: CallOptions) -> GenerateResult:
        return text(f"answer {params.seed} " * 400)

    inner = ScriptedModel(itertools.repeat(said))
    store = limited()
    model = wrap_language_model(inner, Cache(store, scope=SHARED))

    wrong = [
        seed
        for seed in (*range(1_000), *range(1_000))
        if (await model.do_generate(ASK.replace(seed=seed))).text != f"answer {seed} " * 400
    ]
    calls = len(inner.calls)
    again = (await model.do_generate(ASK.replace(seed=999))).text

    assert wrong == []
    assert 0 < len(await store.keys()) < 500
    assert (again, len(inner.calls)) == ("answer 999 " * 400, calls)


async def test_long_texts_are_thrown_out_with_their_files_and_no_more_of_them_than_needed(limited: Open) -> None:
    store = limited()

    for number in range(10, 100):
        await store.set(str(number), str(number) * 50_000, ttl=None)
    kept = [number for number in range(10, 100) if await store.get(str(number)) is not None]
    await store.aclose()

    assert len(kept) >= 7
    assert kept == [*range(kept[0], 100)]
    assert size_of(store.directory) < LIMIT_BYTES * 1.2


async def test_a_long_text_makes_room_for_itself(limited: Open) -> None:
    store = limited()

    for number in range(500):
        await store.set(f"short{number}", "x" * 1_000, ttl=None)
    await store.set("long", "y" * 700_000, ttl=None)
    found = await store.get("long")
    await store.aclose()

    assert found == "y" * 700_000
    assert size_of(store.directory) < LIMIT_BYTES * 1.2
