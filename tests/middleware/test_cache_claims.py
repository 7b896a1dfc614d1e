from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from onion.middleware import SHARED, Cache
from onion.streaming import collect
from onion.testing import After, ScriptedModel, ScriptItem, parts, text
from tests.middleware.stacks import ASK, UNAVAILABLE, FakeSleep, OpenStore, under_test

if TYPE_CHECKING:
    from onion.spec import GenerateResult, LanguageModel


class Claimed(OpenStore):
    """A store with claims, of which others may hold some."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: dict[str, str] = {}
        self.is_held_elsewhere = False
        self.log: list[str] = []

    async def claim(self, key: str, *, seconds: float) -> str:
        self.log.append("claim")
        if self.is_held_elsewhere or key in self.claims:
            return ""
        self.claims[key] = "token"
        return "token"

    async def release(self, key: str, token: str) -> None:
        self.log.append("release")
        assert self.claims.pop(key) == token


async def ask(model: LanguageModel, mode: str = "generate") -> GenerateResult:
    return await (collect(await model.do_stream(ASK)) if mode == "stream" else model.do_generate(ASK))


def cached(store: Claimed, *script: ScriptItem, sleep: FakeSleep | None = None) -> tuple[ScriptedModel, LanguageModel]:
    inner = ScriptedModel(script)
    return inner, under_test(inner, Cache(store, scope=SHARED, claim_seconds=1, sleep=sleep or FakeSleep()))


both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])


@both_modes
async def test_a_call_is_claimed_and_given_back_when_it_is_over(mode: str) -> None:
    store = Claimed()
    _, model = cached(store, parts("a", "b"))

    await ask(model, mode)

    assert store.log == ["claim", "release"]
    assert store.claims == {}


@both_modes
async def test_a_call_that_fails_gives_its_claim_back(mode: str) -> None:
    store = Claimed()
    _, model = cached(store, UNAVAILABLE)

    with pytest.raises(type(UNAVAILABLE)):
        await ask(model, mode)

    assert store.claims == {}


async def test_a_call_that_is_cancelled_gives_its_claim_back() -> None:
    store = Claimed()
    _, model = cached(store, After(asyncio.Event(), text("never")))

    task = asyncio.ensure_future(ask(model))
    for _ in range(10):
        await asyncio.sleep(0)
    held = dict(store.claims)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert len(held) == 1
    assert store.claims == {}


@both_modes
async def test_who_waits_for_another_process_gets_its_entry(mode: str) -> None:
    there = Claimed()
    _, elsewhere = cached(there, text("from elsewhere"))
    await ask(elsewhere)
    store = Claimed()
    store.is_held_elsewhere = True

    class Arriving(FakeSleep):
        async def __call__(self, seconds: float) -> None:
            await super().__call__(seconds)
            if len(self.waits) == 3:
                store.texts.update(there.texts)

    sleep = Arriving()
    inner, model = cached(store, text("never"), sleep=sleep)

    found = await ask(model, mode)

    assert found.text == "from elsewhere"
    assert "onion" in (found.provider_metadata or {})
    assert sleep.waits == [0.02, 0.04, 0.08]
    assert inner.calls == []


@both_modes
async def test_who_waits_too_long_calls_the_model_himself(mode: str) -> None:
    store = Claimed()
    store.is_held_elsewhere = True
    sleep = FakeSleep()
    inner, model = cached(store, text("live"), sleep=sleep)

    found = await ask(model, mode)

    assert found.text == "live"
    assert 1 <= sum(sleep.waits) < 2
    assert len(inner.calls) == 1
    assert "release" not in store.log


async def test_an_entry_that_came_between_looking_and_claiming_is_found() -> None:
    there = Claimed()
    _, elsewhere = cached(there, text("from elsewhere"))
    await ask(elsewhere)

    class Late(Claimed):
        async def claim(self, key: str, *, seconds: float) -> str:
            self.texts.update(there.texts)
            return await super().claim(key, seconds=seconds)

    store = Late()
    inner, model = cached(store, text("never"))

    found = await ask(model)

    assert found.text == "from elsewhere"
    assert inner.calls == []
    assert store.claims == {}


async def test_a_store_whose_claims_fail_costs_a_warning_and_never_the_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Claimed):
        async def claim(self, key: str, *, seconds: float) -> str:
            raise OSError("down")

    _, model = cached(Broken(), text("live"))

    assert (await ask(model)).text == "live"
    assert "could not claim an entry: OSError: down" in caplog.text


async def test_equal_calls_of_one_process_join_instead_of_waiting_for_the_claim() -> None:
    store = Claimed()
    go = asyncio.Event()
    inner, model = cached(store, After(go, text("one")))

    asked = [asyncio.ensure_future(ask(model, mode)) for mode in ("generate", "stream", "generate")]
    for _ in range(20):
        await asyncio.sleep(0)
    go.set()

    assert [(await found).text for found in asked] == ["one"] * 3
    assert len(inner.calls) == 1


async def test_a_claim_is_given_back_when_a_flight_of_ones_own_turns_out_to_be_there() -> None:
    go, claimed = asyncio.Event(), asyncio.Event()

    class Slow(Claimed):
        async def claim(self, key: str, *, seconds: float) -> str:
            token = await super().claim(key, seconds=seconds)
            await claimed.wait()
            return token

    store = Slow()
    inner, model = cached(store, After(go, text("one")))
    waiting = asyncio.ensure_future(ask(model))
    await asyncio.sleep(0)
    again = ASK.replace(provider_options={"onion": {"cache": "refresh"}})
    refreshing = asyncio.ensure_future(model.do_generate(again))
    for _ in range(10):
        await asyncio.sleep(0)
    claimed.set()
    for _ in range(10):
        await asyncio.sleep(0)
    go.set()

    assert [(await waiting).text, (await refreshing).text] == ["one", "one"]
    assert len(inner.calls) == 1
    assert store.claims == {}
