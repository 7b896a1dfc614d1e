"""Files of a prompt as content parts of the Responses API."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from onion.errors import UnsupportedFunctionalityError
from onion.providers._json import NOTHING
from onion.providers._media import data_url, is_text, media_type_of, reference_id, text_of
from onion.spec.prompt import FileData, FileReference, FileText, FileURL, TextPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec.base import JsonValue, ProviderOptions
    from onion.spec.prompt import FilePart


def content_parts(parts: Sequence[TextPart | FilePart], name: str) -> list[JsonValue]:
    """The content of a message or of a tool's output.

    Args:
        parts: In their order.
        name: Key of the provider options.

    Raises:
        UnsupportedFunctionalityError: When the API has no word for a file.
        InvalidPromptError: When the content of one is not what it is said to be.
    """
    return [_part(part, name, number) for number, part in enumerate(parts)]


def _part(part: TextPart | FilePart, name: str, number: int) -> JsonValue:
    options = dict(own_options(part.provider_options, name))
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text, **options}
    converted = file_part(part, name, number)
    detail = options.pop("image_detail", None)
    if detail is not None and converted["type"] == "input_image":
        converted["detail"] = detail
    return {**converted, **options}


def own_options(options: ProviderOptions | None, name: str) -> dict[str, JsonValue]:
    """The options under *name*, without what says where a part came from."""
    return dict((options or {}).get(name, NOTHING))


def file_part(part: FilePart, name: str, number: int) -> dict[str, JsonValue]:
    """The content part that carries *part*; *number* names it where it has no name."""
    content = part.data
    media_type = media_type_of(part)
    is_image = media_type.startswith("image/")
    match content:
        case FileText():
            return {"type": "input_text", "text": content.text}
        case FileReference():
            kind = "input_image" if is_image else "input_file"
            return {"type": kind, "file_id": reference_id(content, name)}
        case FileData() if is_text(media_type):
            return {"type": "input_text", "text": text_of(content, media_type)}
        case FileURL() | FileData() if media_type.partition("/")[0] in ("audio", "video"):
            raise UnsupportedFunctionalityError.of(f"files of type {media_type}", provider=name)
        case FileURL():
            return (
                {"type": "input_image", "image_url": content.url}
                if is_image
                else {"type": "input_file", "file_url": content.url}
            )
        case FileData():
            address = data_url(content, media_type)
            if is_image:
                return {"type": "input_image", "image_url": address}
            ending = media_type.rpartition("/")[2]
            return {"type": "input_file", "filename": part.filename or f"file-{number}.{ending}", "file_data": address}
        case _:
            assert_never(content)
