from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import (
    APICallError,
    InvalidArgumentError,
    LoadAPIKeyError,
    OnionError,
    RetryError,
    StreamInterruptedError,
    StreamProviderError,
)
from onion.middleware.retry import Retry, backoff, wait_hint, wait_hint_in
from onion.spec import ErrorPart, LanguageModel, TextDelta
from onion.streaming import collect
from onion.testing import Raise, ScriptedModel, ScriptItem, parts, text
from tests.middleware.stacks import ASK, BAD_REQUEST, RATE_LIMITED, UNAVAILABLE, FakeSleep, parts_of, under_test

Ask = Callable[[LanguageModel], Awaitable[str]]
NEW_YEAR = datetime(2031, 1, 1, tzinfo=UTC).timestamp()


async def generate(model: LanguageModel) -> str:
    return (await model.do_generate(ASK)).text


async def stream(model: LanguageModel) -> str:
    return (await collect(await model.do_stream(ASK))).text


both_modes = pytest.mark.parametrize("ask", [generate, stream], ids=["generate", "stream"])


@both_modes
async def test_a_retryable_failure_is_repeated_until_it_succeeds(ask: Ask) -> None:
    model = ScriptedModel([RATE_LIMITED, UNAVAILABLE, text("hello")])
    sleep = FakeSleep()

    answer = await ask(under_test(model, Retry(sleep=sleep, jitter=0)))

    assert answer == "hello"
    assert sleep.waits == [2, 4]


@both_modes
@pytest.mark.parametrize("max_retries", [0, 1, 2])
async def test_n_retries_are_n_plus_one_calls_and_n_waits(ask: Ask, max_retries: int) -> None:
    model = ScriptedModel(repeat(UNAVAILABLE))
    sleep = FakeSleep()

    with pytest.raises(OnionError):
        await ask(under_test(model, Retry(max_retries, sleep=sleep)))

    assert len(model.calls) == max_retries + 1
    assert len(sleep.waits) == max_retries


@both_modes
async def test_without_retries_the_error_is_raised_as_it_is(ask: Ask) -> None:
    model = ScriptedModel([UNAVAILABLE])

    with pytest.raises(APICallError) as raised:
        await ask(under_test(model, Retry(0)))

    assert raised.value is UNAVAILABLE


@both_modes
async def test_the_last_failure_gives_a_retry_error_with_all_of_them(ask: Ask) -> None:
    model = ScriptedModel([UNAVAILABLE, RATE_LIMITED])

    with pytest.raises(
        RetryError, match="gave up after 2 tries, the last failed with APICallError: slow down"
    ) as raised:
        await ask(under_test(model, Retry(1, sleep=FakeSleep())))

    assert raised.value.reason == "maxRetriesExceeded"
    assert raised.value.errors == (UNAVAILABLE, RATE_LIMITED)
    assert raised.value.__cause__ is raised.value.last_error is RATE_LIMITED


@both_modes
async def test_a_later_failure_for_good_ends_the_tries_and_says_so(ask: Ask) -> None:
    model = ScriptedModel([RATE_LIMITED, BAD_REQUEST])
    sleep = FakeSleep()

    with pytest.raises(RetryError) as raised:
        await ask(under_test(model, Retry(sleep=sleep)))

    assert raised.value.reason == "errorNotRetryable"
    assert raised.value.errors == (RATE_LIMITED, BAD_REQUEST)
    assert len(sleep.waits) == 1


@both_modes
@pytest.mark.parametrize(
    "error",
    [
        *(APICallError("no", status_code=status) for status in (400, 401, 403, 404, 413, 422)),
        APICallError("for good", status_code=503, is_retryable=False),
        StreamProviderError("refused"),
        LoadAPIKeyError("no key"),
        KeyError("a fault of the program"),
        RetryError("an inner Retry gave up", reason="maxRetriesExceeded", errors=[UNAVAILABLE]),
    ],
    ids=lambda error: f"{type(error).__name__} {getattr(error, 'status_code', '')}",
)
async def test_what_no_retry_can_cure_is_raised_as_it_is_after_one_call(ask: Ask, error: Exception) -> None:
    model = ScriptedModel([error])
    sleep = FakeSleep()

    with pytest.raises(type(error)) as raised:
        await ask(under_test(model, Retry(sleep=sleep)))

    assert raised.value is error
    assert sleep.waits == []


