"""The runs: answers are drawn, changed, and read in every way, until one is a fault or the time is over."""

from __future__ import annotations

import hashlib
import random
import re
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.fuzz.mutation import Mutator
from tests.fuzz.seeds import pool_of, seeds_of
from tests.fuzz.target import check_rounds, check_stream, check_whole, limited
from tests.recorded.exchanges import RECORDINGS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recorded.checks import WireFormat

ROUNDS_SHARE = 0.15
"""Of the answers go through the loop as well, which takes ten times as long."""


@dataclass(frozen=True)
class Fault:
    """An answer that is a fault."""

    format: str
    run: int
    kind: str
    body: bytes
    told: str

    @property
    def digest(self) -> str:
        """The same for faults at the same place."""
        lines = self.told.splitlines()
        frames = [line for line in lines if line.lstrip().startswith("File ")]
        what = lines[-1].partition(": ")[0] + "".join(re.findall(r"the rule '[a-z-]+'", lines[-1]))
        return hashlib.sha256("".join((*frames[-3:], what)).encode()).hexdigest()[:12]


@dataclass
class Report:
    """What was run.

    Attributes:
        outcomes: How often came what, by kind of run.
        faults: The first fault of each place.
    """

    runs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])


class Fuzzer:
    """Runs answers of one format.

    Args:
        name: As `FORMS` names it.
        form: How it is read.
        seed: With the same number the same answers are drawn.
        recordings: Where answers to begin with lie.
    """

    def __init__(self, name: str, form: WireFormat, *, seed: int = 0, recordings: Path = RECORDINGS) -> None:
        self.report = Report()
        self._name = name
        self._form = form
        self._seed = seed
        self._seeds = seeds_of(name.partition("/")[0], recordings)
        self._pool = pool_of(self._seeds)

    def run(self, *, runs: int | None = None, seconds: float | None = None) -> Report:
        """Run that many answers, or for that long."""
        end = None if seconds is None else time.monotonic() + seconds
        while (runs is None or self.report.runs < runs) and (end is None or time.monotonic() < end):
            self.run_one(self.report.runs)
            self.report.runs += 1
        return self.report

    def run_one(self, number: int) -> None:
        """Run one answer; it depends on the seed and the number alone."""
        drawn = random.Random(f"{self._seed}/{number}")  # noqa: S311 - no secrets are made here
        mutator = Mutator(drawn, self._pool)
        seed, other = drawn.choice(self._seeds), drawn.choice(self._seeds)
        body = mutator.stream(seed, other) if seed.is_stream else mutator.whole(seed)
        pieces = mutator.cut(body)
        kinds = ["stream" if seed.is_stream else "whole"]
        if drawn.random() < ROUNDS_SHARE:
            kinds.append("stream rounds" if seed.is_stream else "whole rounds")
        for kind in kinds:
            try:
                with limited():
                    self.report.outcomes[f"{kind}: {self._outcome(kind, body, pieces)}"] += 1
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
                self._note(number, kind, body, error)

    def _outcome(self, kind: str, body: bytes, pieces: list[bytes]) -> str:
        match kind:
            case "whole":
                return check_whole(self._form, body)
            case "stream":
                return check_stream(self._form, body, pieces)
            case _:
                return check_rounds(self._form, body, is_stream=kind == "stream rounds")

    def _note(self, number: int, kind: str, body: bytes, error: Exception) -> None:
        told = "".join(traceback.format_exception(error))[-6000:]
        fault = Fault(self._name, number, kind, body, told)
        self.report.outcomes[f"{kind}: FAULT {type(error).__name__}"] += 1
        self.report.faults.setdefault(fault.digest, fault)
