"""Reads messages as users write them: values of the contract, or plain dicts with shorthands.

Everything here raises TypeValidationError, with the place of the fault.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard, TypeVar, Union, get_args

from onion.errors import TypeValidationError
from onion.loop.media import full_media_type, read_data_url
from onion.spec.decoding import decoder, fail
from onion.spec.prompt import (
    AssistantMessage,
    AssistantPart,
    ContentOutput,
    CustomPart,
    FileContent,
    FileData,
    FilePart,
    FileURL,
    Message,
    ReasoningFilePart,
    SystemMessage,
    TextPart,
    ToolMessage,
    ToolMessagePart,
    ToolResultOutput,
    ToolResultPart,
    UserMessage,
    UserPart,
)

T = TypeVar("T")
_Members: TypeAlias = dict[str, object]

_OUTPUTS: tuple[type[ToolResultOutput], ...] = get_args(ToolResultOutput)
_FILE_CONTENTS: tuple[type[FileContent], ...] = get_args(FileContent)
_ROLES: Mapping[str, type[Message]] = {
    kind.role: kind for kind in (SystemMessage, UserMessage, AssistantMessage, ToolMessage)
}
_PARTS: Mapping[str, object] = {"user": UserPart, "assistant": AssistantPart, "tool": ToolMessagePart}
_OUTPUT_PART: TypeAlias = TextPart | FilePart | CustomPart
_WITH_INSIDES = (FilePart, ReasoningFilePart, ToolResultPart)
"""Parts that may hold a shorthand even when they are values already."""
_FILE_TAGS = frozenset({"file", "reasoning-file", "image"})
_ANY_MEDIA = "*/*"
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_BASE64_START = re.compile(r"[A-Za-z0-9+/_=\s-]{1,64}")


def read_message(data: object, place: str) -> Message:
    """The message that *data* is or describes; its content may be text, its files any of `read_file`'s forms."""
    members = _members(data, place)
    role = members.get("role")
    kind = _ROLES.get(role) if isinstance(role, str) else None
    if kind is None:
        raise fail(f"{place}.role", f"one of {', '.join(map(repr, _ROLES))}", role)
    if kind is not SystemMessage:
        members["content"] = _parts(members.get("content"), f"{place}.content", kind.role)
    return _decoded((kind,), members, place)


def read_output(data: object, place: str) -> ToolResultOutput:
    """The tool result output that *data* is or describes."""
    if isinstance(data, _OUTPUTS) and not isinstance(data, ContentOutput):
        return data
    members = _members(data, place)
    if members.get("type") == "content":
        items = read_list(members.get("value"), f"{place}.value", "a list of parts")
        members["value"] = [_part(item, f"{place}.value[{i}]", _OUTPUT_PART) for i, item in enumerate(items)]
    return _decoded(_OUTPUTS, members, place)


def read_list(data: object, place: str, wanted: str) -> Sequence[object]:
    """The list or tuple that *data* is."""
    if _is_list(data):
        return data
    raise fail(place, wanted, data)


def _is_list(data: object) -> TypeGuard[Sequence[object]]:
    return isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray | memoryview)


def _is_mapping(data: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(data, Mapping)


def _members(data: object, place: str) -> _Members:
    """The members of a mapping or of a value of the contract, in a new dict."""
    if _is_mapping(data):
        return {str(name): member for name, member in data.items()}
    if not dataclasses.is_dataclass(data) or isinstance(data, type):
        raise fail(place, "a mapping or a value of onion.spec", data)
    tags = {tag: getattr(data, tag) for tag in ("role", "type") if hasattr(data, tag)}
    return tags | {field.name: getattr(data, field.name) for field in dataclasses.fields(data)}


def _decoded(kinds: tuple[type[T], ...], data: object, place: str) -> T:
    union: object = Union[kinds]  # noqa: UP007  # how many there are is not known here
    decoded: T = decoder(union)(data, place)  # type: ignore[assignment]  # it was built for these kinds
    return decoded


def _parts(content: object, place: str, role: str) -> list[object]:
    takes_text = role != "tool"
    if isinstance(content, str) and takes_text:
        return [TextPart(text=content)] if content else []
    parts = read_list(content, place, "a text or a list of parts" if takes_text else "a list of parts")
    return [_part(part, f"{place}[{index}]", _PARTS[role]) for index, part in enumerate(parts)]


def _part(data: object, place: str, kind: object) -> object:
    if isinstance(data, get_args(kind)) and not isinstance(data, _WITH_INSIDES):
        return data
    members = _members(data, place)
    tag = members.get("type")
    if tag in _FILE_TAGS:
        members = read_file(members, place)
    elif tag == "tool-result" and "output" in members:
        members["output"] = read_output(members["output"], f"{place}.output")
    return decoder(kind)(members, place)


def read_file(members: Mapping[str, object], place: str) -> _Members:
    """The members of a file part, with its content in the contract's form and its media type as the bytes say.

    The content may be bytes, base64 text, a URL, a ``data:`` URL, a tagged mapping or a value. An ``image`` part, whose
    content is called ``image``, becomes a file.
    """
    read = dict(members)
    declared = read.pop("mediaType", read.pop("media_type", None))
    if read["type"] == "image":
        read["type"] = "file"
        read["data"] = read.pop("image", read.get("data"))
        declared = declared or "image/*"
    content, found = _content(read.get("data"), f"{place}.data")
    if isinstance(content, FileData):
        stated = found or declared or _ANY_MEDIA
        media_type = full_media_type(stated, content.data) if isinstance(stated, str) else stated
        declared = None if media_type == _ANY_MEDIA else media_type
    read["data"] = content
    return read if declared is None else {**read, "mediaType": declared}


def _content(data: object, place: str) -> tuple[FileContent, str | None]:
    """The content of a file, and its media type if the content itself names one."""
    if isinstance(data, bytes | bytearray):
        return FileData(data=bytes(data)), None
    if isinstance(data, str):
        return _text_content(data, place)
    if not _is_mapping(data) and not isinstance(data, _FILE_CONTENTS):
        raise fail(place, "bytes, base64 text, a URL or a mapping with a type", data)
    content = _decoded(_FILE_CONTENTS, data, place)
    text = content.data if isinstance(content, FileData) else content.url if isinstance(content, FileURL) else ""
    return _text_content(text, place) if isinstance(text, str) and text[:5].lower() == "data:" else (content, None)


def _text_content(text: str, place: str) -> tuple[FileData | FileURL, str | None]:
    if data_url := read_data_url(text):
        return FileData(data=data_url.content), data_url.media_type
    if _URL.match(text):
        return FileURL(url=text), None
    if _BASE64_START.fullmatch(text[:64]):
        return FileData(data=text), None
    msg = f"{place} is a text that is neither base64 nor a URL: open the file and give its bytes"
    raise TypeValidationError(msg, value=text)