@both_modes
@pytest.mark.parametrize(
    "error",
    [
        APICallError("no response"),
        StreamProviderError("overloaded", is_retryable=True),
        StreamInterruptedError("broke off before any content"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_every_error_that_calls_itself_retryable_is_repeated(ask: Ask, error: Exception) -> None:
    model = ScriptedModel([error, text("fine")])

    answer = await ask(under_test(model, Retry(sleep=FakeSleep())))

    assert answer == "fine"


async def test_the_user_may_decide_what_is_retried() -> None:
    model = ScriptedModel([TimeoutError(), text("fine")])
    retry = Retry(sleep=FakeSleep(), retry_on=lambda error: isinstance(error, TimeoutError))

    answer = await generate(under_test(model, retry))

    assert answer == "fine"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after": " 7 "}, 7),
        ({"retry-after": "Wed, 01 Jan 2031 00:00:03 GMT"}, 3),
        ({"retry-after": "Wed Jan  1 00:00:03 2031"}, 3),
        ({"retry-after-ms": "250", "retry-after": "30"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "30"}, 30),
        ({"retry-after-ms": "-1", "retry-after": "30"}, 30),
        ({"RETRY-AFTER": "2"}, 2),
        ({"Retry-After-Ms": "1500"}, 1.5),
        ({"retry-after": "Tue, 31 Dec 2030 23:59:59 GMT"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "in a while"}, None),
        ({"retry-after": "Wed, 99 Jan 2031 00:00:03 GMT"}, None),
        ({"retry-after": "1 Jan 99999999999999999999 00:00:03"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_a_hint_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_hint(headers, now=NEW_YEAR) == seconds


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        ({"error": {"details": [{"reason": "x"}, "junk", {"retryDelay": "34.4s"}]}}, 34.4),
        ([{"error": {"details": [{"retryDelay": "1s"}]}}], 1),
        ({"details": [{"retryDelay": "2s"}]}, 2),
        ({"error": {"details": [{"retryDelay": "-2s"}]}}, None),
        ({"error": {"details": [{"retryDelay": 3}, {"retryDelay": "soon"}]}}, None),
        ({"error": {"details": "x"}}, None),
        ({"error": "x"}, None),
        ("x", None),
        (None, None),
    ],
    ids=str,
)
def test_a_hint_in_the_body_is_read(data: object, seconds: float | None) -> None:
    assert wait_hint_in(data) == seconds


@both_modes
@pytest.mark.parametrize("kind", [APICallError, StreamProviderError])
async def test_a_hint_in_the_body_counts_where_no_header_has_one(
    ask: Ask, kind: type[APICallError | StreamProviderError]
) -> None:
    data = {"details": [{"retryDelay": "34.4s"}]}
    model = ScriptedModel([kind("slow down", status_code=429, is_retryable=True, data=data), text("fine")])
    sleep = FakeSleep()

    await ask(under_test(model, Retry(sleep=sleep, jitter=0)))

    assert sleep.waits == [34.4]


@both_modes
@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "59.9"}, 59.9),
        ({"retry-after": "60"}, 2),
        ({"retry-after": "3600"}, 2),
        ({"retry-after": "Wed, 01 Jan 2031 00:00:03 GMT"}, 3),
        ({"x-request-id": "1"}, 2),
    ],
    ids=str,
)
async def test_a_short_hint_is_used_exactly_and_a_long_one_ignored(
    ask: Ask, headers: dict[str, str], wait: float
) -> None:
    model = ScriptedModel([APICallError("slow down", status_code=429, response_headers=headers), text("fine")])
    sleep = FakeSleep()
    retry = Retry(sleep=sleep, clock=lambda: NEW_YEAR, jitter=0)

    await ask(under_test(model, retry))

    assert sleep.waits == [wait]


async def test_a_hint_over_the_longest_wait_is_used_if_the_backoff_is_longer_still() -> None:
    hinted = APICallError("slow down", status_code=429, response_headers={"retry-after": "5"})
    model = ScriptedModel([hinted, text("fine")])
    sleep = FakeSleep()

    await generate(under_test(model, Retry(sleep=sleep, initial_delay=3, max_delay=4, jitter=0)))

    assert sleep.waits == [3]


