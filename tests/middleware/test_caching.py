from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError
from onion.middleware import SHARED, Cache, CacheStore, MemoryStore
from onion.spec import (
    CallOptions,
    ErrorPart,
    File,
    FileData,
    FinishPart,
    GenerateResult,
    LanguageModel,
    OtherWarning,
    RawPart,
    Reasoning,
    RequestInfo,
    ResponseInfo,
    ResponseMetadata,
    Text,
    TextDelta,
    ToolCall,
    UnifiedFinishReason,
    URLSource,
    from_json,
)
from onion.streaming import collect
from onion.testing import Raise, ScriptedModel, ScriptedStream, ScriptItem, answer, call, parts, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, FakeSleep, OpenStore, parts_of, under_test

if TYPE_CHECKING:
    from onion.middleware.caching.key import CacheScope

Mode = Literal["generate", "stream"]
both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])
then_in_both_modes = pytest.mark.parametrize("then", ["generate", "stream"])
RICH = replace(
    answer(
        Reasoning(text="hm", provider_metadata={"anthropic": {"signature": "S"}}),
        Text(text="hi", provider_metadata={"openai": {"itemId": "i"}}),
        URLSource(id="s", url="https://x.example/", title="X"),
        File(media_type="image/png", data=FileData(data="iVBOR")),
        call("f", {"a": [1]}),
    ),
    warnings=(OtherWarning(message="careful"),),
    provider_metadata={"openai": {"logprobs": None}},
    request=RequestInfo(body={"prompt": "secret"}),
    response=ResponseInfo(
        id="r", timestamp=datetime(2026, 1, 2, tzinfo=UTC), model_id="m", headers={"x": "y"}, body={"a": 1}
    ),
)


async def ask(model: LanguageModel, mode: Mode, params: CallOptions = ASK) -> GenerateResult:
    if mode == "generate":
        return await model.do_generate(params)
    return await collect(await model.do_stream(params))


def unmarked(result: GenerateResult) -> GenerateResult:
    """What of *result* a hit must give back."""
    metadata = {name: said for name, said in (result.provider_metadata or {}).items() if name != "onion"}
    said = result.response
    response = said and ResponseInfo(id=said.id, timestamp=said.timestamp, model_id=said.model_id)
    return replace(result, provider_metadata=metadata or None, request=None, response=response)


def cached(script: list[ScriptItem], store: CacheStore | None = None) -> tuple[ScriptedModel, LanguageModel]:
    inner = ScriptedModel(script)
    return inner, under_test(inner, Cache(store or MemoryStore(), scope=SHARED))


@both_modes
@then_in_both_modes
async def test_a_second_equal_call_is_answered_without_the_model_in_either_mode(mode: Mode, then: Mode) -> None:
    inner, model = cached([RICH])

    first = await ask(model, mode)
    second = await ask(model, then)

    assert len(inner.calls) == 1
    assert unmarked(second) == unmarked(first) == unmarked(RICH)


@then_in_both_modes
async def test_a_hit_says_so_and_keeps_its_usage(then: Mode) -> None:
    now = [1000]  # a clock may tell whole seconds
    inner = ScriptedModel([RICH])
    model = under_test(inner, Cache(MemoryStore(), scope=SHARED, clock=lambda: now[0]))

    first = await ask(model, "generate")
    now[0] = 1002
    second = await ask(model, then)

    assert first.provider_metadata == RICH.provider_metadata
    assert second.provider_metadata is not None
    mark = second.provider_metadata["onion"]["cache"]
    assert isinstance(mark, dict)
    assert mark["hit"] is True
    assert mark["age"] == 2
    assert str(mark["key"]).startswith("onion-")
    assert second.usage == RICH.usage


async def test_a_stream_is_replayed_part_by_part_as_it_was_recorded() -> None:
    script = parts(
        ResponseMetadata(id="r", timestamp=datetime(2026, 1, 2, tzinfo=UTC), model_id="m"), "a", "", "b", call("f")
    )
    _, model = cached([script])

    live = await parts_of(model)
    replayed = await parts_of(model)

    assert replayed[:-1] == live[:-1]
    assert isinstance(replayed[-1], FinishPart)
    assert replace(replayed[-1], provider_metadata=None) == live[-1]


async def test_nothing_that_belongs_to_one_request_is_stored() -> None:
    store = OpenStore()
    _, model = cached([RICH], store)

    await ask(model, "generate")

    (stored,) = store.texts.values()
    assert "secret" not in stored
    assert '"headers"' not in stored
    assert '"body"' not in stored


