"""What else a message of the chat format may hold: sources, images, speech, and tools that the server ran."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from onion.errors import TypeValidationError
from onion.providers._json import count_in, object_in, objects_in, text_in
from onion.providers._media import image_at, sniff
from onion.spec.content import File, ToolCall, ToolResult, URLSource
from onion.spec.prompt import FileData

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_PCM = "audio/pcm"
"""What speech is that shows no type of its own: streams carry raw samples."""


class Extras:
    """Collects the further content of one answer.

    Args:
        name: Key of the provider metadata.
        generate_id: Gives ids to what has none.
    """

    def __init__(self, name: str, generate_id: Callable[[], str]) -> None:
        self._name = name
        self._generate_id = generate_id
        self._sources = 0
        self._cited: dict[str, str | None] = {}
        self._speech = bytearray()
        self._speech_id = ""
        self._run: dict[int, str] = {}
        self._answered: set[int] = set()
        self.annotations: list[JsonValue] = []
        """Annotations that are no sources."""

    def add_annotations(self, message: JsonObject, parts: list[StreamPart]) -> None:
        """Web pages that the text cites."""
        for annotation in objects_in(message, "annotations"):
            cited = object_in(annotation, "url_citation")
            url = text_in(cited, "url")
            if url:
                places = {
                    key: found for key in ("start_index", "end_index") if (found := count_in(cited, key)) is not None
                }
                parts.append(self._source(url, text_in(cited, "title") or None, places))
            else:
                self.annotations.append(annotation)

    def note_citations(self, chunk: JsonObject) -> None:
        """Pages that an answer rests on as a whole (Perplexity), which come again with every chunk."""
        for result in objects_in(chunk, "search_results"):
            self._cited[text_in(result, "url")] = text_in(result, "title") or None
        citations = chunk.get("citations")
        for url in citations if isinstance(citations, list) else ():
            if isinstance(url, str):
                self._cited.setdefault(url, None)

    def add_images(self, message: JsonObject, parts: list[StreamPart]) -> None:
        """Images that the model made (OpenRouter, "Image generation")."""
        for image in objects_in(message, "images"):
            url = text_in(object_in(image, "image_url"), "url")
            if url:
                parts.append(image_at(url))

    def add_speech(self, audio: JsonObject) -> None:
        """Speech, whole or in pieces; each piece is base64 of its own.

        Raises:
            TypeValidationError: When it is not.
        """
        self._speech_id = self._speech_id or text_in(audio, "id")
        self._speech += _decoded(text_in(audio, "data"))

    def add_runs(self, message: JsonObject, parts: list[StreamPart]) -> None:
        """Tools that the server ran (Groq): call and result, which a stream may bring apart."""
        for position, run in enumerate(objects_in(message, "executed_tools")):
            index = count_in(run, "index")
            number = position if index is None else index
            kind = text_in(run, "type")
            if number not in self._run:
                self._run[number] = self._generate_id()
                arguments = text_in(run, "arguments") or "{}"
                parts.append(
                    ToolCall(
                        tool_call_id=self._run[number],
                        tool_name=kind,
                        input=arguments,
                        provider_executed=True,
                        dynamic=True,
                    )
                )
            rest = {key: found for key, found in run.items() if key not in ("index", "type", "arguments")}
            if number not in self._answered and rest.get("output") is not None:
                self._answered.add(number)
                parts.append(ToolResult(tool_call_id=self._run[number], tool_name=kind, result=rest, dynamic=True))

    def end(self, parts: list[StreamPart]) -> None:
        """What is known only at the end."""
        if self._speech:
            told: dict[str, JsonObject] | None = (
                {self._name: {"audio_id": self._speech_id}} if self._speech_id else None
            )
            speech = bytes(self._speech)
            content = FileData(data=base64.b64encode(speech).decode())
            parts.append(File(media_type=sniff(speech[:16]) or _PCM, data=content, provider_metadata=told))
        parts += [self._source(url, title, {}) for url, title in self._cited.items() if url]

    def _source(self, url: str, title: str | None, places: dict[str, int]) -> URLSource:
        self._sources += 1
        return URLSource(
            id=f"source-{self._sources}",
            url=url,
            title=title,
            provider_metadata={self._name: places} if places else None,
        )


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError) as error:
        msg = f"the server sent speech that is not base64: {text[:20]!r}"
        raise TypeValidationError(msg, value=text) from error
