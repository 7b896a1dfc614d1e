"""Chunks of a streamed answer as stream parts. Pure; a complete answer is one big chunk to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import JSONParseError, StreamInterruptedError, StreamProviderError, TypeValidationError
from onion.providers._chat.assistant import THINKING_PARTS
from onion.providers._chat.blocks import Blocks
from onion.providers._chat.calls import CallAssembler
from onion.providers._chat.envelope import Envelope
from onion.providers._chat.extras import Extras
from onion.providers._http.failures import Failure, read_failure
from onion.providers._json import NOTHING, dump_json, object_in, objects_in, parse_json, text_in
from onion.providers._tooling import random_call_id
from onion.spec.parts import ErrorPart, RawPart, ReasoningStart, TextStart, ToolInputStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onion.providers._sse import ServerSentEvent
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_REASONING_FIELDS = ("reasoning_content", "reasoning")
_REASONING_TEXTS = ("text", "summary")
_EXTRAS = frozenset({"annotations", "images", "audio", "executed_tools", "extra_content", "function_call"})
_OPENINGS = (TextStart, ReasoningStart, ToolInputStart)
_DONE = b"[DONE]"
_UNFINISHED = "the stream ended without a finish reason and without [DONE]: nobody knows whether the answer is whole"


class ChunkDecoder:
    """Turns the chunks of one answer into parts that keep the stream grammar.

    Feed it every chunk, tell it `done` when the terminal marker comes, and `end` it once.

    Args:
        name: Key of the provider metadata: the name under which the next request finds it again.
        generate_id: Gives ids to calls that come without.
        include_raw: Hand out each chunk as it came, too.
        hide: Takes secrets out of what the server says of a failure.
    """

    def __init__(
        self,
        *,
        name: str,
        generate_id: Callable[[], str] = random_call_id,
        include_raw: bool = False,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.is_over: bool = False
        """Nothing more is to be read: the terminal marker or a failure has come."""
        self.has_content: bool = False
        """Something was handed out that a repeated call would say twice."""
        self._failure: Exception | None = None
        self._is_done = False
        self._include_raw = include_raw
        self._hide = hide
        self._blocks = Blocks(name)
        self._calls = CallAssembler(name, generate_id)
        self._extras = Extras(name, generate_id)
        self._envelope = Envelope(name)
        self._told: JsonObject = NOTHING

    def feed(self, chunk: JsonObject, *, is_whole: bool = False) -> list[StreamPart]:
        """The parts that *chunk* brings.

        Args:
            chunk: One parsed chunk, or a completion.
            is_whole: It is a completion.

        Raises:
            TypeValidationError: When its content cannot be read at all.
        """
        parts: list[StreamPart] = []
        if self._include_raw:
            parts.append(RawPart(raw_value=chunk))
        self._envelope.read(chunk, parts)
        known = len(parts)
        if "citations" in chunk or "search_results" in chunk:
            self._extras.note_citations(chunk)
        for choice in objects_in(chunk, "choices"):
            if not choice.get("index"):  # further choices are alternatives that nobody asked for
                self._envelope.read_choice(choice)
                message = choice.get("delta") or choice.get("message")
                if isinstance(message, dict):
                    self._read(message, parts, is_whole=is_whole)
        if chunk.get("error") or chunk.get("object") == "error":
            error = chunk.get("error")
            self.fail(read_failure(chunk) or Failure(message=f"an error of unknown form: {error!r}"), error or chunk)
        self.has_content = self.has_content or not all(isinstance(part, _OPENINGS) for part in parts[known:])
        return parts

    def feed_events(self, events: Iterable[ServerSentEvent], *, is_rest: bool = False) -> list[StreamPart]:
        """The parts that *events* bring, up to the terminal marker. What cannot be read, `end` tells as the failure.

        Args:
            events: In the order of the stream.
            is_rest: They are what the body ended in, so that JSON that stops short only says that it was cut.
        """
        parts: list[StreamPart] = []
        for event in events:
            if self.is_over:
                break
            try:
                parts += self._read_event(event)
            except (JSONParseError, TypeValidationError) as error:
                if not is_rest:
                    self.is_over = True
                    self._failure = error
        return parts

    def fail(self, failure: Failure, data: JsonValue = None) -> None:
        """The server reports *failure* instead of going on; *data* is how it said so."""
        self.is_over = True
        self._failure = StreamProviderError(
            self._hide(f"the provider reported a failure inside the stream: {failure}"),
            type=failure.type,
            code=failure.code,
            status_code=failure.status_code,
            is_retryable=failure.is_retryable,
            data=parse_json(self._hide(dump_json(data).decode())),
        )

    def done(self) -> None:
        """The terminal marker has come."""
        self.is_over = True
        self._is_done = True

    def end(self, failure: Exception | None = None) -> list[StreamPart]:
        """The last parts: what is open is ended, and the finish says how it went.

        Args:
            failure: Why the stream could not be read further, if it could not.

        Raises:
            Exception: The failure, if no content was handed out: then the call as a whole has failed.
        """
        failure = failure or self._failure
        if failure is None and not self._is_done and self._envelope.raw_reason is None:
            failure = StreamInterruptedError(_UNFINISHED)
        if failure is not None and not self.has_content:
            raise failure
        parts: list[StreamPart] = []
        self._blocks.end(parts, told=NOTHING if self._calls else self._told)
        if failure is None:
            self._calls.end(parts, told=self._told)
            self._extras.end(parts)
        else:
            self._calls.abandon(parts)
            parts.append(ErrorPart(error=failure))
        if self._told:
            self._envelope.metadata |= self._told
        if self._extras.annotations:
            self._envelope.metadata["annotations"] = self._extras.annotations
        parts.append(
            self._envelope.finish(
                has_calls=bool(self._calls), is_refusal=self._blocks.is_refusal, failed=failure is not None
            )
        )
        return parts

    def _read_event(self, event: ServerSentEvent) -> list[StreamPart]:
        data = event.data
        if data.startswith(_DONE):
            self.done()
            return []
        if not data.strip():
            return []
        chunk = parse_json(data)
        if event.event == "error":
            self.fail(read_failure(chunk) or Failure(message=data.decode("utf-8", "replace")), chunk)
            return []
        if not isinstance(chunk, dict):
            msg = f"a chunk of the stream is no JSON object: {data[:80].decode('utf-8', 'replace')}"
            raise TypeValidationError(msg, value=chunk)
        return self.feed(chunk)

    def _read(self, message: JsonObject, parts: list[StreamPart], *, is_whole: bool) -> None:
        self._read_reasoning(message, parts, is_whole=is_whole)
        content = message.get("content")
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
                self._calls.feed(fragment, parts, is_whole=is_whole)
        if not _EXTRAS.isdisjoint(message):
            self._read_extras(message, parts)

    def _read_reasoning(self, message: JsonObject, parts: list[StreamPart], *, is_whole: bool) -> None:
        """Reasoning may be there twice, as text and in the details: the text is read, the details are kept."""
        field = next((field for field in _REASONING_FIELDS if text_in(message, field)), "")
        details = objects_in(message, "reasoning_details") if "reasoning_details" in message else []
        text = text_in(message, field) if field else "".join(map(_detail_text, details))
        if text:
            self._blocks.add_reasoning(text, parts, field)
        if details:
            self._blocks.add_details(details, parts, is_whole=is_whole)

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
