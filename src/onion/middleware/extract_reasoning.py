"""ExtractReasoning: turns what a model thinks aloud between tags into reasoning.

Goes next to the model, inside of everything that tells text from reasoning. A stream is passed on as it comes; only
what may yet turn out to be a tag is held back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import InvalidArgumentError
from onion.spec.parts import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamPart,
    TextDelta,
    TextEnd,
    TextStart,
)
from onion.spec.transform import PartTransform
from onion.streaming import transform_result
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.base import ProviderMetadata
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.wrap import DoGenerate, DoStream

SEPARATOR = "\n"


def tag_position(text: str, tag: str) -> int:
    """Where *tag* begins in *text*, or where its end may be the beginning of *tag*; the length of *text* if nowhere."""
    found = text.find(tag)
    if found >= 0:
        return found
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:length]):
            return len(text) - length
    return len(text)


class _Block:
    """One block of the model's text, cut into text and reasoning."""

    def __init__(self, start: TextStart, *, is_reasoning: bool) -> None:
        self.start: TextStart | None = start
        self.is_reasoning = is_reasoning
        self.reasoning_id: str | None = None
        self.held = ""
        self.metadata: ProviderMetadata | None = None
        self.had_text = False
        self.had_reasoning = False
        self.has_switched = False


class _Extraction(PartTransform):
    """Reads the tags of one stream."""

    def __init__(self, layer: ExtractReasoning) -> None:
        self._opening = layer.opening
        self._closing = layer.closing
        self._separator = layer.separator
        self._starts_with_reasoning = layer.start_with_reasoning
        self._blocks: dict[str, _Block] = {}
        self._used: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._count = 0

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...] | None:
        if isinstance(part, TextDelta):
            block = self._blocks.get(part.id)
            return part if block is None else self._read(part, block)
        if isinstance(part, TextStart):
            self._blocks[part.id] = _Block(part, is_reasoning=self._starts_with_reasoning)
            return None
        if isinstance(part, TextEnd):
            block = self._blocks.pop(part.id, None)
            return part if block is None else self._end(part, block)
        if isinstance(part, ReasoningStart | ReasoningDelta | ReasoningEnd):
            return self._of_the_model(part)
        return part

    def flush(self) -> tuple[StreamPart, ...]:
        parts: list[StreamPart] = []
        for block_id, block in self._blocks.items():
            parts += self._publish(block_id, block, block.held)
            parts += self._end_reasoning(block)
            block.held = ""
        return tuple(parts)

    def _read(self, part: TextDelta, block: _Block) -> tuple[StreamPart, ...]:
        block.metadata = part.provider_metadata or block.metadata
        text = block.held + part.delta
        parts: list[StreamPart] = []
        while True:
            tag = self._closing if block.is_reasoning else self._opening
            position = tag_position(text, tag)
            parts += self._publish(part.id, block, text[:position])
            text = text[position:]
            if not text.startswith(tag):
                block.held = text
                return tuple(parts)
            text = text[len(tag) :]
            if block.is_reasoning:
                parts += self._start_reasoning(block)
                parts += self._end_reasoning(block)
            block.is_reasoning = not block.is_reasoning
            block.has_switched = True

    def _publish(self, block_id: str, block: _Block, text: str) -> list[StreamPart]:
        """*text* as what it is, after the separator if the same kind stood before a switch."""
        if not text:
            return []
        had_same = block.had_reasoning if block.is_reasoning else block.had_text
        delta = self._separator + text if block.has_switched and had_same else text
        block.has_switched = False
        if block.is_reasoning:
            parts = self._start_reasoning(block)
            block.had_reasoning = True
            return [*parts, ReasoningDelta(id=block.reasoning_id or "", delta=delta)]
        block.had_text = True
        metadata, block.metadata = block.metadata, None
        return [*_take_start(block), TextDelta(id=block_id, delta=delta, provider_metadata=metadata)]

    def _start_reasoning(self, block: _Block) -> list[StreamPart]:
        if block.reasoning_id is not None:
            return []
        block.reasoning_id = self._new_id()
        return [ReasoningStart(id=block.reasoning_id)]

    def _end_reasoning(self, block: _Block) -> list[StreamPart]:
        if block.reasoning_id is None:
            return []
        ended, block.reasoning_id = block.reasoning_id, None
        return [ReasoningEnd(id=ended)]

    def _end(self, part: TextEnd, block: _Block) -> tuple[StreamPart, ...]:
        parts = [*self._publish(part.id, block, block.held), *self._end_reasoning(block)]
        metadata = part.provider_metadata or block.metadata
        is_silent = block.start is not None and block.start.provider_metadata is None and metadata is None
        if is_silent and block.is_reasoning and block.had_reasoning:
            return tuple(parts)
        return (*parts, *_take_start(block), TextEnd(id=part.id, provider_metadata=metadata))

    def _of_the_model(self, part: ReasoningStart | ReasoningDelta | ReasoningEnd) -> StreamPart:
        """Reasoning that the model marks itself, renamed if its id is one of ours."""
        if isinstance(part, ReasoningStart):
            new = self._new_id() if part.id in self._used else part.id
            self._used.add(new)
            self._renamed[part.id] = new
        block_id = self._renamed.get(part.id, part.id)
        return part if block_id == part.id else _with_id(part, block_id)

    def _new_id(self) -> str:
        while True:
            block_id = f"reasoning-{self._count}"
            self._count += 1
            if block_id not in self._used:
                self._used.add(block_id)
                return block_id


