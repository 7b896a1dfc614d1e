"""Citations of the Responses API as sources, and files that its tools made."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from onion.providers._json import objects_in, text_in
from onion.providers._media import image_at, sniff
from onion.providers.openai_responses.items import ITEM_ID
from onion.spec.content import DocumentSource, File, URLSource
from onion.spec.prompt import FileData

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

_DOCUMENT_TYPES = {
    "file_citation": "text/plain",
    "container_file_citation": "application/octet-stream",
    "file_path": "application/octet-stream",
}
"""Citations of files, and what type such a file is taken to be: the API does not say."""
_HEAD_CHARACTERS = 32
"""A multiple of 4: whole groups of base64."""


def source_of(annotation: JsonObject, source_id: str, name: str) -> URLSource | DocumentSource | None:
    """The source that *annotation* cites; None for annotations of other types, which stay with their text.

    Args:
        annotation: One entry of ``annotations``.
        source_id: The id to give it.
        name: Key of the provider metadata.
    """
    kind = text_in(annotation, "type")
    url = text_in(annotation, "url")
    if kind == "url_citation" and url:
        told = {key: found for key, found in annotation.items() if key not in ("type", "url", "title")}
        return URLSource(
            id=source_id,
            url=url,
            title=text_in(annotation, "title") or None,
            provider_metadata={name: told} if told else None,
        )
    if kind not in _DOCUMENT_TYPES:
        return None
    filename = text_in(annotation, "filename") or None
    return DocumentSource(
        id=source_id,
        media_type=_DOCUMENT_TYPES[kind],
        title=filename or text_in(annotation, "file_id") or kind,
        filename=filename,
        provider_metadata={name: {key: found for key, found in annotation.items() if key != "filename"}},
    )


def files_of(item: JsonObject, name: str) -> list[File]:
    """The images that a tool made, from the item that holds its result."""
    told = {name: {ITEM_ID: text_in(item, "id")}}
    if item.get("type") == "image_generation_call":
        image = text_in(item, "result")
        if not image:
            return []
        media_type = sniff(_head(image)) or f"image/{text_in(item, 'output_format') or 'png'}"
        return [File(media_type=media_type, data=FileData(data=image), provider_metadata=told)]
    urls = [text_in(output, "url") for output in objects_in(item, "outputs")]
    return [image_at(url, told) for url in urls if url.startswith("data:")]


def _head(image: str) -> bytes:
    try:
        return base64.b64decode(image[:_HEAD_CHARACTERS])
    except (binascii.Error, ValueError):
        return b""
