from __future__ import annotations

import asyncio
import contextvars
import gc
from dataclasses import replace

import pytest

from onion.errors import APICallError
from onion.middleware import SHARED, Cache, MemoryStore
from onion.spec import (
    ErrorPart,
    FinishPart,
    GenerateResult,
    LanguageModel,
    RawPart,
    RequestInfo,
    ResponseInfo,
    StreamPart,
    TextDelta,
    ToolCall,
)
from onion.streaming import collect
from onion.testing import After, Raise, ScriptedModel, ScriptItem, Wait, answer, call, parts, text
from tests.middleware.stacks import ASK, UNAVAILABLE, OpenStore, parts_of, under_test


def cached(*script: ScriptItem) -> tuple[ScriptedModel, LanguageModel]:
    inner = ScriptedModel(script)
    return inner, under_test(inner, Cache(MemoryStore(), scope=SHARED))


async def streamed(model: LanguageModel) -> GenerateResult:
    return await collect(await model.do_stream(ASK))


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


def is_marked(result: GenerateResult) -> bool:
    return "onion" in (result.provider_metadata or {})


@pytest.mark.parametrize(("kind", "number_of_calls"), [("generate", 100), ("stream", 100), ("mixed", 1000)])
async def test_many_equal_calls_at_once_make_one_model_call(kind: str, number_of_calls: int) -> None:
    inner, model = cached(parts("a", "b"))

    def ask(number: int) -> asyncio.Future[GenerateResult]:
        is_stream = kind == "stream" or (kind == "mixed" and number % 2 == 0)
        return asyncio.ensure_future(streamed(model) if is_stream else model.do_generate(ASK))

    answers = await asyncio.gather(*(ask(number) for number in range(number_of_calls)))

    assert len(inner.calls) == 1
    assert {found.text for found in answers} == {"ab"}
    assert sum(is_marked(found) for found in answers) == number_of_calls - 1


async def test_calls_that_look_up_while_a_flight_lands_look_again_instead_of_calling() -> None:
    slow = asyncio.Event()
    lookups: list[str] = []

    class LateStore(OpenStore):
        """Says late to the second and third who ask what it knew when they asked."""

        async def get(self, key: str) -> str | None:
            lookups.append(key)
            found = await super().get(key)
            if len(lookups) in (2, 3):
                await slow.wait()
            return found

    inner = ScriptedModel([text("hi")])
    model = under_test(inner, Cache(LateStore(), scope=SHARED))
    asked = [asyncio.ensure_future(model.do_generate(ASK)) for _ in range(3)]
    await asked[0]
    slow.set()
    answers = await asyncio.gather(*asked)

    assert [found.text for found in answers] == ["hi"] * 3
    assert len(inner.calls) == 1
    assert len(lookups) == 5


async def test_calls_that_look_up_at_the_same_time_go_on_after_a_flight_that_left_nothing() -> None:
    turns = {1: 1, 2: 9, 3: 11}  # one is behind another, so that at every moment one of both waits for the store

    class Slow(OpenStore):
        reads = 0

        async def get(self, key: str) -> str | None:
            Slow.reads += 1
            for _ in range(turns.get(Slow.reads, 5)):
                await asyncio.sleep(0)
            return None

    model = under_test(ScriptedModel([UNAVAILABLE] * 3), Cache(Slow(), scope=SHARED))
    asking = [asyncio.create_task(model.do_generate(ASK)) for _ in range(3)]

    async with asyncio.timeout(2):
        failed = await asyncio.gather(*asking, return_exceptions=True)

    assert [type(error) for error in failed] == [APICallError] * 3
    assert Slow.reads <= 6


async def test_a_follower_sees_everything_from_the_start() -> None:
    go = asyncio.Event()
    inner, model = cached(parts("a", "b", Wait(go), "c"))

    leader = asyncio.ensure_future(parts_of(model))
    await settle()
    follower = asyncio.ensure_future(parts_of(model))
    await settle()
    go.set()
    first, second = await leader, await follower

    assert second[:-1] == first[:-1]
    assert isinstance(second[-1], FinishPart)
    assert replace(second[-1], provider_metadata=None) == first[-1]
    assert len(inner.calls) == 1


