"""Which content block an event belongs to, and what kind of block it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import text_in
from onion.providers.anthropic.blocks import OtherBlock, TextBlock, ThinkingBlock
from onion.providers.anthropic.calls import CallBlock, JsonBlock, ResultBlock
from onion.providers.anthropic.sources import Sources
from onion.providers.anthropic.toolbox import JSON_TOOL
from onion.spec.parts import TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers.anthropic.blocks import Block
    from onion.providers.anthropic.context import AnswerContext
    from onion.spec.base import JsonObject
    from onion.spec.parts import StreamPart

_RESULT = "_tool_result"
_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
_OF_CALL = ("id", "input")


class Reader:
    """The blocks of one answer.

    Args:
        context: What is known of the call.
        generate_id: Gives ids to calls that come without, or with one that is taken.
    """

    def __init__(self, context: AnswerContext, generate_id: Callable[[], str]) -> None:
        self.has_calls: bool = False
        """The answer holds calls of the caller's tools."""
        self.preamble: str = ""
        """Text before an answer in JSON, which is none of it."""
        self._context = context
        self._generate_id = generate_id
        self._sources = Sources(context.documents)
        self._call_names = dict(context.call_names)
        self._call_ids: set[str] = set()
        self._open: dict[int, Block] = {}
        self._seen: set[int] = set()
        self._is_restarted = False
        self._count = 0
        self._held: list[StreamPart] = []
        self._json: JsonBlock | None = None

    @property
    def json_text(self) -> str | None:
        """The answer that came as the input of the tool for JSON."""
        return self._json.text if self._json else None

    def restart(self, parts: list[StreamPart], *, keeps: bool) -> None:
        """A message begins; *keeps* says that something of one that began before was handed out."""
        self._is_restarted = keeps or any(isinstance(block, CallBlock) for block in self._open.values())
        if not self._is_restarted:
            self.end(parts, is_whole=False)
            self._seen.clear()

    def is_repeated(self, index: int | None) -> bool:
        """Whether the block *index* was there before the message began again."""
        return self._is_restarted and index in self._seen

    def start(self, index: int | None, block: JsonObject, parts: list[StreamPart]) -> None:
        """A block begins; what is there of it already is read."""
        number = len(self._seen) if index is None else index
        self.stop(number, parts)
        self._seen.add(number)
        self._count += 1
        into = self._into(block, parts)
        self._open[number] = self._block(block, into)

    def feed(self, index: int | None, delta: JsonObject, parts: list[StreamPart]) -> None:
        """More of a block; of the latest one if it has no number."""
        block = self._open.get(self._latest() if index is None else index)
        if block is not None:
            block.feed(delta, self._held if self._context.is_json_tool and self._holds(block) else parts)

    def stop(self, index: int | None, parts: list[StreamPart]) -> None:
        """A block is whole."""
        block = self._open.pop(self._latest() if index is None else index, None)
        if block is not None:
            block.end(self._held if self._holds(block) else parts)

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The answer is over: end what is open."""
        for block in self._open.values():
            block.end(self._held if self._holds(block) else parts, is_whole=is_whole)
        self._open.clear()
        self._release(parts)

    def _latest(self) -> int:
        return next(reversed(self._open), -1)

    def _holds(self, block: Block) -> bool:
        """Whether nobody can say yet what text of an answer in JSON is."""
        return self._context.is_json_tool and self._json is None and isinstance(block, TextBlock)

    def _into(self, block: JsonObject, parts: list[StreamPart]) -> list[StreamPart]:
        """Where the parts of a new block go: text is held back while an answer in JSON may follow."""
        if not self._context.is_json_tool or self._json is not None:
            return parts
        kind = text_in(block, "type")
        if kind == "text":
            return self._held
        if kind == "tool_use" and text_in(block, "name") == JSON_TOOL:
            self.preamble = "".join(part.delta for part in self._held if isinstance(part, TextDelta))
            self._held.clear()
            # A text that is still open began among what is dropped, and so cannot end.
            self._open = {place: open_ for place, open_ in self._open.items() if not isinstance(open_, TextBlock)}
        elif kind == "tool_use":
            self._release(parts)
        return parts

    def _release(self, parts: list[StreamPart]) -> None:
        parts += self._held
        self._held.clear()

    def _block(self, block: JsonObject, parts: list[StreamPart]) -> Block:
        kind, block_id = text_in(block, "type"), str(self._count - 1)
        if kind == "text":
            return TextBlock(block_id, block, self._sources, parts)
        if kind in ("thinking", "redacted_thinking"):
            return ThinkingBlock(block_id, block, parts)
        if kind == "tool_use":
            return self._call(block, block_id, parts)
        if kind in _SERVER_CALLS:
            return self._server_call(block, parts)
        if kind.endswith(_RESULT) and text_in(block, "tool_use_id"):
            return self._result(block, parts)
        return OtherBlock(block)

    def _call(self, block: JsonObject, block_id: str, parts: list[StreamPart]) -> Block:
        name = text_in(block, "name")
        if self._context.is_json_tool and name == JSON_TOOL:
            self._json = JsonBlock(block_id, block, parts)
            return self._json
        self.has_calls = True
        told = {key: found for key, found in block.items() if key not in ("type", "name", *_OF_CALL)}
        toolset = self._context.toolbox.toolset(text_in(block, "toolset_name"))
        if toolset is None:
            own_name = self._context.toolbox.own_name(name)
            return CallBlock(self._call_id(block), own_name, block.get("input"), parts, told=told)
        told["name"] = name
        return CallBlock(self._call_id(block), toolset, block.get("input"), parts, told=told)

    def _server_call(self, block: JsonObject, parts: list[StreamPart]) -> Block:
        wire_name, is_mcp = text_in(block, "name"), text_in(block, "type") == "mcp_tool_use"
        name = wire_name if is_mcp else self._context.toolbox.own_name(wire_name)
        call_id = self._call_id(block)
        self._call_names[call_id] = name
        told: JsonObject = {key: found for key, found in block.items() if key not in _OF_CALL}
        is_dynamic = is_mcp or not self._context.toolbox.knows(name)
        given = block.get("input")
        return CallBlock(call_id, name, given, parts, is_executed=True, is_dynamic=is_dynamic, told=told)

    def _call_id(self, block: JsonObject) -> str:
        """The id of a call; one of our own where the server gives none, or one that is taken."""
        call_id = text_in(block, "id")
        if not call_id or call_id in self._call_ids:
            call_id = self._generate_id()
        self._call_ids.add(call_id)
        return call_id

    def _result(self, block: JsonObject, parts: list[StreamPart]) -> Block:
        kind = text_in(block, "type")
        name = self._call_names.get(text_in(block, "tool_use_id")) or self._context.toolbox.result_name(kind)
        is_dynamic = kind == "mcp_tool_result" or not self._context.toolbox.knows(name)
        return ResultBlock(block, name, self._sources, parts, is_dynamic=is_dynamic)
