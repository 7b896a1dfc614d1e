"""Files of a prompt as parts of the Gemini API."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from onion.providers._media import base64_of, media_type_of, reference_id
from onion.providers.google.names import NAME
from onion.spec.prompt import FileData, FileText, FileURL

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.prompt import FilePart, ReasoningFilePart

_ANY = ("", "*", "*/*")


def file_part(part: FilePart | ReasoningFilePart) -> dict[str, JsonValue]:
    """The part that carries the content of *part*: bytes inline, everything else by its address.

    Raises:
        UnsupportedFunctionalityError: When it was uploaded to another provider.
        InvalidPromptError: When its content is not what it is said to be.
    """
    content = part.data
    if isinstance(content, FileText):
        data = base64.b64encode(content.text.encode()).decode()
        return {"inlineData": {"mimeType": "text/plain", "data": data}}
    if isinstance(content, FileData):
        return {"inlineData": {"mimeType": media_type_of(part), "data": base64_of(content)}}
    address = content.url if isinstance(content, FileURL) else reference_id(content, NAME)
    kind: dict[str, JsonValue] = {"mimeType": media_type_of(part)} if part.media_type not in _ANY else {}
    return {"fileData": {**kind, "fileUri": address}}
