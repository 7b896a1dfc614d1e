"""The loopback server as a process of its own, on a core of its own where there is one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from bench.jobs import ROOT

if TYPE_CHECKING:
    from collections.abc import Generator


@contextlib.contextmanager
def serving(*, cpu: int | None) -> Generator[str]:
    """The server's URL, as long as it runs."""
    argv = [sys.executable, "-m", "bench.server"]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            if child.stdout is None:
                raise RuntimeError("the server has no standard output to tell its port")
            port = int(child.stdout.readline())
            if cpu is not None:
                os.sched_setaffinity(child.pid, {cpu})
            yield f"http://127.0.0.1:{port}"
        finally:
            child.kill()
