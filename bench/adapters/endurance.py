"""Long runs, to see that nothing is kept: memory at the beginning and at the end."""

from __future__ import annotations

import gc
from itertools import repeat
from typing import TYPE_CHECKING

from bench.adapters.memory import resident_kb
from bench.adapters.onion_calls import add
from bench.adapters.steady import Calling, Steady
from bench.workload import Params, Setups, Workload, expect
from onion import generate_text, is_step_count, stream_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bench.workload import Extra

RUNS = 10_000
PARTS = 1_000_000
DELTA = "tok "
WARM_UP_RUNS = 1_000
WARM_UP_PARTS = 50_000


def growing(work: Callable[[int], Awaitable[None]], warm_up: int, count: int) -> Workload:
    """What the process and the number of its objects grow by in *count* operations."""

    async def run(_operations: int) -> Extra:
        await work(warm_up)
        memory, objects = resident_kb(), len(gc.get_objects())
        await work(count)
        return {"kb": resident_kb() - memory, "objects": len(gc.get_objects()) - objects}

    return Workload(run, once=True)


def runs(_params: Params) -> Workload:
    """Runs of two steps with a tool."""
    model = Calling(1, 1)

    async def work(count: int) -> None:
        for _ in range(count):
            result = await generate_text(model=model, prompt="go", tools=[add], stop_when=is_step_count(3))
            expect(result.text == "done", result.text)

    return growing(work, WARM_UP_RUNS, RUNS)


def parts(_params: Params) -> Workload:
    """One stream of so many deltas."""

    async def work(count: int) -> None:
        read = 0
        async for _ in stream_text(model=Steady(repeat(DELTA, count)), prompt="go").text_stream:
            read += 1
        expect(read == count, read)

    return growing(work, WARM_UP_PARTS, PARTS)


SETUPS: Setups = {"runs": runs, "parts": parts}
