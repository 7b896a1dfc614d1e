from __future__ import annotations

import asyncio

import pytest

from onion.middleware.caching.patience import within


async def at_once() -> str:
    return "found"


async def failing() -> str:
    raise LookupError("lost")


async def after_turns(turns: int) -> str:
    for _ in range(turns):
        await asyncio.sleep(0)
    return "found"


@pytest.mark.parametrize("turns", [0, 1, 3])
async def test_an_answer_that_comes_in_time_is_given(turns: int) -> None:
    assert await within(5, after_turns(turns)) == "found"


async def test_an_answer_may_be_a_future_or_a_task() -> None:
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, "found")

    assert await within(5, future) == "found"
    assert await within(5, asyncio.create_task(at_once())) == "found"


async def test_an_answer_that_is_there_at_once_does_not_let_others_run() -> None:
    others: list[str] = []
    asyncio.get_running_loop().call_soon(others.append, "ran")

    await within(5, at_once())

    assert others == []


@pytest.mark.parametrize("turns", [0, 1])
async def test_what_is_raised_instead_of_an_answer_is_raised(turns: int) -> None:
    async def late() -> str:
        await after_turns(turns)
        return await failing()

    with pytest.raises(LookupError, match="lost"):
        await within(5, late())


async def test_an_answer_that_takes_longer_is_not_waited_for() -> None:
    with pytest.raises(TimeoutError):
        await within(0.01, asyncio.Event().wait())


async def test_who_is_cancelled_while_he_waits_cancels_what_he_waits_for() -> None:
    noted: list[str] = []

    async def noting() -> str:
        try:
            return str(await asyncio.Event().wait())
        except asyncio.CancelledError:
            noted.append("cancelled")
            await asyncio.sleep(0)
            noted.append("tidied up")
            raise

    waiting = asyncio.create_task(within(5, noting()))
    await asyncio.sleep(0)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert noted == ["cancelled", "tidied up"]


async def test_an_answer_that_is_given_in_spite_of_a_cancellation_counts() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "found"
        return "never"

    waiting = asyncio.create_task(within(5, stubborn()))
    await asyncio.sleep(0)
    waiting.cancel()

    assert await waiting == "found"
