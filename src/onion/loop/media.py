"""What kind of file some bytes are, and what a data URL holds."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

from onion.spec.base import value

_HEAD_BYTES = 32
_HEAD_CHARACTERS = 44
"""Base64 text of at least that many bytes."""
_DATA_URL = re.compile(r"data:(?P<type>[^;,]*)(?P<settings>[^,]*),(?P<content>.*)", re.DOTALL | re.IGNORECASE)

_SIGNATURES: tuple[tuple[str, int, bytes], ...] = (
    # media type, offset, what the file has there; the formats' own specifications, as collected by
    # https://en.wikipedia.org/wiki/List_of_file_signatures (read 2026-11-30)
    ("image/png", 0, b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", 0, b"\xff\xd8\xff"),
    ("image/gif", 0, b"GIF8"),
    ("image/webp", 8, b"WEBP"),
    ("image/avif", 4, b"ftypavif"),
    ("image/heic", 4, b"ftyphei"),
    ("image/heic", 4, b"ftypmif1"),
    ("image/tiff", 0, b"II*\x00"),
    ("image/tiff", 0, b"MM\x00*"),
    ("image/bmp", 0, b"BM"),
    ("application/pdf", 0, b"%PDF-"),
    ("audio/wav", 8, b"WAVE"),
    ("audio/flac", 0, b"fLaC"),
    ("audio/ogg", 0, b"OggS"),
    ("audio/mp4", 4, b"ftypM4A"),
    ("audio/mpeg", 0, b"ID3"),
    ("audio/mpeg", 0, b"\xff\xfb"),
    ("audio/mpeg", 0, b"\xff\xf3"),
    ("audio/mpeg", 0, b"\xff\xf2"),
    ("video/mp4", 4, b"ftypmp4"),
    ("video/mp4", 4, b"ftypiso"),
    ("video/webm", 0, b"\x1aE\xdf\xa3"),
)


def full_media_type(media_type: str, content: bytes | str) -> str:
    """The media type of an inline file.

    An image is what its bytes say, whatever was declared, and so is everything that was declared with a wildcard;
    where the bytes say nothing, and for all else, the declaration stands.

    Args:
        media_type: As declared; ``image`` means ``image/*``.
        content: The file, or its base64 text.
    """
    declared = media_type if "/" in media_type else f"{media_type}/*"
    top, _, subtype = declared.partition("/")
    if top.lower() != "image" and subtype != "*":
        return declared
    wanted = "" if top == "*" else f"{top.lower()}/"
    return _detected(content, wanted) or declared


def _detected(content: bytes | str, wanted: str) -> str | None:
    head = content[:_HEAD_BYTES] if isinstance(content, bytes) else _decoded_head(content)
    for media_type, offset, signature in _SIGNATURES:
        if media_type.startswith(wanted) and head.startswith(signature, offset):
            return media_type
    return None


def _decoded_head(text: str) -> bytes:
    head = text[:_HEAD_CHARACTERS].replace("-", "+").replace("_", "/").rstrip("=")
    usable = len(head) - len(head) % 4 if len(head) % 4 == 1 else len(head)
    try:
        return base64.b64decode(head[:usable] + "=" * (-usable % 4))
    except (binascii.Error, ValueError):
        return b""


@value
class DataURL:
    """A data URL taken apart (RFC 2397); `content` is base64 text, or bytes where the URL has plain text."""

    media_type: str
    content: bytes | str


def read_data_url(url: str) -> DataURL | None:
    """What a ``data:`` URL holds; None if *url* is none."""
    found = _DATA_URL.fullmatch(url)
    if found is None:
        return None
    media_type = found["type"].strip() or "text/plain"
    if found["settings"].lower().rstrip().endswith(";base64"):
        return DataURL(media_type=media_type, content=found["content"])
    return DataURL(media_type=media_type, content=unquote_to_bytes(found["content"]))
