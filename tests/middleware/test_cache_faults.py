from __future__ import annotations

import asyncio
import itertools
import json
import time
from typing import TYPE_CHECKING

import pytest

from onion.errors import TypeValidationError
from onion.middleware import SHARED, Cache, MemoryStore
from onion.middleware.caching.readings import Reading
from onion.streaming import collect
from onion.testing import ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, OpenStore, under_test

if TYPE_CHECKING:
    from onion.spec import CallOptions, GenerateResult, JsonObject, LanguageModel


class Broken(OpenStore):
    """Raises at every touch."""

    async def get(self, key: str) -> str | None:
        raise OSError("redis://user:hunter2@host is down, password=hunter2")

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        raise OSError("disk full")


class Cancelled(OpenStore):
    """Has a task of its own, which somebody cancelled."""

    async def get(self, key: str) -> str | None:
        raise asyncio.CancelledError

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        raise asyncio.CancelledError


class Hanging(OpenStore):
    """Never answers."""

    async def get(self, key: str) -> str | None:
        await asyncio.Event().wait()
        return None

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        await asyncio.Event().wait()


async def ask(model: LanguageModel, mode: str) -> str:
    if mode == "generate":
        return (await model.do_generate(ASK)).text
    return (await collect(await model.do_stream(ASK))).text


both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])


@both_modes
async def test_a_store_that_fails_costs_a_warning_and_never_the_call(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = under_test(ScriptedModel([text("live")]), Cache(Broken(), scope=SHARED))

    answer = await ask(model, mode)

    assert answer == "live"
    read, wrote = (record.getMessage() for record in caplog.records)
    assert read.startswith("Cache(OpenStore(), scope=SHARED) could not read an entry: OSError: ")
    assert wrote == "Cache(OpenStore(), scope=SHARED) could not write an entry: OSError: disk full"
    assert "hunter2" not in caplog.text


@both_modes
async def test_a_store_that_hangs_costs_a_bounded_wait(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    model = under_test(ScriptedModel([text("live")]), Cache(Hanging(), scope=SHARED, store_timeout=0.02))
    started = time.monotonic()

    answer = await ask(model, mode)

    assert answer == "live"
    assert time.monotonic() - started < 1
    assert [record.getMessage().split(": ")[1] for record in caplog.records] == ["TimeoutError"] * 2


@both_modes
async def test_a_store_that_was_cancelled_is_one_that_fails(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    model = under_test(ScriptedModel([text("live")]), Cache(Cancelled(), scope=SHARED))

    answer = await ask(model, mode)

    assert answer == "live"
    assert [record.getMessage().split(": ")[1] for record in caplog.records] == ["CancelledError"] * 2


@both_modes
async def test_a_caller_that_is_cancelled_while_it_waits_for_the_store_is_cancelled(mode: str) -> None:
    inner = ScriptedModel([text("never")])
    asking = asyncio.create_task(ask(under_test(inner, Cache(Hanging(), scope=SHARED)), mode))
    await asyncio.sleep(0)

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    assert inner.calls == []


FINISH: JsonObject = {
    "type": "finish",
    "finishReason": {"unified": "stop"},
    "usage": {"inputTokens": {}, "outputTokens": {}},
}
RESULT: JsonObject = {"content": [], "finishReason": FINISH["finishReason"], "usage": FINISH["usage"]}


def entry_like(**changes: object) -> str:
    kept: dict[str, object] = {
        "version": 1,
        "key": "k",
        "created": 0.0,
        "result": RESULT,
    }
    return json.dumps({name: value for name, value in {**kept, **changes}.items() if value is not None})


def test_an_entry_can_be_read_back() -> None:
    assert Reading(entry_like(), "k").to_result({}).finish_reason.unified == "stop"


@pytest.mark.parametrize(
    "junk",
    [
        "",
        "\x80\x04\x95pickle",
        "[" * 100_000,
        "null",
        "{}",
        '{"version": 1}',
        entry_like(version=99),
        entry_like(key="another"),
        entry_like(result=None),
        entry_like(parts=[{"type": "text-start", "id": "1"}]),
        entry_like(result=None, parts=[{"type": "no such part"}]),
        entry_like(result=None, parts=[{"type": ["text-start"]}]),
        entry_like(result=None, parts=[{"type": "text-start", "id": "1"}]),
        entry_like(result={"content": "x"}),
        entry_like(result={**RESULT, "providerMetadata": 5}),
        entry_like(result={**RESULT, "providerMetadata": {"onion": 5}}),
        entry_like(created="yesterday"),
        entry_like(result=None, parts=[{"type": "text-end", "id": "1"}, FINISH]),
        entry_like(result=None, parts=[{"type": "error", "error": "planted"}, FINISH]),
    ],
    ids=lambda junk: repr(str(junk)[:40]),
)
async def test_junk_is_a_miss_a_warning_and_is_replaced(junk: str, caplog: pytest.LogCaptureFixture) -> None:
    store = OpenStore()
    inner = ScriptedModel([text("first"), text("second")])
    model = under_test(inner, Cache(store, scope=SHARED))
    await ask(model, "generate")
    (key,) = store.texts
    store.texts[key] = junk

    answers = [await ask(model, "generate"), await ask(model, "stream")]

    assert answers == ["second", "second"]
    assert "could not understand an entry" in caplog.text
    with pytest.raises(TypeValidationError):
        Reading(junk, "k").to_result({})


async def test_what_a_store_gives_that_is_no_text_is_a_miss(caplog: pytest.LogCaptureFixture) -> None:
    class Numbers(OpenStore):
        async def get(self, key: str) -> str | None:
            return 5  # type: ignore[return-value]  # what a store without types may do

    answer = await ask(under_test(ScriptedModel([text("live")]), Cache(Numbers(), scope=SHARED)), "generate")

    assert answer == "live"
    assert "could not understand an entry" in caplog.text


@both_modes
async def test_a_store_that_comes_back_is_used_again(mode: str) -> None:
    class Recovering(OpenStore):
        is_down = True

        async def get(self, key: str) -> str | None:
            if self.is_down:
                raise OSError("down")
            return await super().get(key)

    store = Recovering()
    inner = ScriptedModel([text("one"), text("never")])
    model = under_test(inner, Cache(store, scope=SHARED))

    first = await ask(model, mode)
    store.is_down = False
    second = await ask(model, mode)

    assert [first, second] == ["one", "one"]


async def test_a_very_long_answer_is_kept_or_not_but_comes_through() -> None:
    long = "x" * 5_000_000
    inner = ScriptedModel([text(long)])
    model = under_test(inner, Cache(OpenStore(), scope=SHARED))

    answers = [await ask(model, "generate"), await ask(model, "stream")]

    assert answers == [long, long]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_ten_thousand_entries_at_a_size_limit_lose_speed_and_nothing_else() -> None:
    def said(params: CallOptions) -> GenerateResult:
        return text(f"answer {params.seed}")

    inner = ScriptedModel(itertools.repeat(said))
    store = MemoryStore(max_characters=100_000)
    model = wrap_language_model(inner, Cache(store, scope=SHARED))

    wrong = [
        seed
        for seed in (*range(10_000), *range(10_000))
        if (await model.do_generate(ASK.replace(seed=seed))).text != f"answer {seed}"
    ]
    calls = len(inner.calls)
    again = (await model.do_generate(ASK.replace(seed=9_999))).text

    assert wrong == []
    assert 0 < len(store) < 10_000
    assert (again, len(inner.calls)) == ("answer 9999", calls)
