"""Lets jobs take turns, round by round, so that what slows the machine down slows all of them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING, TypeAlias

from bench.jobs import Job, JobError, Process, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Figures: TypeAlias = "Mapping[str, float]"
"""The figures of one round: CPU microseconds per operation by job, and what a job measured as ``job.name``."""

WORKER_CPU = 0
SERVER_CPU = 1


def cpu_for(number: int) -> int | None:
    """The core with that number, if there is more than one to choose from."""
    return number if len(os.sched_getaffinity(0)) > 1 else None


def figures_of(samples: Mapping[str, Sample]) -> dict[str, float]:
    """One round as numbers by name."""
    found: dict[str, float] = {}
    for name, sample in samples.items():
        found[name] = sample.cpu
        found[f"{name}.wall"] = sample.wall
        found.update({f"{name}.{key}": number for key, number in sample.extra.items()})
    return found


class Turns:
    """The processes of a group of jobs.

    Attributes:
        missing: Jobs that gave no figure, with the reason.
    """

    def __init__(self, jobs: Mapping[str, Job], *, url: str = "", say: Callable[[str], None]) -> None:
        self.missing: dict[str, str] = {}
        self._jobs = {name: dataclasses.replace(job, params=job.params.replace(url=url)) for name, job in jobs.items()}
        self._say = say
        self._running: dict[str, Process] = {}

    def rounds(self, count: int) -> list[Figures]:
        """Measure so many rounds; every second one in reverse order."""
        with contextlib.ExitStack() as stack:
            for name, job in self._jobs.items():
                if not job.is_fresh:
                    self._start(name, job, stack)
            return [self._round(number) for number in range(count)]

    def _start(self, name: str, job: Job, stack: contextlib.ExitStack) -> None:
        process = stack.enter_context(Process(job, cpu=cpu_for(WORKER_CPU)))
        try:
            process.wait_until_ready()
        except JobError as error:
            self._fail(name, error)
        else:
            self._running[name] = process

    def _round(self, number: int) -> Figures:
        samples: dict[str, Sample] = {}
        names = list(self._jobs) if number % 2 == 0 else list(self._jobs)[::-1]
        for name in names:
            if name in self.missing:
                continue
            try:
                samples[name] = self._measure(name)
            except JobError as error:
                self._fail(name, error)
        return figures_of(samples)

    def _measure(self, name: str) -> Sample:
        job = self._jobs[name]
        if not job.is_fresh:
            return self._running[name].measure()
        with Process(job, cpu=cpu_for(WORKER_CPU)) as process:
            process.wait_until_ready()
            return process.measure()

    def _fail(self, name: str, error: JobError) -> None:
        self.missing[name] = str(error)
        self._say(f"{name}: {error}")
