"""What something adds: the same work with and without it, in turns of about a millisecond in one process.

The difference is small beside the work, and two processes never meet quite the same machine. The median of the
differences of neighbouring turns is told, per operation. What is added is what the params say: layers, or a variant.
"""

from __future__ import annotations

import statistics
import time

from bench.adapters import onion_calls, onion_streams
from bench.workload import NO_PARAMS, Extra, Params, Setup, Setups, Workload

PAIRS_OF_A_RUN = 10


async def seconds(workload: Workload, operations: int) -> float:
    """Processor time of so many operations."""
    before = time.process_time()
    await workload.run(operations)
    return time.process_time() - before


def compared(subject: Setup, base: Setup, operations: int, without: Params = NO_PARAMS) -> Setup:
    """A workload that takes turns of so many operations; an operation of its own is a pair of turns."""

    def setup(added: Params) -> Workload:
        plain = base(without)
        more = subject(without.replace(layers=added.layers, variant=added.variant))

        async def pair(*, is_plain_first: bool) -> float:
            if is_plain_first:
                used = await seconds(plain, operations)
                return await seconds(more, operations) - used
            used = await seconds(more, operations)
            return used - await seconds(plain, operations)

        async def run(pairs: int) -> Extra:
            found = [await pair(is_plain_first=number % 2 == 0) for number in range(pairs)]
            return {"more_us": statistics.median(found) / operations * 1e6}

        return Workload(run, unit=PAIRS_OF_A_RUN)

    return setup


STEPS = Params(steps=20)
SHORT = Params(deltas=1000)
LONG = Params(deltas=4000)
"""For Tracing, which has work to do at the ends of a stream."""

SETUPS: Setups = {
    "loop": compared(onion_calls.loop, onion_calls.loop, STEPS.steps, STEPS),
    "call": compared(onion_calls.call, onion_calls.call, 50),
    "tracing": compared(onion_calls.tracing, onion_calls.generate, 10),
    "stream": compared(onion_streams.stream, onion_streams.stream, SHORT.deltas, SHORT),
    "traced-stream": compared(onion_streams.tracing, onion_streams.stream, LONG.deltas, LONG),
}