@pytest.mark.parametrize("leader_mode", ["generate", "stream"])
async def test_the_leader_may_be_cancelled_while_others_wait(leader_mode: str) -> None:
    go = asyncio.Event()
    inner, model = cached(After(go, parts("a", "b")))

    leader = asyncio.ensure_future(model.do_generate(ASK) if leader_mode == "generate" else parts_of(model))
    await settle()
    followers = [asyncio.ensure_future(streamed(model)), asyncio.ensure_future(model.do_generate(ASK))]
    await settle()
    leader.cancel()
    await settle()
    go.set()

    assert [(await follower).text for follower in followers] == ["ab", "ab"]
    assert leader.cancelled()
    assert len(inner.calls) == 1


async def test_a_leader_cancelled_in_the_moment_its_stream_opens_does_not_close_it_for_others() -> None:
    go = asyncio.Event()
    inner, model = cached(After(go, parts("a", "b")))

    leader = asyncio.ensure_future(parts_of(model))
    await settle()
    follower = asyncio.ensure_future(streamed(model))
    await settle()
    go.set()
    asyncio.get_running_loop().call_soon(leader.cancel)

    assert (await follower).text == "ab"
    assert len(inner.calls) == 1


async def test_when_the_last_reader_leaves_the_call_is_cancelled_and_nothing_is_kept() -> None:
    inner, model = cached(After(asyncio.Event(), text("never")), text("second"))

    readers = [asyncio.ensure_future(model.do_generate(ASK)) for _ in range(3)]
    await settle()
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)

    assert inner.open_calls == 0
    assert (await model.do_generate(ASK)).text == "second"
    assert [task for task in asyncio.all_tasks() if task.get_name() == "onion cache flight"] == []


async def test_a_slow_reader_does_not_hold_up_a_fast_one_and_nobody_reads_ahead() -> None:
    inner, model = cached(parts("a", "b", "c"))

    slow = await model.do_stream(ASK)
    fast = await model.do_stream(ASK)
    sent_before_anybody_reads = inner.calls[0].parts_sent
    read_fast = [part async for part in fast]
    read_slow = [part async for part in slow]

    assert sent_before_anybody_reads == 0
    assert len(read_slow) == len(read_fast)


async def test_the_model_waits_while_no_reader_wants_more() -> None:
    inner, model = cached(parts(*"abcdefgh"))

    async with await model.do_stream(ASK) as stream:
        reader = aiter(stream)
        for _ in range(3):
            await anext(reader)
        await settle()
        sent = inner.calls[0].parts_sent

    assert sent == 3
    assert inner.open_streams == 0


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_a_failed_call_fails_for_all_who_wait_and_is_tried_anew_by_who_comes_later(mode: str) -> None:
    go = asyncio.Event()
    inner, model = cached(After(go, UNAVAILABLE), text("fine"))

    first = asyncio.ensure_future(parts_of(model) if mode == "stream" else model.do_generate(ASK))
    await settle()
    others = [asyncio.ensure_future(streamed(model)), asyncio.ensure_future(model.do_generate(ASK))]
    await settle()
    go.set()
    failures = await asyncio.gather(first, *others, return_exceptions=True)

    assert failures == [UNAVAILABLE] * 3
    assert (await model.do_generate(ASK)).text == "fine"
    assert len(inner.calls) == 2


async def test_a_stream_that_breaks_fails_for_every_reader_after_what_it_gave() -> None:
    broken = APICallError("gone")
    inner, model = cached(parts("a", Raise(broken)))

    async def read() -> tuple[str, BaseException | None]:
        seen = ""
        async with await model.do_stream(ASK) as stream:
            try:
                async for part in stream:
                    seen += part.delta if isinstance(part, TextDelta) else ""
            except APICallError as error:
                return seen, error
        return seen, None

    first, second = await asyncio.gather(read(), read())

    assert first == second == ("a", broken)
    assert len(inner.calls) == 1


async def test_a_cancelled_error_that_the_model_raises_by_itself_reaches_the_caller() -> None:
    _, model = cached(asyncio.CancelledError("upstream"))

    with pytest.raises(asyncio.CancelledError, match="upstream"):
        await model.do_generate(ASK)


