"""Calls and results in an answer as stream parts, and the answer that is the input of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import dump_json, text_in
from onion.providers._surrogates import Halves
from onion.providers._tooling import input_object
from onion.providers.anthropic.names import ACTION, NAME
from onion.spec.content import ToolCall, ToolResult
from onion.spec.parts import TextDelta, TextEnd, TextStart, ToolInputDelta, ToolInputEnd, ToolInputStart

if TYPE_CHECKING:
    from onion.providers.anthropic.sources import Sources
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart


class CallBlock:
    """A call, of a tool of the caller's or of one that the provider runs.

    Args:
        call_id: Its id, which no other call of the answer has.
        name: The caller's name of the tool.
        given: The input, as far as it is there when the call begins.
        parts: Where the stream parts go.
        is_executed: The provider runs it.
        is_dynamic: The caller did not declare the tool.
        told: What the next request must say of the call. The name of a tool of a toolset among it joins the input,
            which is then handed out in one piece.
    """

    def __init__(
        self,
        call_id: str,
        name: str,
        given: JsonValue,
        parts: list[StreamPart],
        *,
        is_executed: bool = False,
        is_dynamic: bool = False,
        told: JsonObject | None = None,
    ) -> None:
        self._id = call_id
        self._name = name
        self._given = given
        self._pieces: list[str] = []
        self._halves = Halves()
        self._is_executed = True if is_executed else None
        self._is_dynamic = True if is_dynamic else None
        self._told = told
        self._action = text_in(told, "name") if told and "toolset_name" in told else ""
        parts.append(
            ToolInputStart(id=self._id, tool_name=name, provider_executed=self._is_executed, dynamic=self._is_dynamic)
        )

    def feed(self, delta: JsonObject, parts: list[StreamPart]) -> None:
        """More of the input's text."""
        self._add(text_in(delta, "partial_json"), parts)

    def end(self, parts: list[StreamPart], *, is_whole: bool = True) -> None:
        """The input is whole, and the call can be made; an input that broke off is no call."""
        if not self._pieces and self._given:
            self._add(dump_json(self._given).decode(), parts)
        self._say(self._halves.end(), parts)
        text = "".join(self._pieces)
        if self._action and is_whole:
            text = dump_json({ACTION: self._action, **input_object(text)}).decode()
            parts.append(ToolInputDelta(id=self._id, delta=text))
        parts.append(ToolInputEnd(id=self._id))
        if not is_whole:
            return
        parts.append(
            ToolCall(
                tool_call_id=self._id,
                tool_name=self._name,
                input=text if text.strip() else "{}",
                provider_executed=self._is_executed,
                dynamic=self._is_dynamic,
                provider_metadata={NAME: self._told} if self._told else None,
            )
        )

    def _add(self, text: str, parts: list[StreamPart]) -> None:
        if text:
            self._say(self._halves.feed(text), parts)

    def _say(self, piece: str, parts: list[StreamPart]) -> None:
        if piece:
            self._pieces.append(piece)
            if not self._action:
                parts.append(ToolInputDelta(id=self._id, delta=piece))


class JsonBlock:
    """The input of the tool for JSON, which is the text of the answer."""

    def __init__(self, block_id: str, block: JsonObject, parts: list[StreamPart]) -> None:
        self.text: str = ""
        self._id = block_id
        self._given = block.get("input")
        self._halves = Halves()
        parts.append(TextStart(id=block_id))

    def feed(self, delta: JsonObject, parts: list[StreamPart]) -> None:
        """More of the answer."""
        self._add(text_in(delta, "partial_json"), parts)

    def end(self, parts: list[StreamPart], *, is_whole: bool = True) -> None:
        """The answer is whole."""
        if not self.text and is_whole:
            self._add(dump_json(self._given or {}).decode(), parts)
        self._say(self._halves.end(), parts)
        parts.append(TextEnd(id=self._id))

    def _add(self, text: str, parts: list[StreamPart]) -> None:
        self._say(self._halves.feed(text) if text else "", parts)

    def _say(self, piece: str, parts: list[StreamPart]) -> None:
        if piece:
            self.text += piece
            parts.append(TextDelta(id=self._id, delta=piece))


class ResultBlock:
    """The result of a tool that the provider ran, and what it found; it comes in one piece.

    Args:
        block: The whole of it.
        name: The caller's name of the tool.
        sources: Makes sources of what was found.
        parts: Where the stream parts go.
        is_dynamic: The caller did not declare the tool.
    """

    def __init__(
        self, block: JsonObject, name: str, sources: Sources, parts: list[StreamPart], *, is_dynamic: bool
    ) -> None:
        content = block.get("content")
        kind = text_in(content, "type") if isinstance(content, dict) else ""
        told = {key: found for key, found in block.items() if key not in ("tool_use_id", "content")}
        parts.append(
            ToolResult(
                tool_call_id=text_in(block, "tool_use_id"),
                tool_name=name,
                result=content,
                is_error=True if block.get("is_error") is True or kind.endswith("_error") else None,
                dynamic=True if is_dynamic else None,
                provider_metadata={NAME: told},
            )
        )
        parts += sources.of_result(content)

    def feed(self, delta: JsonObject, parts: list[StreamPart]) -> None:
        """Nothing is known to follow."""

    def end(self, parts: list[StreamPart], *, is_whole: bool = True) -> None:
        """Everything was said at the start."""
