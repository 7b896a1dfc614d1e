"""Stores of used approvals: what makes an approval good for one execution.

A server that keeps no state sees only the history that the client sends, and a client can send the same history
twice. Only a store that all servers share can tell the second time.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class MemoryApprovalStore:
    """Remembers used approvals as long as the process lives; for one process, any number of threads and event loops."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"MemoryApprovalStore({len(self._used)} used)"

    async def claim(self, approval_id: str) -> bool:
        """Whether this is the first claim of that id."""
        with self._lock:
            if approval_id in self._used:
                return False
            self._used.add(approval_id)
            return True


class DiskApprovalStore:
    """Remembers used approvals as empty files in a folder; shared by all processes that see the folder.

    The claim is the exclusive creation of a file, which the operating system makes atomic, on local disks and on
    network file systems that keep to POSIX. Nothing is ever deleted: an approval that is forgotten could be used again.

    Args:
        folder: Made if it is missing.
    """

    def __init__(self, folder: str | Path) -> None:
        from pathlib import Path

        self._folder: Path = Path(folder)

    def __repr__(self) -> str:
        return f"DiskApprovalStore({str(self._folder)!r})"

    async def claim(self, approval_id: str) -> bool:
        """Whether this is the first claim of that id.

        Raises:
            OSError: When the folder cannot be written. The tool does not run then: a store that cannot tell must
                not say yes.
        """
        return await asyncio.to_thread(self._claim, approval_id)

    def _claim(self, approval_id: str) -> bool:
        import hashlib

        self._folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(approval_id.encode("utf-8", "surrogatepass")).hexdigest()
        try:
            self._folder.joinpath(name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
