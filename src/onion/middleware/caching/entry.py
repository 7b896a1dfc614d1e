"""What is kept of an answer, and how it is given out again in either mode."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from onion.errors import TypeValidationError
from onion.spec.base import JsonValue, value
from onion.spec.content import ToolCall
from onion.spec.json import FORMAT_VERSION, from_json, to_json
from onion.spec.parts import ErrorPart, FinishPart, RawPart, StreamPart
from onion.spec.result import GenerateResult, ResponseInfo
from onion.streaming import Collector, replay_parts

if TYPE_CHECKING:
    from onion.spec.base import ProviderMetadata
    from onion.spec.usage import UnifiedFinishReason

Answer = TypeVar("Answer", GenerateResult, FinishPart)
Mark = Mapping[str, JsonValue]


@value
class Entry:
    """A cached answer: whole, or as the parts that a stream sent.

    Attributes:
        created: Seconds since the epoch.
    """

    key: str
    created: float
    result: GenerateResult | None = None
    parts: tuple[StreamPart, ...] = ()

    def to_result(self) -> GenerateResult:
        """The whole answer."""
        if self.result is not None:
            return self.result
        collector = Collector()
        for part in self.parts:
            collector.feed(part)
        return collector.result()

    def to_parts(self) -> tuple[StreamPart, ...]:
        """The parts as recorded."""
        return self.parts if self.result is None else tuple(replay_parts(self.result))


def marked(answer: Answer, mark: Mark | None) -> Answer:
    """*answer* with *mark* as what the cache says of it, None says nothing; a copy if that changes it."""
    metadata = answer.provider_metadata
    if metadata is None and mark is not None:
        return _with_metadata(answer, {"onion": {"cache": mark}})
    if metadata is None or (mark is None and "onion" not in metadata):
        return answer
    ours = {name: said for name, said in metadata.get("onion", {}).items() if name != "cache"}
    if mark is not None:
        ours["cache"] = mark
    found: ProviderMetadata = {name: said for name, said in metadata.items() if name != "onion"}
    if ours:
        found = {**found, "onion": ours}
    return _with_metadata(answer, found or None)


def _with_metadata(answer: Answer, metadata: ProviderMetadata | None) -> Answer:
    if isinstance(answer, FinishPart):
        return replace(answer, provider_metadata=metadata)
    return GenerateResult(  # a third of the cost of `replace`, and a hit's largest share of all that is left
        content=answer.content,
        finish_reason=answer.finish_reason,
        usage=answer.usage,
        warnings=answer.warnings,
        provider_metadata=metadata,
        request=answer.request,
        response=answer.response,
        structured_output_text=answer.structured_output_text,
    )


class Recorder:
    """Turns an answer into the text of an entry, part by part, so that nobody who is given a part can change it.

    Args:
        key: Of the entry.
        finish_reasons: Those of good answers.
    """

    def __init__(self, key: str, finish_reasons: Collection[UnifiedFinishReason]) -> None:
        self._key = key
        self._finish_reasons = finish_reasons
        self._parts: list[JsonValue] = []
        self._is_good = True

    def feed(self, part: StreamPart) -> None:
        """Take the next part.

        Raises:
            TypeValidationError: When it holds something that has no JSON form.
        """
        if isinstance(part, ErrorPart) or (isinstance(part, ToolCall) and part.error is not None):
            self._is_good = False
        elif isinstance(part, FinishPart):
            self._is_good = self._is_good and part.finish_reason.unified in self._finish_reasons
            self._parts.append(to_json(marked(part, None)))
        elif not isinstance(part, RawPart):
            self._parts.append(to_json(part))

    def spoil(self) -> None:
        """Keep nothing of this answer."""
        self._is_good = False

    def text(self, *, now: float) -> str | None:
        """The entry, after the finish; None if the answer is none to keep."""
        return self._write(now, "parts", self._parts) if self._is_good else None

    def text_of(self, result: GenerateResult, *, now: float) -> str | None:
        """The entry of a whole answer.

        Raises:
            TypeValidationError: When it holds something that has no JSON form.
        """
        if result.finish_reason.unified not in self._finish_reasons:
            return None
        if any(isinstance(part, ToolCall) and part.error is not None for part in result.content):
            return None
        said = result.response
        response = said and ResponseInfo(id=said.id, timestamp=said.timestamp, model_id=said.model_id)
        kept = replace(marked(result, None), request=None, response=response)
        return self._write(now, "result", to_json(kept))

    def _write(self, now: float, name: str, answer: JsonValue) -> str:
        return json.dumps({"version": FORMAT_VERSION, "key": self._key, "created": now, name: answer})


def read_entry(text: str, key: str) -> Entry:
    """The entry that *text* holds.

    Raises:
        TypeValidationError: When it is none, is of another format version, or belongs to another key.
    """
    try:
        data = _parsed(text)
    except (ValueError, TypeError, RecursionError) as error:  # a store may give something that is no text
        raise TypeValidationError("it is no JSON", value=text) from error
    entry = from_json(Entry, data)
    is_whole = isinstance(entry.parts[-1], FinishPart) if entry.parts else entry.result is not None
    if entry.key != key or not is_whole or (entry.parts and entry.result is not None):
        raise TypeValidationError("it belongs to another call, or holds no answer", value=text)
    return entry


def _parsed(text: str) -> object:
    from pydantic_core import from_json as parse_json  # four times as fast as the standard library's

    try:
        return parse_json(text)
    except ValueError:  # it knows neither halves of surrogate pairs nor deep nesting
        return json.loads(text)
