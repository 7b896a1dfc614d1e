"""One body of events, framed and cut in every way that the standard allows."""

from __future__ import annotations

from collections.abc import Iterator

MOST_BYTES = 6_000_000
"""That are read for all cuts of one body: one of more than 3,400 is cut at a sample of places only."""


def cuts(body: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """The body in two pieces, cut at every byte, and in pieces of a byte."""
    for cut in range(0, len(body), max(1, len(body) ** 2 // MOST_BYTES)):
        yield f"cut at byte {cut}", [body[:cut], body[cut:]]
    yield "byte by byte", _bytewise(body)


def framings(body: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Every framing with its name: the pieces in which the body arrives. The parts depend on the events alone."""
    plain = body.replace(b"\r\n", b"\n")
    yield "event by event", [piece + b"\n\n" for piece in plain.split(b"\n\n")]
    yield "with CRLF, byte by byte", _bytewise(plain.replace(b"\n", b"\r\n"))
    yield "with CR", [plain.replace(b"\n", b"\r")]
    yield "with a byte order mark", [b"\xef\xbb\xbf" + body]
    yield "with comments", [plain.replace(b"\n\n", b"\n\n: ping\n\n")]
    yield "without the last blank line", [body.rstrip(b"\r\n")]


def _bytewise(body: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in body]