async def test_raw_parts_reach_the_caller_and_are_not_stored() -> None:
    inner, model = cached([parts(RawPart(raw_value={"chunk": 1}), "hi")])

    live = await parts_of(model, ASK.replace(include_raw_chunks=True))
    replayed = await parts_of(model, ASK.replace(include_raw_chunks=True))

    assert any(isinstance(part, RawPart) for part in live)
    assert not any(isinstance(part, RawPart) for part in replayed)
    assert len(inner.calls) == 1


@both_modes
@then_in_both_modes
async def test_half_of_a_surrogate_pair_comes_back_as_it_was(mode: Mode, then: Mode) -> None:
    inner, model = cached([text("\ud83d")])

    first = await ask(model, mode)
    second = await ask(model, then)

    assert first.text == second.text == "\ud83d"
    assert len(inner.calls) == 1


@both_modes
@pytest.mark.parametrize("reason", ["length", "content-filter", "error", "interrupted", "other"])
async def test_an_answer_that_is_not_good_is_not_kept(mode: Mode, reason: UnifiedFinishReason) -> None:
    inner, model = cached([answer("cut", finish_reason=reason), text("whole")])

    await ask(model, mode)
    second = await ask(model, mode)

    assert second.text == "whole"
    assert len(inner.calls) == 2


@both_modes
async def test_an_answer_with_a_call_that_could_not_be_repaired_is_not_kept(mode: Mode) -> None:
    broken = ToolCall(tool_call_id="1", tool_name="f", input="{", error=ValueError("no JSON"))
    inner, model = cached([answer(broken), text("whole")])

    await ask(model, mode)
    await ask(model, mode)

    assert len(inner.calls) == 2


async def test_a_stream_with_an_error_part_is_not_kept() -> None:
    inner, model = cached([parts("a", ErrorPart(error=ValueError("no")), finish_reason="stop"), text("whole")])

    await parts_of(model)
    second = await ask(model, "stream")

    assert second.text == "whole"
    assert len(inner.calls) == 2


async def test_a_stream_that_breaks_off_raises_and_is_not_kept() -> None:
    inner, model = cached([parts("a", Raise(ConnectionError("gone"))), text("whole")])

    with pytest.raises(ConnectionError):
        await parts_of(model)
    second = await ask(model, "stream")

    assert second.text == "whole"
    assert len(inner.calls) == 2


async def test_what_has_no_json_form_is_passed_on_and_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    said = replace(text("hi"), provider_metadata=from_json(dict, {"odd": {"x": object()}}))
    inner = ScriptedModel([said, said, said])
    model = wrap_language_model(inner, Cache(MemoryStore(), scope=SHARED))

    answers = [await ask(model, "generate"), await ask(model, "stream"), await ask(model, "generate")]

    assert [found.text for found in answers] == ["hi"] * 3
    assert len(inner.calls) == 3
    assert "could not encode an entry" in caplog.text


@pytest.mark.parametrize("leave", ["break", "raise", "aclose"])
async def test_a_reader_who_stops_early_leaves_nothing_behind(leave: str) -> None:
    inner, model = cached([parts("a", "b", "c", "d"), parts("a", "b", "c", "d")])
    seen: list[str] = []

    async def read_two() -> None:
        async with await model.do_stream(ASK) as stream:
            async for part in stream:
                if isinstance(part, TextDelta):
                    seen.append(part.delta)
                if len(seen) == 2:
                    if leave == "raise":
                        raise LookupError
                    if leave == "break":
                        break
                    await stream.aclose()
                    return

    if leave == "raise":
        with pytest.raises(LookupError):
            await read_two()
    else:
        await read_two()
    open_after_leaving = inner.open_streams
    second, third = await ask(model, "stream"), await ask(model, "stream")

    assert seen == ["a", "b"]
    assert open_after_leaving == 0
    assert [second.text, third.text] == ["abcd", "abcd"]
    assert len(inner.calls) == 2


@both_modes
async def test_who_changes_what_he_was_given_changes_nobody_elses(mode: Mode) -> None:
    inner, model = cached([copy.deepcopy(RICH)])

    for _ in range(3):
        found = await ask(model, mode)
        assert unmarked(found) == unmarked(RICH)
        assert isinstance(found.content, tuple)
        for part in found.content:
            if part.provider_metadata is not None:
                for said in part.provider_metadata.values():
                    assert isinstance(said, dict)
                    said["x"] = 1

    assert len(inner.calls) == 1


