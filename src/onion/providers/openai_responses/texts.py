"""Messages and reasoning of one answer as stream parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onion.providers._json import objects_in, text_in
from onion.providers.openai_responses import items as keys
from onion.providers.openai_responses.blocks import Block
from onion.providers.openai_responses.sources import source_of
from onion.providers.openai_responses.tool_items import custom_part, identity

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

Place: TypeAlias = "tuple[str, int]"
"""Which piece of an item a text belongs to: its kind (``text``, ``refusal``, ``summary_text``, ...) and number."""

TEXT, REFUSAL, SUMMARY = "text", "refusal", "summary_text"
TEXTS = frozenset({TEXT, REFUSAL})
_NO_SUMMARY: Place = (SUMMARY, 0)


class TextItem:
    """What of a message or of reasoning has been handed out."""

    __slots__ = ("blocks", "cited", "latest")

    def __init__(self) -> None:
        self.blocks: dict[Place, Block] = {}
        self.latest: tuple[Place, Block] | None = None
        self.cited: dict[int, int] = {}


class Texts:
    """Collects the messages and the reasoning of one answer; *name* is the key of the provider metadata."""

    def __init__(self, name: str) -> None:
        self.is_refusal: bool = False
        self.logprobs: list[JsonValue] = []
        self.reasoning_id: str = ""
        """The id of the latest reasoning: what follows it goes back behind it only."""
        self._name = name
        self._numbers = 0
        self._sources = 0

    def open(self, state: TextItem, place: Place, item: JsonObject, parts: list[StreamPart]) -> Block:
        """A new block. Of the pieces of an item only one is open at a time."""
        if state.latest is not None and place[0] not in TEXTS:
            state.latest[1].end(None, parts)
        block = Block(str(self._numbers), is_text=place[0] in TEXTS)
        state.blocks[place] = block
        state.latest = (place, block)
        self._numbers += 1
        block.start(self._told(place, item), parts)
        return block

    def cite(self, annotation: JsonObject, parts: list[StreamPart]) -> None:
        """A citation."""
        source = source_of(annotation, f"source-{self._sources + 1}", self._name)
        if source is not None:
            self._sources += 1
            parts.append(source)

    def finish_message(self, state: TextItem, item: JsonObject, parts: list[StreamPart]) -> None:
        """A message is whole."""
        status = text_in(item, "status")
        kept: JsonObject = {} if status in ("completed", "in_progress") else {"status": status}
        for number, part in enumerate(objects_in(item, "content")):
            kind = text_in(part, "type")
            if kind not in ("output_text", REFUSAL):
                parts.append(custom_part(part, item, self._name))
                continue
            place, member = ((REFUSAL, number), REFUSAL) if kind == REFUSAL else ((TEXT, number), "text")
            block = state.blocks.get(place) or self.open(state, place, item, parts)
            block.complete(text_in(part, member), parts)
            annotations = objects_in(part, "annotations")
            for annotation in annotations[state.cited.get(number, 0) :]:
                self.cite(annotation, parts)
            found = part.get("logprobs")
            self.logprobs += found if isinstance(found, list) else []
            block.end(self._told(place, item, annotations=annotations, **kept), parts)
        for place, block in state.blocks.items():
            block.end(self._told(place, item, **kept), parts)
            self.is_refusal = self.is_refusal or place[0] == REFUSAL

    def finish_reasoning(self, state: TextItem, item: JsonObject, parts: list[StreamPart]) -> None:
        """Reasoning is whole: the form in which it goes back travels with its last block, which may be empty."""
        for member, kind in (("summary", SUMMARY), ("content", keys.REASONING_TEXT)):
            for number, part in enumerate(objects_in(item, member)):
                place = (kind, number)
                block = state.blocks.get(place) or self.open(state, place, item, parts)
                block.complete(text_in(part, "text"), parts)
        place, block = state.latest or (_NO_SUMMARY, self.open(state, _NO_SUMMARY, item, parts))
        block.end(self._told(place, item, **{keys.ENCRYPTED: item.get("encrypted_content")}), parts)
        self.reasoning_id = text_in(item, "id")

    def _told(self, place: Place, item: JsonObject, **more: JsonValue) -> dict[str, JsonObject] | None:
        kind = place[0]
        if kind in TEXTS:
            known = {"phase": item.get("phase"), "refusal": kind == REFUSAL, keys.REASONING_ID: self.reasoning_id}
            told = identity(item, **known, **more)
        else:
            told = identity(item, **{keys.CONTENT_TYPE: kind if kind == keys.REASONING_TEXT else None}, **more)
        return {self._name: told} if told else None