async def test_chance_only_adds_to_a_wait() -> None:
    model = ScriptedModel([UNAVAILABLE, UNAVAILABLE, text("fine")])
    sleep = FakeSleep()
    draws = iter([0.0, 1.0])

    await generate(under_test(model, Retry(sleep=sleep, jitter=0.5, random=lambda: next(draws))))

    assert sleep.waits == [2, 6]


@given(
    attempt=st.integers(1, 10**6),
    initial=st.floats(0, 1e6),
    cap=st.floats(0, 1e6),
    jitter=st.floats(0, 1),
)
def test_a_wait_never_exceeds_its_cap(attempt: int, initial: float, cap: float, jitter: float) -> None:
    assert 0 <= backoff(attempt, initial=initial, cap=cap, jitter=jitter) <= cap


@both_modes
async def test_a_cancellation_during_the_wait_ends_it_at_once_without_another_call(ask: Ask) -> None:
    hinted = APICallError("down", status_code=503, response_headers={"retry-after": "30"})
    model = ScriptedModel([hinted, text("too late")])
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.sleep(seconds)

    task = asyncio.ensure_future(ask(under_test(model, Retry(sleep=sleep))))
    await waiting.wait()
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert time.monotonic() - started < 0.1
    assert len(model.calls) == 1


@both_modes
async def test_a_cancelled_error_that_the_model_raises_is_neither_retried_nor_wrapped(ask: Ask) -> None:
    cancelled = asyncio.CancelledError("cancelled upstream")
    model = ScriptedModel([cancelled, text("never")])

    with pytest.raises(asyncio.CancelledError) as raised:
        await ask(under_test(model, Retry(sleep=FakeSleep())))

    assert raised.value is cancelled
    assert len(model.calls) == 1


async def test_a_failure_after_some_text_passes_as_it_came_and_nothing_is_repeated() -> None:
    broken = ErrorPart(error=StreamInterruptedError("connection lost"))
    script: list[ScriptItem] = [parts("The capital is ", "Par", broken, finish_reason="error"), text("never")]
    model = ScriptedModel(script)

    seen = await parts_of(under_test(model, Retry(sleep=FakeSleep())))

    assert "".join(part.delta for part in seen if isinstance(part, TextDelta)) == "The capital is Par"
    assert broken in seen
    assert len(model.calls) == 1


async def test_an_iterator_that_raises_after_some_text_raises_through() -> None:
    model = ScriptedModel([parts("Par", Raise(UNAVAILABLE)), text("never")])

    with pytest.raises(APICallError) as raised:
        await parts_of(under_test(model, Retry(sleep=FakeSleep())))

    assert raised.value is UNAVAILABLE
    assert len(model.calls) == 1
    assert model.open_streams == 0


async def test_one_layer_serves_many_calls_at_once() -> None:
    retry = Retry(1, sleep=FakeSleep())
    models = [ScriptedModel([UNAVAILABLE, text(str(number))]) for number in range(50)]

    answers = await asyncio.gather(*(generate(under_test(model, retry)) for model in models))

    assert answers == [str(number) for number in range(50)]


@pytest.mark.parametrize("max_retries", [-1, 1.5, True, "2", None])
def test_a_count_that_is_none_is_refused(max_retries: int) -> None:
    with pytest.raises(InvalidArgumentError, match="max_retries must be a whole number of at least 0"):
        Retry(max_retries)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_delay_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidArgumentError, match="initial_delay"):
        Retry(initial_delay=seconds)
    with pytest.raises(InvalidArgumentError, match="max_delay"):
        Retry(max_delay=seconds)
    with pytest.raises(InvalidArgumentError, match="jitter"):
        Retry(jitter=seconds)


def test_it_shows_its_settings() -> None:
    assert repr(Retry(3)) == "Retry(max_retries=3)"


def test_its_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(Retry()) == "Retry(max_retries=2)"
    assert repr(Retry(1, initial_delay=0.5, max_delay=5, jitter=0)) == (
        "Retry(max_retries=1, initial_delay=0.5, max_delay=5, jitter=0)"
    )
