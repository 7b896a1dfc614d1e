"""Which certificates are trusted: those that httpx or httpx2 trusts. Reading them takes long, so it is done once."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


def trusted_by_httpx() -> ssl.SSLContext:
    """Those of its bundle, or of ``SSL_CERT_FILE`` or ``SSL_CERT_DIR`` where these are set."""
    return _read_of_httpx(*_said())


def trusted_by_httpx2() -> ssl.SSLContext:
    """Those of the system, or of ``SSL_CERT_FILE`` or ``SSL_CERT_DIR`` where these are set."""
    return _read_of_httpx2(*_said())


def _said() -> tuple[str | None, str | None]:
    return os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")


@functools.cache
def _read_of_httpx(_file: str | None, _directory: str | None) -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()


@functools.cache
def _read_of_httpx2(_file: str | None, _directory: str | None) -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
