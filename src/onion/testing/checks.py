"""What the conformance checks have in common: one rule at a time, in bounded time, leaving nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import NoReturn

from onion.testing.rules import LintError


@dataclass(slots=True)
class CheckReport:
    """What was checked.

    Attributes:
        passed: The rules that hold, beside those of `Lint`.
        skipped: The rules that could not be checked, each with the reason.
        calls: How many calls were made.
    """

    passed: list[str] = field(default_factory=list[str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    calls: int = 0


class Checks:
    """Runs checks and reports; the subclasses know what to check."""

    def __init__(self, *, subject: str, timeout: float) -> None:
        self.report: CheckReport = CheckReport()
        self._subject = subject
        self._timeout = timeout
        self._rule = ""

    async def run(
        self, rule: str, check: Callable[[], Coroutine[object, object, str | None]], *, times: int = 1
    ) -> None:
        """Run one check, in bounded time, and see that it leaves no task behind; what it returns is why it skipped.

        Args:
            rule: Its name.
            check: What looks.
            times: How many times the usual amount of work it is; it may take as many times longer.
        """
        self._rule = rule
        tasks = asyncio.all_tasks()
        limit = asyncio.timeout(self._timeout * times)
        try:
            async with limit:
                skipped = await check()
                await self.settle(lambda: not asyncio.all_tasks() - tasks, "left tasks running")
        except TimeoutError:
            if limit.expired():
                self.fail(f"did not end within {self._timeout * times} s")
            raise
        if skipped:
            self.report.skipped[rule] = skipped
        else:
            self.report.passed.append(rule)

    async def settle(self, holds: Callable[[], bool], fault: str) -> None:
        """Give what is being closed time to close: garbage collection and servers act a little later."""
        for pause in (0.0,) * 20 + (self._timeout / 200,) * 100:
            if holds():
                return
            await asyncio.sleep(pause)
        self.fail(fault)

    def fail(self, found: str) -> NoReturn:
        """Say that the rule of the running check is broken."""
        raise LintError(self._rule, self._subject, found)