async def test_a_follower_gets_copies_and_raw_parts_only_if_he_wants_them() -> None:
    go = asyncio.Event()
    failed = ToolCall(tool_call_id="2", tool_name="f", input="{", error=ValueError("no JSON"))
    script = parts(Wait(go), RawPart(raw_value={"n": 1}), "a", call("f"), failed, ErrorPart(error=ValueError("no")))
    _, model = cached(script)

    leader = asyncio.ensure_future(parts_of(model, ASK.replace(include_raw_chunks=True)))
    await settle()
    follower = asyncio.ensure_future(parts_of(model))
    await settle()
    go.set()
    first, second = await leader, await follower

    def without_raw(found: list[StreamPart]) -> list[StreamPart]:
        return [part for part in found if not isinstance(part, RawPart | FinishPart)]

    assert without_raw(second) == without_raw(first)
    assert len(second) == len(first) - 1
    shared = [type(one) for one, other in zip(without_raw(first), second, strict=False) if one is other]
    assert shared == [ToolCall, ErrorPart]


async def test_a_follower_of_a_whole_answer_gets_a_copy_with_request_and_response() -> None:
    go = asyncio.Event()
    said = replace(answer(call("f")), request=RequestInfo(body={}), response=ResponseInfo(id="r", headers={"x": "y"}))
    _, model = cached(After(go, said))

    leader = asyncio.ensure_future(model.do_generate(ASK))
    await settle()
    follower = asyncio.ensure_future(model.do_generate(ASK))
    await settle()
    go.set()
    first, second = await leader, await follower

    assert replace(second, provider_metadata=None) == first
    assert second.content[0] is not first.content[0]
    assert second.response is first.response


async def test_a_refreshing_call_joins_nobody_and_a_later_one_may_join_it() -> None:
    go = asyncio.Event()
    inner, model = cached(After(go, text("one")), After(go, text("two")))
    again = ASK.replace(provider_options={"onion": {"cache": "refresh"}})

    asked = [asyncio.ensure_future(model.do_generate(params)) for params in (again, again, ASK)]
    await settle()
    go.set()
    answers = [(await found).text for found in asked]

    assert answers == ["one", "two", "one"]
    assert len(inner.calls) == 2


async def test_the_call_runs_in_the_context_of_who_started_it() -> None:
    user = contextvars.ContextVar("user", default="nobody")
    seen: list[str] = []

    def note(_: object) -> GenerateResult:
        seen.append(user.get())
        return text("hi")

    _, model = cached(note)
    user.set("u1")

    await model.do_generate(ASK)

    assert seen == ["u1"]


@pytest.mark.filterwarnings("ignore:a StreamResult was dropped unread:ResourceWarning")
async def test_a_reader_that_is_dropped_leaves_too() -> None:
    inner, model = cached(parts("a"))

    await model.do_stream(ASK)
    gc.collect()
    await settle()

    assert inner.open_streams == 0


async def test_leaving_twice_is_leaving_once() -> None:
    inner, model = cached(parts("a", "b"))

    stream = await model.do_stream(ASK)
    other = await model.do_stream(ASK)
    await stream.aclose()
    await stream.aclose()
    found = await collect(other)

    assert found.text == "ab"
    assert len(inner.calls) == 1


def test_one_layer_serves_several_event_loops() -> None:
    inner = ScriptedModel([text("hi")])
    model = under_test(inner, Cache(MemoryStore(), scope=SHARED))

    answers = [asyncio.run(_whole(model)) for _ in range(3)]

    assert answers == ["hi"] * 3
    assert len(inner.calls) == 1


async def _whole(model: LanguageModel) -> str:
    return (await model.do_generate(ASK)).text


@pytest.mark.parametrize("cut", range(12))
async def test_a_reader_cancelled_at_any_moment_hurts_no_other(cut: int) -> None:
    inner, model = cached(parts("a", "b", "c"), parts("a", "b", "c"))

    leader = asyncio.ensure_future(parts_of(model))
    follower = asyncio.ensure_future(streamed(model))
    for _ in range(cut):
        await asyncio.sleep(0)
    leader.cancel()

    assert (await follower).text == "abc"
    await asyncio.gather(leader, return_exceptions=True)
    assert inner.open_calls == 0
