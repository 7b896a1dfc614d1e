"""Cancelling a piece of work at each place where it can be cancelled, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator


class CancelledAt:
    """Awaits *work*, and cancels the running task when *work* suspends for the time number *position*.

    Attributes:
        suspensions: How often the work has suspended so far.
    """

    def __init__(self, work: Coroutine[object, object, object], position: int) -> None:
        self.suspensions: int = 0
        self._work = work
        self._position = position

    @property
    def is_over(self) -> bool:
        """Whether the work came to its end before it suspended that often."""
        return self.suspensions < self._position

    def __await__(self) -> Generator[object, object, None]:
        """Drive the work by hand, so that each suspension is seen."""
        raised: BaseException | None = None
        while True:
            try:
                awaited = self._work.send(None) if raised is None else self._work.throw(raised)
            except StopIteration:
                return
            self.suspensions += 1
            if self.suspensions == self._position and (task := asyncio.current_task()) is not None:
                task.cancel()
            raised = None
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - thrown into the work, which raises it again
                raised = error
