"""A pip that a test plays."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path


class Pip:
    """Answers `install --report` with one URL, and `download` with one wheel.

    Args:
        url: What the report names; None leaves the report without a file.
        sha256: What the report says of it.
        wheel: What a download brings; None brings nothing.
        fails: Both end so, with this on stderr.
    """

    def __init__(
        self, url: str | None = None, *, sha256: str = "", wheel: bytes | None = None, fails: str | None = None
    ) -> None:
        self.calls: list[list[str]] = []
        self._url = url
        self._sha256 = sha256
        self._wheel = wheel
        self._fails = fails

    def __call__(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.calls.append(list(arguments))
        if self._fails is not None:
            return subprocess.CompletedProcess(arguments, 1, "", self._fails)
        if "download" in arguments:
            folder = Path(arguments[arguments.index("--dest") + 1])
            if self._wheel is not None:
                folder.joinpath("found.whl").write_bytes(self._wheel)
        else:
            report = Path(arguments[arguments.index("--report") + 1])
            report.write_text(json.dumps({"install": self._installs()}), encoding="utf-8")
        return subprocess.CompletedProcess(arguments, 0, "", "")

    def _installs(self) -> list[object]:
        if self._url is None:
            return []
        hashes = {"sha256": self._sha256} if self._sha256 else {}
        return [{"download_info": {"url": self._url, "archive_info": {"hashes": hashes}}}]