@both_modes
@then_in_both_modes
async def test_tenants_do_not_share(mode: Mode, then: Mode) -> None:
    inner = ScriptedModel([text("for a"), text("for b"), text("for all")])
    store = MemoryStore()
    scopes: list[CacheScope] = ["a", lambda _: "b", SHARED]
    models = [under_test(inner, Cache(store, scope=scope)) for scope in scopes]

    first = [(await ask(model, mode)).text for model in models]
    second = [(await ask(model, then)).text for model in models]

    assert first == second == ["for a", "for b", "for all"]


async def test_an_entry_older_than_its_time_is_no_hit_even_if_the_store_forgets_to_forget() -> None:
    now = [0.0]
    inner = ScriptedModel([text("old"), text("new")])
    store = MemoryStore(clock=lambda: 0.0)
    model = under_test(inner, Cache(store, scope=SHARED, ttl=60, clock=lambda: now[0]))

    found: list[str] = []
    for moment in (0.0, 60.0, 60.1):
        now[0] = moment
        found.append((await ask(model, "generate")).text)

    assert found == ["old", "old", "new"]


async def test_a_replay_may_be_paced() -> None:
    sleep = FakeSleep()
    model = under_test(ScriptedModel([text("hi")]), Cache(MemoryStore(), scope=SHARED, pace=0.1, sleep=sleep))

    await parts_of(model)
    waits_live = list(sleep.waits)
    replayed = await parts_of(model)

    assert waits_live == []
    assert sleep.waits == [0.1] * (len(replayed) - 1)


async def test_which_finish_reasons_are_good_can_be_said() -> None:
    inner = ScriptedModel([answer("cut", finish_reason="length")])
    lengths: tuple[UnifiedFinishReason, ...] = ("length",)
    model = under_test(inner, Cache(MemoryStore(), scope=SHARED, finish_reasons=lengths))

    await ask(model, "generate")
    await ask(model, "generate")

    assert len(inner.calls) == 1


async def test_an_outer_cache_keeps_no_mark_of_an_inner_one() -> None:
    inner = ScriptedModel([text("hi")])
    outer_store = OpenStore()
    near = under_test(inner, Cache(MemoryStore(), scope=SHARED))
    await ask(near, "generate")

    await ask(under_test(near, Cache(outer_store, scope=SHARED)), "stream")

    (stored,) = outer_store.texts.values()
    assert '"hit"' not in stored


async def test_a_live_stream_carries_request_and_response_and_a_hit_does_not() -> None:
    live = ScriptedStream(
        parts=parts("hi"), request=RequestInfo(body={}), response=ResponseInfo(headers={"x-request-id": "1"})
    )
    _, model = cached([live])

    first, second = await ask(model, "stream"), await ask(model, "stream")

    assert first.response == live.response
    assert first.request == live.request
    assert second.response is None
    assert second.request is None


@given(pieces=st.lists(st.text(), max_size=5))
def test_a_hit_is_the_same_however_the_stream_was_cut(pieces: list[str]) -> None:
    async def both() -> tuple[GenerateResult, GenerateResult, GenerateResult]:
        _, model = cached([parts(*pieces)])
        return await ask(model, "stream"), await ask(model, "generate"), await ask(model, "stream")

    live, whole, streamed = asyncio.run(both())

    assert unmarked(whole) == unmarked(streamed) == unmarked(live)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("scope", lambda: Cache(MemoryStore(), scope="")),
        ("ttl", lambda: Cache(MemoryStore(), scope=SHARED, ttl=0)),
        ("store_timeout", lambda: Cache(MemoryStore(), scope=SHARED, store_timeout=float("nan"))),
        ("pace", lambda: Cache(MemoryStore(), scope=SHARED, pace=-1)),
    ],
)
def test_settings_that_make_no_sense_are_refused(name: str, make: object) -> None:
    assert callable(make)
    with pytest.raises(InvalidArgumentError, match=name):
        make()


def test_it_shows_its_settings_but_not_the_tenant() -> None:
    store = MemoryStore()

    assert repr(Cache(store, scope=SHARED)) == "Cache(MemoryStore(), scope=SHARED)"
    assert repr(Cache(store, scope="acme", ttl=60)) == "Cache(MemoryStore(), scope=***, ttl=60)"
    assert repr(Cache(store, scope=lambda _: "acme")) == "Cache(MemoryStore(), scope=…)"
