"""Cache: answers a call that was answered before, in either mode.

Goes outside of what costs or repeats (ToolCallRepair, Retry, the provider), so that a hit costs nothing and a repaired
answer is what is kept; and inside of Tracing and Logging, so that hits are seen. A layer inside of it that makes the
prompt depend on the user hides that from the key: put the user into `scope`. A recorded stream is replayed part by
part; a whole answer becomes a stream of one delta per text.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from onion.errors import CacheMissError, TypeValidationError
from onion.middleware._masking import mask_text
from onion.middleware.caching.claims import CLAIM_SECONDS, Claims
from onion.middleware.caching.control import control_of
from onion.middleware.caching.entry import Mark, Recorder
from onion.middleware.caching.flight import Flight, Reader
from onion.middleware.caching.key import CacheScope, KeyFunction, Scope, cache_key, scope_of
from onion.middleware.caching.patience import within
from onion.middleware.caching.readings import Reading, Readings
from onion.middleware.caching.settings import check_settings
from onion.middleware.stores import ClaimingStore
from onion.middleware.stores._limits import check_above_zero, check_at_least
from onion.spec.base import record
from onion.spec.parts import FinishPart, StreamPart
from onion.spec.stream import StreamResult
from onion.spec.transform import is_being_cancelled
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.middleware.stores import CacheStore
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.result import GenerateResult
    from onion.spec.usage import UnifiedFinishReason
    from onion.wrap import DoGenerate, DoStream, Mode

STORE_TIMEOUT_SECONDS = 2.0
GOOD_FINISH_REASONS: tuple[UnifiedFinishReason, ...] = ("stop", "tool-calls")

T = TypeVar("T")
logger: logging.Logger = logging.getLogger("onion")


@record
class _Traffic:
    """What goes on in one event loop.

    Attributes:
        looking_up: How many calls wait for the store.
        landed: How many flights of a key ended while somebody waited for the store; it may be there now.
    """

    flights: dict[str, Flight] = field(default_factory=dict[str, Flight])
    looking_up: int = 0
    landed: Counter[str] = field(default_factory=Counter[str])


class Cache(Middleware):
    """Answers a call that was answered before, and makes one model call of equal ones at the same time.

    Only whole, good answers are kept, without headers, bodies and raw parts. A hit says so in
    ``provider_metadata["onion"]["cache"]`` (`hit`, `age` in seconds, `key`) and keeps its usage. A call controls the
    cache through ``provider_options["onion"]["cache"]``: ``bypass``, ``refresh`` or ``only-if-cached``.

    Args:
        store: Keeps the entries. One that fails, hangs or holds junk costs a bounded wait and a logged warning.
        scope: Who may share: the name of a tenant, a function of the params that gives it, or `SHARED` for everybody.
        ttl: Seconds for which an entry is good; None means as long as the store keeps it.
        key: What of the params counts, as JSON, instead of all of them; provider, model id and scope always do.
        finish_reasons: Those of answers that are kept.
        store_timeout: Longest wait for the store, in seconds.
        claim_seconds: How long to wait at most for another process that makes the same call, where the store can tell.
        pace: Seconds between the parts of a replayed stream; 0 means at once.
        clock: Seconds since the epoch.
        sleep: Awaits the given seconds.

    Raises:
        InvalidArgumentError: For a setting of the wrong kind or out of range; from a call for an unknown word of
            control, or a `key` that returns no JSON.
        CacheMissError: From a call that asks for ``only-if-cached``, when there is no entry.
    """

    def __init__(  # noqa: PLR0913 - a public entry point
        self,
        store: CacheStore,
        *,
        scope: CacheScope,
        ttl: float | None = None,
        key: KeyFunction | None = None,
        finish_reasons: Collection[UnifiedFinishReason] = GOOD_FINISH_REASONS,
        store_timeout: float = STORE_TIMEOUT_SECONDS,
        claim_seconds: float = CLAIM_SECONDS,
        pace: float = 0.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        check_settings(store=store, scope=scope, key=key, finish_reasons=finish_reasons)
        if ttl is not None:
            check_above_zero(ttl=ttl)
        check_above_zero(store_timeout=store_timeout, claim_seconds=claim_seconds)
        check_at_least(0, pace=pace)
        self.store = store
        self.ttl = ttl
        self._scope = scope
        self._key = key
        self._finish_reasons = finish_reasons
        self._store_timeout = store_timeout
        self._pace = pace
        self._clock = clock
        self._sleep = sleep
        self._claims = Claims(
            store if isinstance(store, ClaimingStore) else None,
            ask=self._ask_store,
            read=self._read,
            seconds=claim_seconds,
            sleep=sleep,
        )
        self._readings = Readings()
        self._traffic: WeakKeyDictionary[asyncio.AbstractEventLoop, _Traffic] = WeakKeyDictionary()

    def __repr__(self) -> str:
        scope = self._scope.name if isinstance(self._scope, Scope) else "***" if isinstance(self._scope, str) else "…"
        return f"Cache({self.store!r}, scope={scope}" + (")" if self.ttl is None else f", ttl={self.ttl:g})")

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole: from an entry, from a call under way, or from the model."""
        control = control_of(params)
        if control == "bypass":
            return await do_generate()
        found = await self._find(model, params, "generate", control)
        if isinstance(found, Reading):
            return found.to_result(self._mark(found))
        try:
            return await found.whole()
        finally:
            await found.leave()

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Answer as a stream: from an entry, from a call under way, or from the model."""
        control = control_of(params)
        if control == "bypass":
            return await do_stream()
        found = await self._find(model, params, "stream", control)
        if isinstance(found, Reading):
            return self._replayed(found.to_parts(self._mark(found)))
        try:
            await found.opened()
        except BaseException:
            await found.leave()
            raise
        return StreamResult(found.parts(), close=found.leave, request=found.request, response=found.response)

    async def _find(
        self, model: LanguageModel, params: CallOptions, mode: Mode, control: str | None
    ) -> Reading | Reader:
        """An entry, or a place in a flight, which the caller must leave."""
        key = cache_key(model, params, scope_of(self._scope, params), self._key)
        loop = asyncio.get_running_loop()
        traffic = self._traffic.get(loop)
        if traffic is None:
            traffic = self._traffic[loop] = _Traffic()
        if control != "refresh":
            entry = await self._look_up(key, traffic)
            if entry is not None:
                return entry
            if control == "only-if-cached":
                raise CacheMissError(f"the cache holds no answer to this call, key {key}: ask without only-if-cached")
        wants_raw = bool(params.include_raw_chunks)
        token = ""
        if control != "refresh":
            claim = await self._claims.wait(key, traffic.flights)
            if isinstance(claim, Reading):
                return claim
            token = claim
            under_way = traffic.flights.get(key)
            if under_way is not None:
                await self._claims.release(key, token)
                return Reader(under_way, mark={"hit": True, "age": 0.0, "key": key}, wants_raw=wants_raw)
        flight = self._start(key, token, traffic, model, params, mode)
        return Reader(flight, mark=None, wants_raw=wants_raw)

    def _start(
        self, key: str, token: str, traffic: _Traffic, model: LanguageModel, params: CallOptions, mode: Mode
    ) -> Flight:
        def end(flight: Flight) -> None:
            if traffic.flights.get(key) is flight:
                del traffic.flights[key]
            if traffic.looking_up:
                traffic.landed[key] += 1

        async def keep_part(part: StreamPart) -> None:
            try:
                recorder.feed(part)
            except TypeValidationError as error:
                recorder.spoil()
                self._warn("encode", error)
            if isinstance(part, FinishPart):
                await self._write(key, recorder.text(now=self._clock()))

        async def keep_result(result: GenerateResult) -> None:
            try:
                text = recorder.text_of(result, now=self._clock())
            except TypeValidationError as error:
                self._warn("encode", error)
            else:
                await self._write(key, text)

        recorder = Recorder(key, self._finish_reasons)
        flight = Flight(end, lambda: self._claims.release(key, token))
        # The hook's own calls belong to the first caller, whom the kernel cleans up after; a flight may outlive him.
        if mode == "generate":
            flight.generate(model, params, keep_result)
        else:
            flight.stream(model, params, keep_part)
        traffic.flights.setdefault(key, flight)
        return flight

    async def _look_up(self, key: str, traffic: _Traffic) -> Reading | None:
        """The entry, looked for again if a flight with this key ended meanwhile: it may have left one."""
        while True:
            traffic.looking_up += 1
            landed_before = traffic.landed.get(key, 0)
            try:
                entry = await self._read(key)
            finally:
                traffic.looking_up -= 1
                has_landed = traffic.landed.get(key, 0) > landed_before
                if not traffic.looking_up:
                    traffic.landed.clear()
            if entry is not None or not has_landed:
                return entry

    async def _read(self, key: str) -> Reading | None:
        text = await self._ask_store("read", self.store.get(key))
        if text is None:
            return None
        try:
            entry = self._readings.read(text, key)
        except TypeValidationError as error:
            self._warn("understand", error)
            await self._ask_store("delete", self.store.delete(key))
            return None
        return entry if self.ttl is None or self._age(entry) <= self.ttl else None

    async def _write(self, key: str, text: str | None) -> None:
        if text is not None:
            await self._ask_store("write", self.store.set(key, text, ttl=self.ttl))

    async def _ask_store(self, action: str, answer: Awaitable[T]) -> T | None:
        try:
            return await within(self._store_timeout, answer)
        except Exception as error:  # noqa: BLE001 - whatever a store does wrong costs an entry, never the call
            self._warn(action, error)
            return None
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                raise
            self._warn(action, error)
            return None

    def _warn(self, action: str, error: BaseException) -> None:
        shown = mask_text(str(error), 200)
        logger.warning("%r could not %s an entry: %s: %s", self, action, type(error).__name__, shown)

    def _age(self, entry: Reading) -> float:
        return max(0.0, self._clock() - entry.created)

    def _mark(self, entry: Reading) -> Mark:
        return {"hit": True, "age": round(self._age(entry), 3), "key": entry.key}

    def _replayed(self, parts: tuple[StreamPart, ...]) -> StreamResult:
        return StreamResult(self._paced(parts)) if self._pace else StreamResult(self._paced(()), head=parts)

    async def _paced(self, parts: tuple[StreamPart, ...]) -> AsyncGenerator[StreamPart, None]:
        for index, part in enumerate(parts):
            if index:
                await self._sleep(self._pace)
            yield part
