"""Cases of a run that is given up: every layer, connection and tool has to end with it."""

from __future__ import annotations

import asyncio
import gc
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from onion import stream_text
from onion.middleware import SHARED, Cache, Logging, MemoryStore, Retry, Tracing
from onion.providers import openai_compatible
from onion.providers._json import object_in
from onion.spec.stream import StreamResult
from onion.wrap import Middleware, wrap_language_model
from tests.cases import cancelled_tools
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.loopback import Loopback, every
from tests.cases.watching import watching

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from onion import StreamTextResult
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.wrap import DoGenerate, DoStream

GIVEN_UP = RuntimeError("the consumer raised")


async def run(case: Case) -> list[str]:
    """The case by what it asks for."""
    if isinstance(case.data.get("calls"), dict):
        return await cancelled_tools.run(case)
    server, ways = object_in(case.data, "server"), case.data.get("calls")
    pause, limits = server.get("delta_every_s"), case.expect.get("server_sees_close_within_s")
    if server.get("endless") is not True or not isinstance(pause, int | float):
        raise WaitingError(f"a server that does {server!r}")
    faults: list[str] = []
    assert isinstance(ways, list)
    assert isinstance(limits, list)
    for way, limit in zip(ways, limits, strict=True):
        assert isinstance(limit, int | float)
        with Loopback(lambda: every(pause)) as loopback:
            faults += [f"{fault} ({way})" for fault in await _check(case, str(way), loopback, limit)]
    return faults


async def _check(case: Case, way: str, loopback: Loopback, limit: float) -> list[str]:
    if way not in WAYS:
        raise WaitingError(f"a consumer that does {way!r}")
    closed: list[str] = []
    async with watching() as watch:
        await WAYS[way](lambda: stream_text(model=_model(loopback.url, closed), prompt="go"))
        seconds = await loopback.seconds_until_closed(limit)
    observed = {"tasks_left": len(watch.tasks), "warnings": len(watch.complaints)}
    asked = {key: value for key, value in case.expect.items() if key in observed}
    faults = differences(asked, observed) + watch.faults()
    faults += [f"the server saw no end within {limit} s"] if seconds >= limit else []
    return faults + ([] if closed == ["inner", "outer"] else [f"layers were closed so: {closed}"])


def _model(url: str, closed: list[str]) -> LanguageModel:
    """Four layers of ours between two that note when they are closed."""
    model = openai_compatible(base_url=url, model="m-1", name="vendor", api_key="k")
    cache = Cache(MemoryStore(), scope=SHARED)
    layers = [
        _Noting("outer", closed),
        Tracing(),
        Logging(structlog.wrap_logger(logging.getLogger("cases"))),
        cache,
        Retry(),
        _Noting("inner", closed),
    ]
    return wrap_language_model(model, layers)


class _Noting(Middleware):
    """Notes that its stream was closed."""

    modes = ("stream",)

    def __init__(self, name: str, closed: list[str]) -> None:
        self._name = name
        self._closed = closed

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """The stream as it is."""
        inner = await do_stream()

        async def parts() -> AsyncGenerator[StreamPart, None]:
            try:
                async with inner:
                    async for part in inner:
                        yield part
            finally:
                self._closed.append(self._name)

        return StreamResult(parts())


# --- how a consumer stops --------------------------------------------------------------------------------------------


async def _break_and_aclose(start: Callable[[], StreamTextResult[str]]) -> None:
    result = start()
    async for _ in result.text_stream:
        break
    await result.aclose()


async def _leave_async_with(start: Callable[[], StreamTextResult[str]]) -> None:
    async with start() as result:
        async for _ in result.text_stream:
            break


async def _cancelled(start: Callable[[], StreamTextResult[str]]) -> None:
    has_text = asyncio.Event()

    async def consume() -> None:
        async for _ in start().text_stream:
            has_text.set()

    task = asyncio.ensure_future(consume())
    await has_text.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _raise_in_loop(start: Callable[[], StreamTextResult[str]]) -> None:
    with suppress(RuntimeError):
        async with start() as result:
            async for _ in result.text_stream:
                raise GIVEN_UP


async def _break_only(start: Callable[[], StreamTextResult[str]]) -> None:
    async for _ in start().text_stream:
        break
    gc.collect()


WAYS: Mapping[str, Callable[[Callable[[], StreamTextResult[str]]], Awaitable[None]]] = {
    "break+aclose": _break_and_aclose,
    "async with": _leave_async_with,
    "cancel": _cancelled,
    "raise in loop": _raise_in_loop,
    "break only + gc": _break_only,
}
