"""Files of a prompt on their way out: what type they are, and their content in the form that a server takes. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import InvalidPromptError, UnsupportedFunctionalityError
from onion.spec.content import File
from onion.spec.prompt import FileData, FileURL

if TYPE_CHECKING:
    from onion.spec.base import ProviderMetadata
    from onion.spec.prompt import FilePart, FileReference, ReasoningFilePart

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"BM", 0, "image/bmp"),
    (b"II*\0", 0, "image/tiff"),
    (b"MM\0*", 0, "image/tiff"),
    (b"ftypavif", 4, "image/avif"),
    (b"ftypheic", 4, "image/heic"),
    (b"WAVE", 8, "audio/wav"),
    (b"ID3", 0, "audio/mpeg"),
    (b"\xff\xfb", 0, "audio/mpeg"),
    (b"fLaC", 0, "audio/flac"),
    (b"OggS", 0, "audio/ogg"),
    (b"\x1aE\xdf\xa3", 0, "video/webm"),
    (b"ftyp", 4, "video/mp4"),
    (b"%PDF-", 0, "application/pdf"),
)
"""The first bytes of common files, by offset (IANA media types; WHATWG MIME Sniffing, read 2026-11-30)."""

_LONGEST_SIGNATURE = 16
_GUESSES = {"image": "image/jpeg", "audio": "audio/wav", "video": "video/mp4", "text": "text/plain"}
_TEXTS = frozenset({"application/json", "application/xml", "application/yaml", "application/x-yaml"})


def sniff(head: bytes) -> str | None:
    """The media type that the first bytes of a file show."""
    for signature, offset, media_type in _SIGNATURES:
        if head.startswith(signature, offset):
            return media_type
    return None


def media_type_of(part: FilePart | ReasoningFilePart) -> str:
    """The media type of a file; a wildcard is resolved from the content, or guessed.

    Raises:
        InvalidPromptError: When the content is not what it is said to be.
    """
    given = part.media_type.partition(";")[0].strip().lower()
    kind, _, subtype = given.partition("/")
    if subtype not in ("", "*"):
        return given
    found = sniff(_head(part.data)) if isinstance(part.data, FileData) else None
    if found is not None and kind in ("*", found.partition("/")[0]):
        return found
    return _GUESSES.get(kind, given)


def is_text(media_type: str) -> bool:
    """Whether files of that type are text to be read."""
    return media_type.startswith("text/") or media_type in _TEXTS


def base64_of(content: FileData) -> str:
    """The content as base64 text."""
    return content.data if isinstance(content.data, str) else base64.b64encode(content.data).decode()


def data_url(content: FileData, media_type: str) -> str:
    """The content as a data URL (RFC 2397)."""
    return f"data:{media_type};base64,{base64_of(content)}"


def text_of(content: FileData, media_type: str) -> str:
    """The content as text.

    Raises:
        InvalidPromptError: When it is no text in UTF-8.
    """
    raw = content.data if isinstance(content.data, bytes) else _decoded(content.data)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"a file of type {media_type} is not UTF-8 text: decode it, and give it as text"
        raise InvalidPromptError(msg) from error


def reference_id(content: FileReference, provider: str) -> str:
    """The id under which *provider* knows a file that was uploaded to it.

    Raises:
        UnsupportedFunctionalityError: When it was uploaded to another one.
    """
    reference = content.reference
    found = reference.get(provider) if isinstance(reference, Mapping) else reference
    if not isinstance(found, str) or not found:
        raise UnsupportedFunctionalityError.of("a file that was uploaded to another provider", provider=provider)
    return found


def image_at(url: str, metadata: ProviderMetadata | None = None) -> File:
    """An image that a model made; a data URL is taken apart."""
    if not url.startswith("data:"):
        return File(media_type="image/*", data=FileURL(url=url), provider_metadata=metadata)
    head, _, content = url.removeprefix("data:").partition(",")
    media_type = head.partition(";")[0] or "image/png"
    return File(media_type=media_type, data=FileData(data=content), provider_metadata=metadata)


def _head(content: FileData) -> bytes:
    if isinstance(content.data, bytes):
        return content.data[:_LONGEST_SIGNATURE]
    return _decoded(content.data[: _LONGEST_SIGNATURE * 2])  # a multiple of 4: whole groups of base64


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError) as error:
        msg = f"the data of a file is not base64: {text[:20]!r}: give bytes, or base64 text"
        raise InvalidPromptError(msg) from error
