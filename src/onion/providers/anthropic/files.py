"""Files of a prompt as images and documents of the Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import UnsupportedFunctionalityError
from onion.providers._media import base64_of, is_text, media_type_of, reference_id, text_of
from onion.providers.anthropic.names import NAME, own_options
from onion.spec.prompt import FileReference, FileText, FileURL

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.prompt import FilePart

PDF = "application/pdf"
_DOCUMENT_OPTIONS = ("title", "context", "citations")


def file_block(part: FilePart) -> dict[str, JsonValue]:
    """The content block that carries *part*.

    Our options for a file are ``title``, ``context`` and ``citations`` of a document, and ``containerUpload``, which
    puts a file that was uploaded before into the container of the code execution tool.

    Raises:
        UnsupportedFunctionalityError: When the API has no word for such a file.
        InvalidPromptError: When its content is not what it is said to be.
    """
    options = own_options(part.provider_options)
    if isinstance(part.data, FileReference) and options.get("container_upload"):
        return {"type": "container_upload", "file_id": reference_id(part.data, NAME)}
    media_type = media_type_of(part)
    source = _source(part, media_type)
    if media_type.startswith("image/") and not isinstance(part.data, FileText):
        return {"type": "image", "source": source}
    block: dict[str, JsonValue] = {"type": "document", "source": source}
    if part.filename:
        block["title"] = part.filename
    block |= {key: options[key] for key in _DOCUMENT_OPTIONS if options.get(key) is not None}
    return block


def _source(part: FilePart, media_type: str) -> dict[str, JsonValue]:
    content = part.data
    if isinstance(content, FileText):
        return {"type": "text", "media_type": "text/plain", "data": content.text}
    if isinstance(content, FileReference):
        return {"type": "file", "file_id": reference_id(content, NAME)}
    is_binary = media_type.startswith("image/") or media_type == PDF
    if isinstance(content, FileURL) and is_binary:
        return {"type": "url", "url": content.url}
    if isinstance(content, FileURL) or not (is_binary or is_text(media_type)):
        place = " by URL" if isinstance(content, FileURL) else ""
        raise UnsupportedFunctionalityError.of(f"files of type {media_type}{place}", provider=NAME)
    if is_binary:
        return {"type": "base64", "media_type": media_type, "data": base64_of(content)}
    return {"type": "text", "media_type": "text/plain", "data": text_of(content, media_type)}
