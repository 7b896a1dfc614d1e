"""Files of a prompt as content parts of the chat format, and what bytes say of their own type."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from onion.errors import InvalidPromptError, UnsupportedFunctionalityError
from onion.spec.prompt import FileData, FileReference, FileText, FileURL

if TYPE_CHECKING:
    from onion.providers._chat.dialect import ChatDialect
    from onion.spec.base import JsonValue
    from onion.spec.prompt import FilePart

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
_AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/opus": "opus",
    "audio/aac": "aac",
    "audio/mp4": "m4a",
}
_TEXTS = frozenset({"application/json", "application/xml", "application/yaml", "application/x-yaml"})


def sniff(head: bytes) -> str | None:
    """The media type that the first bytes of a file show."""
    for signature, offset, media_type in _SIGNATURES:
        if head.startswith(signature, offset):
            return media_type
    return None


def file_part(part: FilePart, dialect: ChatDialect, *, number: int) -> dict[str, JsonValue]:
    """The content part that carries *part*; *number* names it where it has no name.

    Raises:
        UnsupportedFunctionalityError: When the format has no word for such a file.
        InvalidPromptError: When its content is not what it is said to be.
    """
    content = part.data
    if isinstance(content, FileText):
        return {"type": "text", "text": content.text}
    if isinstance(content, FileReference):
        return {"type": "file", "file": {"file_id": _file_id(content, dialect)}}
    media_type = _media_type(part)
    kind = media_type.partition("/")[0]
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": _address(content, media_type)}}
    if kind == "text" or media_type in _TEXTS:
        return {"type": "text", "text": _text(content, media_type, dialect)}
    if kind == "audio":
        return {"type": "input_audio", "input_audio": _audio(content, media_type, dialect)}
    if kind == "video" and dialect.takes_video:
        return {"type": "video_url", "video_url": {"url": _address(content, media_type)}}
    if media_type == "application/pdf" and (dialect.takes_file_urls or isinstance(content, FileData)):
        name = part.filename or f"file-{number}.pdf"
        return {"type": "file", "file": {"filename": name, "file_data": _address(content, media_type)}}
    place = " by URL" if isinstance(content, FileURL) else ""
    raise UnsupportedFunctionalityError.of(f"files of type {media_type}{place}", provider=dialect.name)


def _media_type(part: FilePart) -> str:
    given = part.media_type.partition(";")[0].strip().lower()
    kind, _, subtype = given.partition("/")
    if subtype not in ("", "*"):
        return given
    found = sniff(_head(part.data)) if isinstance(part.data, FileData) else None
    if found is not None and kind in ("*", found.partition("/")[0]):
        return found
    return _GUESSES.get(kind, given)


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


def _base64(content: FileData) -> str:
    return content.data if isinstance(content.data, str) else base64.b64encode(content.data).decode()


def _address(content: FileData | FileURL, media_type: str) -> str:
    match content:
        case FileURL():
            return content.url
        case FileData():
            return f"data:{media_type};base64,{_base64(content)}"
        case _:
            assert_never(content)


def _text(content: FileData | FileURL, media_type: str, dialect: ChatDialect) -> str:
    if isinstance(content, FileURL):
        raise UnsupportedFunctionalityError.of(f"files of type {media_type} by URL", provider=dialect.name)
    raw = content.data if isinstance(content.data, bytes) else _decoded(content.data)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"a file of type {media_type} is not UTF-8 text: decode it, and give it as text"
        raise InvalidPromptError(msg) from error


def _audio(content: FileData | FileURL, media_type: str, dialect: ChatDialect) -> dict[str, JsonValue]:
    if isinstance(content, FileURL):
        raise UnsupportedFunctionalityError.of("audio by URL", provider=dialect.name)
    if media_type not in _AUDIO_FORMATS:
        raise UnsupportedFunctionalityError.of(f"audio of type {media_type}", provider=dialect.name)
    return {"data": _base64(content), "format": _AUDIO_FORMATS[media_type]}


def _file_id(content: FileReference, dialect: ChatDialect) -> JsonValue:
    reference = content.reference
    found = reference.get(dialect.name) if isinstance(reference, Mapping) else reference
    if not isinstance(found, str) or not found:
        raise UnsupportedFunctionalityError.of("a file that was uploaded to another provider", provider=dialect.name)
    return found
