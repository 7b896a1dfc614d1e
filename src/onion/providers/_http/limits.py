"""How much is read over HTTP, and how long is waited."""

from __future__ import annotations

from onion.spec.base import value


@value
class HTTPLimits:
    """How much, and how long. What is said of connecting and silence holds for clients of our own only.

    Attributes:
        body_bytes: Largest answer that is not streamed.
        failure_bytes: How much is read of an answer that reports a failure.
        failure_seconds: How long that is waited for.
        close_seconds: How long a connection that is given up may take to close.
        drain_seconds: How long the end of a body is waited for after the terminal marker.
        connect_seconds: How long a connection may take to come about.
        write_seconds: How long a server may refuse to take in more of a request.
        read_seconds: Longest silence of a server: models think for minutes. What a caller wants to wait is the loop's
            `timeout`.
        idle_seconds: How long a connection is kept that nobody uses; some servers close theirs after 5 seconds.
        idle_connections: How many of those httpx and httpx2 keep; aiohttp knows no such limit and keeps all of them for
            `idle_seconds`.
    """

    body_bytes: int = 256 * 2**20
    failure_bytes: int = 64 * 2**10
    failure_seconds: float = 10.0
    close_seconds: float = 2.0
    drain_seconds: float = 0.25
    connect_seconds: float = 15.0
    write_seconds: float = 60.0
    read_seconds: float = 600.0
    idle_seconds: float = 5.0
    idle_connections: int = 100


DEFAULT_LIMITS = HTTPLimits()
