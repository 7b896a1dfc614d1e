"""One body of events, framed and cut in every way that the standard allows."""

from __future__ import annotations

from collections.abc import Iterator

LONG_BYTES = 4000
"""Streams from here on are cut at a sample of places only."""
SAMPLES = 40


def framings(body: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Every framing with its name: the pieces in which the body arrives."""
    plain = body.replace(b"\r\n", b"\n")
    step = 1 if len(body) < LONG_BYTES else len(body) // SAMPLES
    for cut in range(0, len(body), step):
        yield f"cut at byte {cut}", [body[:cut], body[cut:]]
    yield "byte by byte", _bytewise(body)
    yield "with CRLF, byte by byte", _bytewise(plain.replace(b"\n", b"\r\n"))
    yield "with CR", [plain.replace(b"\n", b"\r")]
    yield "with a byte order mark", [b"\xef\xbb\xbf" + body]
    yield "with comments", [plain.replace(b"\n\n", b"\n\n: ping\n\n")]
    yield "without the last blank line", [body.rstrip(b"\r\n")]


def _bytewise(body: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in body]
