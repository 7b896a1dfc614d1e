"""What an adapter gives: workloads that run a number of operations. Standard library only, for peers import it too."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How a workload is set up.

    Attributes:
        layers: Layers around the model.
        steps: Steps of a run that call tools.
        calls: Tool calls of one step.
        deltas: Text deltas of one stream.
        concurrency: Calls that run at once.
        size: Bytes of a streamed object.
        url: The loopback server.
        options: What that server is asked to do, as its path spells it.
        variant: Which of an adapter's ways.
    """

    layers: int = 0
    steps: int = 10
    calls: int = 1
    deltas: int = 1000
    concurrency: int = 1
    size: int = 20_000
    url: str = ""
    options: str = ""
    variant: str = ""

    @classmethod
    def parse(cls, text: str) -> Params:
        """The params that a JSON object gives; the others have their defaults."""
        given: dict[str, object] = json.loads(text)
        params = cls()
        for name, found in given.items():
            object.__setattr__(params, name, found)
        return params

    def replace(self, **changes: str | int) -> Params:
        """The same with other values."""
        return Params.parse(json.dumps({**dataclasses.asdict(self), **changes}))

    def changed(self) -> str:
        """What differs from the defaults, as JSON."""
        found = dataclasses.asdict(self)
        return json.dumps({name: found[name] for name, default in DEFAULTS.items() if found[name] != default})

    @property
    def base_url(self) -> str:
        """Where the chat completions of the loopback server are, with its options."""
        return f"{self.url}/{self.options or 'n=16'}/v1"


NO_PARAMS = Params()
DEFAULTS = dataclasses.asdict(NO_PARAMS)

Extra: TypeAlias = Mapping[str, float]
"""What a workload measured by itself beside the processor time, such as the memory per stream."""

Run: TypeAlias = Callable[[int], Awaitable[Extra | None]]
"""Does so many operations; called again and again."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload that is ready to run.

    Attributes:
        run: Does operations, a multiple of *unit* at a time.
        unit: Operations that belong together, such as the deltas of a stream.
        once: The first run is the measurement: nothing is warmed up.
    """

    run: Run
    unit: int = 1
    once: bool = False


Setup: TypeAlias = Callable[[Params], Workload]
Setups: TypeAlias = Mapping[str, Setup]


class WrongAnswerError(AssertionError):
    """The work that was measured was not the work that was asked for."""


def expect(condition: object, found: object = None) -> None:
    """Raise unless *condition*: a figure for wrong work is none."""
    if not condition:
        raise WrongAnswerError(f"the workload gave {found!r}")


def repeated(one: Callable[[], Awaitable[object]], *, unit: int = 1, concurrency: int = 1) -> Workload:
    """Each call of *one* does *unit* operations; so many calls run at once."""

    async def run(operations: int) -> None:
        left = max(1, operations // unit)

        async def worker() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await one()

        if concurrency == 1:
            await worker()
        else:
            await asyncio.gather(*(worker() for _ in range(min(concurrency, left))))

    return Workload(run, unit * concurrency)


def streamed(make: Callable[[], AsyncIterable[object]], params: Params) -> Workload:
    """Read streams of *make* to their ends; an operation is a delta. Notes when the first delta came."""
    first: list[float] = []

    async def one() -> None:
        count, begun = 0, time.perf_counter()
        async for delta in make():
            if delta:
                if not count:
                    first.append(time.perf_counter() - begun)
                count += 1
        expect(count == params.deltas, count)

    counted = repeated(one, unit=params.deltas, concurrency=params.concurrency)

    async def run(operations: int) -> Extra:
        first.clear()
        await counted.run(operations)
        return {"first_us": sorted(first)[len(first) // 2] * 1e6}

    return Workload(run, counted.unit)
