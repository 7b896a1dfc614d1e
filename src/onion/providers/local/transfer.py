"""Downloads one file by URL, shows how far it is, and goes on where an earlier try broke off."""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit
from urllib.request import url2pathname

if TYPE_CHECKING:
    import httpx

Progress: TypeAlias = Callable[[int, int | None], None]
"""Told the bytes done and the bytes in all; None if unknown."""

CONNECT_SECONDS, READ_SECONDS = 30.0, 60.0
_PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE, _FAILED = 206, 416, 400


class TransferError(Exception):
    """A file could not be read to its end.

    Attributes:
        is_refused: Nothing came: the server could not be reached or said no. Otherwise it broke off.
    """

    def __init__(self, message: str, *, is_refused: bool) -> None:
        super().__init__(message)
        self.is_refused = is_refused


def transfer(url: str, target: Path, progress: Progress | None = None) -> None:
    """Write what lies at *url* to *target*, behind what is there already.

    Raises:
        TransferError: When it does not come, or not whole. What came stays in *target*.
        OSError: When it cannot be written.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        source = Path(url2pathname(parts.path))
        if not source.is_file():
            msg = f"there is no file {str(source)!r}"
            raise TransferError(msg, is_refused=True)
        shutil.copyfile(source, target)
        return
    _transfer_over_http(url, target, progress or (lambda _done, _total: None))


def _transfer_over_http(url: str, target: Path, progress: Progress) -> None:
    import httpx

    done = target.stat().st_size if target.is_file() else 0
    # pip sends no Accept-Encoding either: a range of a compressed form would not continue ours.
    headers = {"accept-encoding": "identity"} | ({"range": f"bytes={done}-"} if done else {})
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        with (
            httpx.Client(follow_redirects=True, timeout=timeout, verify=_trusted()) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            _save(response, target, done, progress)
    except httpx.HTTPError as error:
        is_refused = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        msg = f"{type(error).__name__}: {error}"
        raise TransferError(msg, is_refused=is_refused) from error


def _trusted() -> ssl.SSLContext:
    """The certificates that the system and pip trust."""
    context = ssl.create_default_context()
    for name in ("PIP_CERT", "REQUESTS_CA_BUNDLE"):  # pip reads both
        file = os.environ.get(name)
        if file and Path(file).is_file():
            try:
                context.load_verify_locations(cafile=file)
            except ssl.SSLError as error:
                msg = f"{name} names {file!r}, which holds no certificate"
                raise TransferError(msg, is_refused=True) from error
    return context


def _save(response: httpx.Response, target: Path, done: int, progress: Progress) -> None:
    if response.status_code == _RANGE_NOT_SATISFIABLE:
        return  # all of it is there
    if response.status_code >= _FAILED:
        msg = f"the server answered with status {response.status_code}"
        raise TransferError(msg, is_refused=True)
    if response.status_code != _PARTIAL_CONTENT:
        done = 0
    length = response.headers.get("content-length")
    total = done + int(length) if length else None
    progress(done, total)
    with target.open("ab" if done else "wb") as file:
        for block in response.iter_raw():
            file.write(block)
            done += len(block)
            progress(done, total)
