"""Runs the counted program under callgrind and reads what it wrote."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from bench.counts.paths import CALIBRATION
from bench.jobs import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARKS = ("getpgid", "__getpgid")
"""The C function that a mark calls, by either of its names."""
TOTAL = re.compile(r"^totals: (\d+)", re.MULTILINE)
ENDED = re.compile(r"^desc: Trigger: --dump-before=", re.MULTILINE)
PROGRAM = "bench.counts.counted"
LONGEST_SECONDS = 900


class CountError(Exception):
    """Nothing could be counted; the message says why."""


def find_valgrind() -> str | None:
    """Where valgrind is, if it is there."""
    return shutil.which("valgrind")


def environment() -> dict[str, str]:
    """The same for everybody: no seeds, no paths of somebody's shell, bytecode as it lies there."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}


def dumps_in(folder: FilePath) -> list[int]:
    """What was counted up to each mark, in their order; the last dump, at the end of the program, is nobody's."""
    files = sorted(folder.glob("counts.*"), key=lambda file: int(file.suffix[1:]))
    texts = [file.read_text(encoding="utf-8") for file in files]
    return [int(found[1]) for text in texts if ENDED.search(text) and (found := TOTAL.search(text))]


def output_of(argv: Sequence[str], variables: Mapping[str, str]) -> str:
    """What the program prints.

    Raises:
        CountError: When it fails; with its last words.
    """
    done = subprocess.run(
        argv, cwd=ROOT, env=variables, check=False, capture_output=True, text=True, timeout=LONGEST_SECONDS
    )
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise CountError(f"{' '.join(argv)} ended with {done.returncode}: {last}")
    return done.stdout


def run(valgrind: str) -> list[tuple[str, int, int]]:
    """Name, operations and instructions of each run that was counted."""
    argv = [sys.executable, "-m", PROGRAM]
    output_of(argv, {**environment(), "PYTHONDONTWRITEBYTECODE": ""})  # writes the bytecode
    with tempfile.TemporaryDirectory() as name:
        folder = FilePath(name)
        tool = [valgrind, "-q", "--tool=callgrind", f"--callgrind-out-file={folder / 'counts'}"]
        printed = output_of([*tool, *(f"--dump-before={mark}" for mark in MARKS), *argv], environment())
        counted = dumps_in(folder)
    labels = [line.split(" ", 1) for line in printed.splitlines()]
    if len(labels) != len(counted):
        raise CountError(f"callgrind wrote {len(counted)} counts for {len(labels)} marks")
    return [(name, int(operations), found) for (operations, name), found in zip(labels, counted, strict=True) if name]


def per_operation(runs: Sequence[tuple[str, int, int]]) -> dict[str, float]:
    """Instructions of one operation: of two lengths the difference, so that beginning and end cancel out."""
    by_name: dict[str, list[tuple[int, int]]] = {}
    for name, operations, found in runs:
        by_name.setdefault(name, []).append((operations, found))
    result: dict[str, float] = {}
    for name, lengths in by_name.items():
        (short, fewer), (long, more) = lengths if len(lengths) > 1 else ((0, 0), lengths[0])
        result[name] = (more - fewer) / (long - short)
    return result


def ratios(counts: Mapping[str, float]) -> dict[str, float]:
    """Each path as a multiple of the calibration."""
    return {name: found / counts[CALIBRATION] for name, found in counts.items() if name != CALIBRATION}
