"""Chunks of a streamed answer as stream parts. Pure; a complete answer is one big chunk to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onion.providers._chat.assistant import THINKING_PARTS
from onion.providers._chat.blocks import Blocks
from onion.providers._chat.calls import CallAssembler
from onion.providers._chat.envelope import Envelope
from onion.providers._chat.extras import Extras
from onion.providers._json import NOTHING, object_in, objects_in, text_in
from onion.providers._tooling import random_call_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers._model import Progress
    from onion.spec.base import JsonObject
    from onion.spec.parts import FinishPart, StreamPart

_REASONING_FIELDS = ("reasoning_content", "reasoning")
_REASONING = frozenset({*_REASONING_FIELDS, "reasoning_details"})
_REASONING_TEXTS = ("text", "summary")
_EXTRAS = frozenset({"annotations", "images", "audio", "executed_tools", "extra_content", "function_call"})


class ChunkReader:
    """Reads the chunks of one answer.

    Args:
        name: Key of the provider metadata: the name under which the next request finds it again.
        generate_id: Gives ids to calls that come without.
        is_whole: The one chunk is a completion.
    """

    unfinished: ClassVar[str] = (
        "the stream ended without a finish reason and without [DONE]: nobody knows whether the answer is whole"
    )
    ends_at_done: ClassVar[bool] = True

    def __init__(self, name: str, *, generate_id: Callable[[], str] = random_call_id, is_whole: bool = False) -> None:
        self._is_whole = is_whole
        self._blocks = Blocks(name)
        self._calls = CallAssembler(name, generate_id)
        self._extras = Extras(name, generate_id)
        self._envelope = Envelope(name)
        self._told: JsonObject = NOTHING

    @property
    def is_finished(self) -> bool:
        """Whether a finish reason has come."""
        return self._is_whole or self._envelope.raw_reason is not None

    def read(self, found: JsonObject, parts: list[StreamPart], progress: Progress) -> None:
        """Take one chunk, or a completion.

        Raises:
            TypeValidationError: When its content cannot be read at all.
        """
        self._envelope.read(found, parts)
        if "citations" in found or "search_results" in found:
            self._extras.note_citations(found)
        choices = found.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):  # of several answers the first
                self._envelope.read_choice(choice)
                message = choice.get("delta") or choice.get("message")
                if isinstance(message, dict):
                    self._read(message, parts)
        if found.get("error") or found.get("object") == "error":
            progress.report(found, found.get("error") or found)

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The answer is over: end what is open, and hand out what waited for the end."""
        self._blocks.end(parts, told=NOTHING if self._calls else self._told)
        if is_whole:
            self._calls.end(parts, told=self._told)
            self._extras.end(parts)
        else:
            self._calls.abandon(parts)

    def finish(self, *, failed: bool) -> FinishPart:
        """The last part of the answer."""
        if self._told:
            self._envelope.metadata |= self._told
        if self._extras.annotations:
            self._envelope.metadata["annotations"] = self._extras.annotations
        return self._envelope.finish(has_calls=bool(self._calls), is_refusal=self._blocks.is_refusal, failed=failed)

    def _read(self, message: JsonObject, parts: list[StreamPart]) -> None:
        content = message.get("content")
        if len(message) == 1 and content and isinstance(content, str):  # nearly all: cheap
            self._blocks.add_text(content, parts)
            return
        if not _REASONING.isdisjoint(message):
            self._read_reasoning(message, parts)
        if isinstance(content, str):
            if content:
                self._blocks.add_text(content, parts)
        elif isinstance(content, list):
            self._read_items(objects_in(message, "content"), parts)
        refusal = text_in(message, "refusal")
        if refusal:
            self._blocks.add_text(refusal, parts, "refusal")
        if message.get("tool_calls"):
            self._blocks.close(parts)
            for fragment in objects_in(message, "tool_calls"):
                self._calls.feed(fragment, parts, is_whole=self._is_whole)
        if not _EXTRAS.isdisjoint(message):
            self._read_extras(message, parts)

    def _read_reasoning(self, message: JsonObject, parts: list[StreamPart]) -> None:
        """Reasoning may be there twice, as text and in the details: the text is read, the details are kept."""
        field = next((field for field in _REASONING_FIELDS if text_in(message, field)), "")
        details = objects_in(message, "reasoning_details") if "reasoning_details" in message else []
        text = text_in(message, field) if field else "".join(map(_detail_text, details))
        if text:
            self._blocks.add_reasoning(text, parts, field)
        if details:
            self._blocks.add_details(details, parts, is_whole=self._is_whole)

    def _read_items(self, items: list[JsonObject], parts: list[StreamPart]) -> None:
        """Content as a list (Mistral)."""
        for item in items:
            thinking = item.get("thinking")
            text = (
                thinking
                if isinstance(thinking, str)
                else "".join(text_in(piece, "text") for piece in objects_in(item, "thinking"))
            )
            if text:
                self._blocks.add_reasoning(text, parts, THINKING_PARTS)
            said = text_in(item, "text")
            if said:
                self._blocks.add_text(said, parts)
            if item.get("type") == "image_url":
                self._extras.add_images({"images": [item]}, parts)

    def _read_extras(self, message: JsonObject, parts: list[StreamPart]) -> None:
        self._extras.add_annotations(message, parts)
        if message.get("images") or message.get("executed_tools"):
            self._blocks.close(parts)
            self._extras.add_images(message, parts)
            self._extras.add_runs(message, parts)
        audio = object_in(message, "audio")
        if audio:
            spoken = text_in(audio, "transcript")
            if spoken:
                self._blocks.add_text(spoken, parts)
            self._extras.add_speech(audio)
        call = object_in(message, "function_call")  # how tools were called before 2023-11
        if text_in(call, "name") or text_in(call, "arguments"):
            self._blocks.close(parts)
            self._calls.feed({"function": call}, parts)
        extra = object_in(message, "extra_content")
        if extra:
            self._told = {"extra_content": extra}


def _detail_text(detail: JsonObject) -> str:
    return next((text for key in _REASONING_TEXTS if (text := text_in(detail, key))), "")
