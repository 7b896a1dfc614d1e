"""Waits for an answer, but not for ever; one that is there at once costs no timer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine, Generator
from typing import Generic, TypeVar

T = TypeVar("T")


async def within(seconds: float, answer: Awaitable[T]) -> T:
    """What *answer* gives, awaited for so many seconds at most.

    Raises:
        TimeoutError: When it takes longer.
    """
    if inspect.iscoroutine(answer):  # a timer costs more than all that a store in memory does
        try:
            waits_for: object = answer.send(None)
        except StopIteration as done:
            found: T = done.value
            return found
        answer = _Rest(answer, waits_for)
    async with asyncio.timeout(seconds):
        return await answer


class _Rest(Generic[T]):
    """A coroutine that has run to where it first waits, and what it waits for there."""

    def __init__(self, coroutine: Coroutine[object, None, T], waits_for: object) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[object, None, T]:
        while True:
            try:
                try:
                    yield self._waits_for
                except BaseException as error:  # noqa: BLE001 - the coroutine raises it, if it does not handle it
                    self._waits_for = self._coroutine.throw(error)
                else:
                    self._waits_for = self._coroutine.send(None)
            except StopIteration as done:
                found: T = done.value
                return found
