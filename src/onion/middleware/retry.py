"""Retry: calls again what failed with an error that may pass.

Goes inside Cache and ToolCallRepair, so that a hit costs no try and a repair's own call is retried, and outside of
Timeout and the provider, so that each try has its own time limit. A stream is opened again only if opening it raised,
that is before anything was passed on; after that its parts go through untouched, error parts included.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random as random_numbers
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, TypeVar

from onion.errors import APICallError, InvalidArgumentError, RetryError, StreamInterruptedError, StreamProviderError
from onion.spec.base import is_array, is_object
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.wrap import DoGenerate, DoStream

INITIAL_DELAY_SECONDS = 2.0
MAX_DELAY_SECONDS = 60.0
JITTER = 0.25
MAX_DOUBLINGS = 64  # 2.0**1024 overflows; 2**64 seconds is past any limit

T = TypeVar("T")
logger: logging.Logger = logging.getLogger("onion")


def is_retryable(error: Exception) -> bool:
    """Whether the same call may succeed later, as decided where the failure was seen."""
    return isinstance(error, APICallError | StreamProviderError | StreamInterruptedError) and error.is_retryable


def backoff(attempt: int, *, initial: float, cap: float, jitter: float) -> float:
    """Seconds to wait after failed attempt number *attempt* (the first is 1), at most *cap*.

    min(cap, initial * 2**(attempt - 1) * (1 + jitter)), with *jitter* already drawn: AWS, "Exponential Backoff and
    Jitter", 2015.
    """
    return min(cap, initial * 2.0 ** min(attempt - 1, MAX_DOUBLINGS) * (1 + jitter))


def wait_hint(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds that the provider asks to wait, or None.

    ``retry-after-ms`` is more exact and wins; ``retry-after`` holds seconds or a date (RFC 9110, section 10.2.3).

    Args:
        headers: Response headers, in any case.
        now: Seconds since the epoch, from which a date is counted.
    """
    lowered = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _number(lowered.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    given = lowered.get("retry-after", "")
    seconds = _number(given)
    return _seconds_until(given, now) if seconds is None else seconds


def wait_hint_in(data: object) -> float | None:
    """Seconds that the body of a failure asks to wait, or None.

    Google's APIs say so there and not in a header: ``{"error": {"details": [{"retryDelay": "34.4s"}]}}``
    (google.rpc.RetryInfo in "AIP-193: Errors").
    """
    items = data if is_array(data) else (data,)
    failures = [item.get("error", item) for item in items if is_object(item)]
    details = [failure.get("details") for failure in failures if is_object(failure)]
    for detail in (detail for found in details if is_array(found) for detail in found if is_object(detail)):
        said = detail.get("retryDelay")
        if isinstance(said, str) and said.endswith("s"):
            return _number(said.removesuffix("s"))
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _seconds_until(date: str, now: float) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
    return seconds if seconds >= 0 else None


def _given_up(errors: Sequence[Exception], *, may_pass: bool) -> RetryError:
    last = errors[-1]
    shown = f"{type(last).__name__}: {last}"
    if may_pass:
        msg = f"gave up after {len(errors)} tries, the last failed with {shown}"
        return RetryError(msg, reason="maxRetriesExceeded", errors=errors)
    msg = f"try {len(errors)} failed in a way that no further one can cure: {shown}"
    return RetryError(msg, reason="errorNotRetryable", errors=errors)


class Retry(Middleware):
    """Calls again what failed with a retryable error, as long as nothing was passed on.

    The waits double from `initial_delay`. A wait that the provider asks for (``retry-after-ms``, ``retry-after``, or a
    ``retryDelay`` in the body) is taken exactly if it is shorter than `max_delay`, else ignored. Cancellation ends a
    wait at once and is never retried, nor is a CancelledError that a model raises by itself.

    Args:
        max_retries: Further tries after the first; 0 means none.
        initial_delay: Seconds before the first further try.
        max_delay: The longest wait, in seconds.
        jitter: Up to this share of a wait is added to it by chance, so that many callers do not return at once.
        retry_on: Says whether an error may be retried; without it, the error's own `is_retryable` does.
        sleep: Awaits the given seconds.
        clock: Seconds since the epoch, for hints that are dates.
        random: A number from 0 to 1.

    Raises:
        InvalidArgumentError: For a count or delay that is negative or no number.
        RetryError: From a call, when a further try failed; `errors` holds what each try raised. If the first try is
            the only one, its error is raised as it is.
    """

    def __init__(  # noqa: PLR0913 - a public entry point
        self,
        max_retries: int = 2,
        *,
        initial_delay: float = INITIAL_DELAY_SECONDS,
        max_delay: float = MAX_DELAY_SECONDS,
        jitter: float = JITTER,
        retry_on: Callable[[Exception], bool] = is_retryable,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
        random: Callable[[], float] = random_numbers.random,
    ) -> None:
        if type(max_retries) is not int or max_retries < 0:
            msg = f"max_retries must be a whole number of at least 0, got {max_retries!r}"
            raise InvalidArgumentError(msg, parameter="max_retries", value=max_retries)
        for name, seconds in (("initial_delay", initial_delay), ("max_delay", max_delay), ("jitter", jitter)):
            if not math.isfinite(seconds) or seconds < 0:
                msg = f"{name} must be a finite number of at least 0, got {seconds!r}"
                raise InvalidArgumentError(msg, parameter=name, value=seconds)
        self.max_retries = max_retries
        self.initial_delay = initial_delay
        self.max_delay = max_delay
        self.jitter = jitter
        self._retry_on = retry_on
        self._sleep = sleep
        self._clock = clock
        self._random = random

    def __repr__(self) -> str:
        waits = (
            ("initial_delay", self.initial_delay, INITIAL_DELAY_SECONDS),
            ("max_delay", self.max_delay, MAX_DELAY_SECONDS),
            ("jitter", self.jitter, JITTER),
        )
        changed = [f", {name}={seconds:g}" for name, seconds, default in waits if seconds != default]
        return f"Retry(max_retries={self.max_retries}{''.join(changed)})"

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole, at the first try that succeeds."""
        return await self._until_success(do_generate)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Answer with the first stream that opens."""
        return await self._until_success(do_stream)

    async def _until_success(self, call: Callable[[], Awaitable[T]]) -> T:
        errors: list[Exception] = []
        while True:
            try:
                return await call()
            except Exception as error:
                errors.append(error)
                may_pass = self._retry_on(error)
                if not may_pass or len(errors) > self.max_retries:
                    if len(errors) == 1:
                        raise
                    raise _given_up(errors, may_pass=may_pass) from error
            delay = self._delay(errors)
            shown = type(errors[-1]).__name__
            logger.info("try %d of %d failed with %s, next in %.1f s", len(errors), self.max_retries + 1, shown, delay)
            await self._sleep(delay)

    def _delay(self, errors: list[Exception]) -> float:
        jitter = self.jitter * self._random()
        wait = backoff(len(errors), initial=self.initial_delay, cap=self.max_delay, jitter=jitter)
        last = errors[-1]
        hint = _hint_of(last, self._clock()) if isinstance(last, APICallError | StreamProviderError) else None
        if hint is not None and (hint < self.max_delay or hint < wait):
            return hint
        return wait


def _hint_of(error: APICallError | StreamProviderError, now: float) -> float | None:
    headers = error.response_headers if isinstance(error, APICallError) else None
    hint = wait_hint(headers, now=now) if headers else None
    return wait_hint_in(error.data) if hint is None else hint
