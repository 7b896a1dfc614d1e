"""Files of a prompt as content parts of the chat format."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from onion.errors import UnsupportedFunctionalityError
from onion.providers._media import base64_of, data_url, is_text, media_type_of, reference_id, text_of
from onion.spec.prompt import FileData, FileReference, FileText, FileURL

if TYPE_CHECKING:
    from onion.providers._chat.dialect import ChatDialect
    from onion.spec.base import JsonValue
    from onion.spec.prompt import FilePart

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
        return {"type": "file", "file": {"file_id": reference_id(content, dialect.name)}}
    media_type = media_type_of(part)
    kind = media_type.partition("/")[0]
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": _address(content, media_type)}}
    if is_text(media_type):
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


def _address(content: FileData | FileURL, media_type: str) -> str:
    match content:
        case FileURL():
            return content.url
        case FileData():
            return data_url(content, media_type)
        case _:
            assert_never(content)


def _text(content: FileData | FileURL, media_type: str, dialect: ChatDialect) -> str:
    if isinstance(content, FileURL):
        raise UnsupportedFunctionalityError.of(f"files of type {media_type} by URL", provider=dialect.name)
    return text_of(content, media_type)


def _audio(content: FileData | FileURL, media_type: str, dialect: ChatDialect) -> dict[str, JsonValue]:
    if isinstance(content, FileURL):
        raise UnsupportedFunctionalityError.of("audio by URL", provider=dialect.name)
    if media_type not in _AUDIO_FORMATS:
        raise UnsupportedFunctionalityError.of(f"audio of type {media_type}", provider=dialect.name)
    return {"data": base64_of(content), "format": _AUDIO_FORMATS[media_type]}
