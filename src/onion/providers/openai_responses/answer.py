"""The items of one answer as stream parts. An item is known by its place in the output: ids may change with each event.

A whole answer goes the same way as a streamed one: each item begins, and is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import text_in
from onion.providers.openai_responses import items as keys
from onion.providers.openai_responses.calls import Calls
from onion.providers.openai_responses.texts import TEXTS, Place, TextItem, Texts
from onion.providers.openai_responses.tool_items import approval_parts, custom

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.providers.openai_responses.blocks import CallInput
    from onion.spec.base import JsonObject
    from onion.spec.parts import StreamPart


class _Item:
    __slots__ = ("begun", "call", "is_done", "text")

    def __init__(self, begun: JsonObject) -> None:
        self.begun = begun
        self.text = TextItem()
        self.call: CallInput | None = None
        self.is_done = False


class Answer:
    """Collects the items of one answer.

    Args:
        name: Key of the provider metadata.
        tool_names: By provider tool, the caller's name for it.
        generate_id: Gives ids to calls that come without.
    """

    def __init__(self, name: str, tool_names: Mapping[str, str], generate_id: Callable[[], str]) -> None:
        self.texts: Texts = Texts(name)
        self.calls: Calls = Calls(name, tool_names, generate_id)
        self._name = name
        self._items: dict[int, _Item] = {}
        self._done_ids: set[str] = set()

    def begin(self, index: int, item: JsonObject, parts: list[StreamPart]) -> None:
        """An item begins."""
        if index not in self._items:
            self._items[index] = _Item(item)
            self._items[index].call = self.calls.begin(item, parts)
            if text_in(item, "type") == "reasoning":
                self.texts.reasoning_id = text_in(item, "id")  # what follows may be whole before it

    def say(self, index: int, place: Place, text: str, parts: list[StreamPart]) -> None:
        """More text or reasoning; what comes after the end of its item is dropped."""
        state = self._items.get(index)
        if state is not None and state.is_done:
            return
        if state is None:
            state = self._items[index] = _Item({"type": "message" if place[0] in TEXTS else "reasoning"})
        block = state.text.blocks.get(place)
        if block is None:
            block = self.texts.open(state.text, place, state.begun, parts)
        block.feed(text, parts)

    def write(self, index: int, text: str, parts: list[StreamPart]) -> None:
        """More of a call's input."""
        call = self._call(index)
        if call is not None:
            call.feed(text, parts)

    def show(self, index: int, event: JsonObject, parts: list[StreamPart]) -> None:
        """A first version of what a tool makes."""
        call = self._call(index)
        if call is not None:
            self.calls.show(call, event, parts)

    def cite(self, index: int, number: int, annotation: JsonObject, parts: list[StreamPart]) -> None:
        """A citation in the text *number* of an item."""
        state = self._items.get(index)
        if state is not None:
            state.text.cited[number] = state.text.cited.get(number, 0) + 1
            self.texts.cite(annotation, parts)

    def done(self, index: int, item: JsonObject, parts: list[StreamPart]) -> None:
        """An item is whole, whatever its status says."""
        self.begin(index, item, parts)
        state = self._items[index]
        if state.is_done:
            return
        state.is_done = True
        if text_in(item, "id"):
            self._done_ids.add(text_in(item, "id"))
        kind = text_in(item, "type")
        if state.call is not None and kind != text_in(state.begun, "type"):
            state.call.end(parts)
            state.call = None  # an item may be done as another kind than it began: then that call is none of it
        if kind == "message" and text_in(item, "role") in ("", "assistant"):
            self.texts.finish_message(state.text, item, parts)
        elif kind == "reasoning":
            self.texts.finish_reasoning(state.text, item, parts)
        elif kind == "function_call":
            self.calls.finish_function_call(state.call, item, self.texts.reasoning_id, parts)
        elif kind in keys.SERVER_TOOLS and state.call is not None:
            self.calls.finish_server_tool(state.call, item, parts)
        elif kind in keys.CLIENT_TOOLS:
            self.calls.finish_client_tool(state.call, item, self.texts.reasoning_id, parts)
        elif kind in keys.OUTPUTS:
            self.calls.finish_output(item, parts)
        elif kind == "mcp_approval_request":
            parts += approval_parts(item, self._name)
        else:
            parts.append(custom(item, self._name))
        _end(state, parts)

    def complete(self, output: list[JsonObject], parts: list[StreamPart]) -> None:
        """The answer is complete: what was not said to be done is done.

        Args:
            output: The items as the end of the stream repeats them, if it does.
            parts: Where the stream parts go.
        """
        if sum(state.is_done for state in self._items.values()) < len(output):
            for index, item in enumerate(output):
                if text_in(item, "id") not in self._done_ids:
                    self.done(index, item, parts)
        for index, state in self._items.items():
            if text_in(state.begun, "id") in self._done_ids:
                _end(state, parts)  # it was announced at one place, and done at another
            else:
                self.done(index, state.begun, parts)

    def abandon(self, parts: list[StreamPart]) -> None:
        """The answer failed: end what is open. A call that is not whole is not handed out."""
        for state in self._items.values():
            _end(state, parts)

    def _call(self, index: int) -> CallInput | None:
        state = self._items.get(index)
        return None if state is None else state.call


def _end(state: _Item, parts: list[StreamPart]) -> None:
    """End what is open of an item."""
    for block in state.text.blocks.values():
        block.end(None, parts)
    if state.call is not None:
        state.call.end(parts)
