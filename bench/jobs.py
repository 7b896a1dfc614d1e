"""A job is one workload in a process of its own, kept alive so that many can take turns."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict

from bench.workload import NO_PARAMS, Params

if TYPE_CHECKING:
    from types import TracebackType

ROOT = Path(__file__).parent.parent
READY_SECONDS = 120.0
ROUND_SECONDS = 120.0


class Answer(TypedDict):
    """What the process says of a measurement."""

    operations: int
    cpu: float
    wall: float
    extra: Mapping[str, float]


class JobError(Exception):
    """A job gave no figure; the message is its last words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A workload of an adapter.

    Attributes:
        adapter: Module with the setups.
        budget: CPU seconds of one measurement, about.
        command: What runs the worker instead of this interpreter; a peer has its own.
        is_fresh: Each measurement is made by a new process.
    """

    adapter: str
    workload: str
    params: Params = NO_PARAMS
    budget: float = 0.02
    command: Sequence[str] = ()
    is_fresh: bool = False

    def argv(self) -> list[str]:
        """The command line of its process."""
        start = self.command or (sys.executable, "-m", "bench.worker", self.adapter)
        return [*start, self.workload, str(self.budget), self.params.changed()]


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement.

    Attributes:
        cpu: CPU microseconds per operation, of the whole process.
        wall: The same by the clock on the wall.
        extra: What the workload measured by itself.
    """

    cpu: float
    wall: float
    extra: Mapping[str, float]


class Process:
    """The running process of a job."""

    def __init__(self, job: Job, *, cpu: int | None) -> None:
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._job = job
        self._child = subprocess.Popen(
            job.argv(),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if cpu is not None:
            with contextlib.suppress(OSError):  # it may be gone already; reading its answer says so
                os.sched_setaffinity(self._child.pid, {cpu})

    def wait_until_ready(self) -> None:
        """Return when the workload is set up and warm."""
        self._line(READY_SECONDS)

    def measure(self) -> Sample:
        """Let it do its operations once."""
        if self._child.stdin is None:
            raise JobError("the process has no standard input")
        with contextlib.suppress(BrokenPipeError):  # reading its answer says what happened
            self._child.stdin.write("\n")
            self._child.stdin.flush()
        found: Answer = json.loads(self._line(ROUND_SECONDS))
        per = 1e6 / found["operations"]
        return Sample(found["cpu"] * per, found["wall"] * per, found["extra"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._child.kill()
        self._child.communicate()

    def _line(self, seconds: float) -> str:
        timer = threading.Timer(seconds, self._child.kill)
        timer.start()
        try:
            line = self._child.stdout.readline() if self._child.stdout else ""
        finally:
            timer.cancel()
        if not line:
            errors = self._child.stderr.read() if self._child.stderr else ""
            last = errors.strip().rpartition("\n")[2] or f"no answer within {seconds:.0f} s"
            raise JobError(f"{self._job.adapter.rpartition('.')[2]} {self._job.workload}: {last}")
        return line
