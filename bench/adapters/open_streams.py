"""Many streams open at once: what each takes of memory. Once per process, for freed pages would be used again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bench.adapters import onion_network, raw_http
from bench.adapters.memory import current_kb, resident_kb
from bench.workload import Params, Setups, Workload

if TYPE_CHECKING:
    from bench.workload import Extra, Setup

LOOK_SECONDS = 0.02
WARM_UP = Params(options="n=4", deltas=4)


def opened(setup: Setup, params: Params) -> Workload:
    """Read so many streams at once; the server paces them so that all are open at the same time."""

    async def run(_operations: int) -> Extra:
        await setup(WARM_UP.replace(url=params.url, variant=params.variant)).run(WARM_UP.deltas)
        streams = setup(params)
        before = resident_kb()
        reading = asyncio.ensure_future(streams.run(streams.unit))
        peak = before
        while not reading.done():
            await asyncio.wait([reading], timeout=LOOK_SECONDS)
            peak = max(peak, current_kb())
        await reading
        return {"kb": (peak - before) / params.concurrency}

    return Workload(run, once=True)


def raw(params: Params) -> Workload:
    """Over raw httpx."""
    return opened(raw_http.stream, params)


def onion(params: Params) -> Workload:
    """Through Onion."""
    return opened(onion_network.stream, params)


SETUPS: Setups = {"raw": raw, "onion": onion}
