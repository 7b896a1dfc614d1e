"""The seam between providers and HTTP clients: a request goes in, the head of an answer comes out, its body follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Reply(Protocol):
    """An answer whose head has arrived."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, names in lower case; several of one name are joined."""
        ...

    async def read_some(self) -> bytes:
        """What has come of the body since, content encodings undone; waits for more if need be, empty at the end.

        Raises:
            Exception: One of the client's own, when the connection breaks off.
        """
        ...

    async def aclose(self) -> None:
        """Give the connection back if the body was read, else give it up; may be called while another task reads."""
        ...


class Sender(Protocol):
    """One HTTP client, whichever."""

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a request; redirects are answers like others.

        Raises:
            Exception: One of the client's own, when no answer comes.
        """
        ...

    async def aclose(self) -> None:
        """Close the client with all its connections, unless it is the caller's."""
        ...
