"""The parts of an answer's content, in their order: what kind each is, and where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.providers.google.blocks import Block
from onion.providers.google.calls import Calls
from onion.providers.google.names import NAME, beside
from onion.spec.content import Custom, File, ReasoningFile
from onion.spec.prompt import FileData, FileURL

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers.google.toolbox import Toolbox
    from onion.spec.base import JsonObject
    from onion.spec.parts import StreamPart

_UNKNOWN_MEDIA = "application/octet-stream"
_SERVER_CALLS = ("toolCall", "executableCode")
_SERVER_RESULTS = ("toolResponse", "codeExecutionResult")


class Reader:
    """Reads the parts of one answer.

    Args:
        toolbox: The tools of the call.
        generate_id: Gives the ids of calls that the server gave none.
    """

    def __init__(self, toolbox: Toolbox, generate_id: Callable[[], str]) -> None:
        self._calls = Calls(toolbox, generate_id)
        self._block: Block | None = None
        self._count = 0
        self._texts: list[str] = []

    @property
    def has_calls(self) -> bool:
        """The answer holds calls of the caller's tools."""
        return self._calls.has_calls

    @property
    def text(self) -> str:
        """The text of the answer so far."""
        return "".join(self._texts)

    def read(self, part: JsonObject, parts: list[StreamPart]) -> None:
        """One part of the content; a text may go on where the last one stopped."""
        text = part.get("text")
        if isinstance(text, str):
            self._read_text(text, part, parts)
            return
        self._close({}, parts)
        kind = next((key for key in part if isinstance(part[key], dict) and key not in _BESIDE), "")
        inner, told = object_in(part, kind), beside(part)
        if kind == "functionCall":
            self._calls.read(inner, told, parts)
            return
        self._calls.end(parts, is_whole=True)
        if kind in _SERVER_CALLS:
            self._calls.read_server_call(kind, inner, told, parts)
        elif kind in _SERVER_RESULTS:
            self._calls.read_server_result(kind, inner, told, parts)
        elif kind in ("inlineData", "fileData"):
            parts.append(_file(kind, inner, told))
        elif part:
            parts.append(Custom(kind=f"{NAME}.{kind or 'unknown'}", provider_metadata={NAME: {"part": part}}))

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The answer is over: end what is open."""
        self._close({}, parts)
        self._calls.end(parts, is_whole=is_whole)

    def _read_text(self, text: str, part: JsonObject, parts: list[StreamPart]) -> None:
        """Text or reasoning. A signature ends its block: it belongs to what stood before, as one part."""
        told = beside(part) if len(part) > 1 else {}
        is_thought = told.pop("thought", None) is True
        if not text and not told:
            return
        if self._calls.is_open:
            self._calls.end(parts, is_whole=True)
        if self._block is None or self._block.is_thought is not is_thought:
            self._close({}, parts)
            self._block = Block(str(self._count), parts, is_thought=is_thought)
            self._count += 1
        if text:
            said = self._block.say(text, parts)
            if not is_thought:
                self._texts.append(said)
        if told:
            self._close(told, parts)

    def _close(self, told: JsonObject, parts: list[StreamPart]) -> None:
        if self._block is not None:
            self._block.end(told, parts)
            self._block = None


_BESIDE = ("partMetadata", "mediaResolution", "videoMetadata")
"""Objects that stand beside the content of a part."""


def _file(kind: str, inner: JsonObject, told: JsonObject) -> File | ReasoningFile:
    media_type = text_in(inner, "mimeType") or _UNKNOWN_MEDIA
    data = FileData(data=text_in(inner, "data")) if kind == "inlineData" else FileURL(url=text_in(inner, "fileUri"))
    make = ReasoningFile if told.get("thought") is True else File
    return make(media_type=media_type, data=data, provider_metadata={NAME: told} if told else None)
