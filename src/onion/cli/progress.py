"""How far a download is: a bar on a terminal with rich, a line for every tenth elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from onion.cli.render import Kind

if TYPE_CHECKING:
    from rich.console import Console

    from onion.cli.terminal import Terminal

Report: TypeAlias = Callable[[int, int | None], None]
"""Told how many bytes are there, and how many there will be, if that is known."""

BYTES_PER_MB = 1_000_000
_LINES = 10


@contextmanager
def download_progress(label: str, terminal: Terminal) -> Generator[Report]:
    """Shows on stderr what the function that it gives is told. Shows nothing as long as it is told nothing."""
    console = terminal.console()
    if console is None:
        yield _Lines(label, terminal)
        return
    with _bar(label, console) as report:
        yield report


@contextmanager
def _bar(label: str, console: Console) -> Generator[Report]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=console
    )
    task = progress.add_task(label, total=None)

    def report(done: int, total: int | None) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        progress.stop()


class _Lines:
    """Writes a line for every tenth, or for every ten megabytes where the whole is not known."""

    def __init__(self, label: str, terminal: Terminal) -> None:
        self._label = label
        self._terminal = terminal
        self._written = -1

    def __call__(self, done: int, total: int | None) -> None:
        step = max(total // _LINES, 1) if total else _LINES * BYTES_PER_MB
        if done // step > self._written:
            self._written = done // step
            of = f" of {total / BYTES_PER_MB:.0f}" if total else ""
            self._terminal.note(f"{self._label}: {done / BYTES_PER_MB:.0f}{of} MB", Kind.FIGURES)
