"""How much memory the process has, without waiting for a collector to be lucky."""

from __future__ import annotations

import gc
import resource
from pathlib import Path

PAGES = Path("/proc/self/statm")


def resident_kb() -> float:
    """Resident memory of this process in KiB, after a collection."""
    gc.collect()
    return current_kb()


def current_kb() -> float:
    """The same as it is."""
    return int(PAGES.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1024