def _take_start(block: _Block) -> list[StreamPart]:
    start, block.start = block.start, None
    return [] if start is None else [start]


def _with_id(part: ReasoningStart | ReasoningDelta | ReasoningEnd, block_id: str) -> StreamPart:
    if isinstance(part, ReasoningDelta):
        return ReasoningDelta(id=block_id, delta=part.delta, provider_metadata=part.provider_metadata)
    return type(part)(id=block_id, provider_metadata=part.provider_metadata)


class ExtractReasoning(Middleware):
    """Turns text between an opening and a closing tag into reasoning, where it stands.

    Several sections of one text become several blocks of reasoning; the text around them stays one block, its pieces
    joined by the separator. A tag that is not closed makes reasoning of the rest. Metadata of a text stay with it.

    Args:
        tag_name: Name of an XML-like tag, ``think`` for ``<think>…</think>``.
        opening: The opening tag itself, instead of a name.
        closing: The closing tag itself.
        separator: Put before text that continues after reasoning, and before each further reasoning.
        start_with_reasoning: Whether texts begin inside of the tag, for models that leave the opening one out.

    Raises:
        InvalidArgumentError: When the tags are given twice, not at all, or are empty.
    """

    def __init__(
        self,
        tag_name: str | None = None,
        *,
        opening: str | None = None,
        closing: str | None = None,
        separator: str = SEPARATOR,
        start_with_reasoning: bool = False,
    ) -> None:
        if tag_name is not None and opening is None and closing is None:
            opening, closing = (f"<{tag_name}>", f"</{tag_name}>") if tag_name else (None, None)
        elif tag_name is not None:
            opening = closing = None
        if not opening or not closing:
            msg = "give either tag_name, or both opening and closing, and none of them empty"
            raise InvalidArgumentError(msg, parameter="tag_name", value=tag_name)
        self.opening = opening
        self.closing = closing
        self.separator = separator
        self.start_with_reasoning = start_with_reasoning

    def __repr__(self) -> str:
        start = ", start_with_reasoning=True" if self.start_with_reasoning else ""
        return f"ExtractReasoning(opening={self.opening!r}, closing={self.closing!r}{start})"

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole, with reasoning apart from text."""
        return transform_result(await do_generate(), lambda: _Extraction(self))

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Answer as a stream, with reasoning apart from text."""
        return (await do_stream()).pipe(lambda: _Extraction(self))
