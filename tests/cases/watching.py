"""What is left over, and what Python complains of, after something was cancelled or dropped."""

from __future__ import annotations

import asyncio
import gc
import sys
import warnings
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

ROUNDS = 10
PAUSE_SECONDS = 0.005
"""What was dropped, such as the generators of the HTTP client, may end in so many pauses."""


@dataclass(slots=True)
class Watch:
    """What was seen.

    Attributes:
        complaints: Warnings, exceptions that nobody could catch, and what the event loop reported.
        tasks: Tasks that run on.
    """

    complaints: list[str] = field(default_factory=list[str])
    tasks: list[str] = field(default_factory=list[str])

    def faults(self) -> list[str]:
        """All of it, a line each."""
        return [f"warned: {complaint}" for complaint in self.complaints] + [f"left: {task}" for task in self.tasks]


@asynccontextmanager
async def watching() -> AsyncGenerator[Watch]:
    """Watch what happens inside; the Watch is filled in at the end."""
    watch, before = Watch(), asyncio.all_tasks()
    loop = asyncio.get_running_loop()
    handler, hook = loop.get_exception_handler(), sys.unraisablehook
    loop.set_exception_handler(lambda _loop, context: watch.complaints.append(str(context)))
    sys.unraisablehook = lambda unraisable: watch.complaints.append(repr(unraisable.exc_value))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield watch
            gc.collect()
            for _ in range(ROUNDS):
                await asyncio.sleep(PAUSE_SECONDS)
                if asyncio.all_tasks() <= before:
                    break
    finally:
        loop.set_exception_handler(handler)
        sys.unraisablehook = hook
    told = [warning for warning in caught if issubclass(warning.category, ResourceWarning | RuntimeWarning)]
    watch.complaints += [str(warning.message) for warning in told]
    watch.tasks += [repr(task) for task in asyncio.all_tasks() - before]
