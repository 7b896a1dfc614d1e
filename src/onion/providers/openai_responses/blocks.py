"""Blocks of an answer that are still growing: text, reasoning, and the inputs of tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import dump_json
from onion.providers._surrogates import Halves
from onion.spec.parts import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)

if TYPE_CHECKING:
    from onion.spec.base import ProviderMetadata
    from onion.spec.parts import StreamPart


class Block:
    """Text or reasoning.

    Args:
        block_id: Unique within the answer.
        is_text: It is no reasoning.
    """

    __slots__ = ("_halves", "_id", "_pieces", "is_open", "is_text")

    def __init__(self, block_id: str, *, is_text: bool) -> None:
        self.is_open: bool = False
        self.is_text: bool = is_text
        self._id = block_id
        self._pieces: list[str] = []
        self._halves = Halves()

    def start(self, metadata: ProviderMetadata | None, parts: list[StreamPart]) -> None:
        """Begin it."""
        self.is_open = True
        start = TextStart if self.is_text else ReasoningStart
        parts.append(start(id=self._id, provider_metadata=metadata))

    def feed(self, text: str, parts: list[StreamPart]) -> None:
        """More of it; what comes after its end is dropped."""
        text = self._halves.feed(text) if text else ""
        if text and self.is_open:
            self._pieces.append(text)
            delta = TextDelta if self.is_text else ReasoningDelta
            parts.append(delta(id=self._id, delta=text))

    def complete(self, whole: str, parts: list[StreamPart]) -> None:
        """Hand out what of the *whole* text has not been: events that say it all again say nothing new."""
        known = "".join(self._pieces)
        if whole.startswith(known):
            self._halves = Halves()
            self.feed(whole[len(known) :], parts)

    def end(self, metadata: ProviderMetadata | None, parts: list[StreamPart]) -> None:
        """End it, if it is open."""
        if not self.is_open:
            return
        rest = self._halves.end()
        if rest:
            self.feed(rest, parts)
        self.is_open = False
        end = TextEnd if self.is_text else ReasoningEnd
        parts.append(end(id=self._id, provider_metadata=metadata))


class CallInput:
    """The input of a tool call, as JSON text.

    Args:
        call_id: The id of the call.
        tool_name: The caller's name of the tool.
        frame: What stands before and after the server's text, which is no JSON then but the inside of a JSON string.
        is_server_run: The server runs the call.
        is_dynamic: The tool is not declared.
    """

    __slots__ = ("_frame", "_is_open", "_pieces", "call_id", "is_dynamic", "is_server_run", "tool_name")

    def __init__(
        self,
        call_id: str,
        tool_name: str,
        *,
        frame: tuple[str, str] | None = None,
        is_server_run: bool = False,
        is_dynamic: bool = False,
    ) -> None:
        self.call_id: str = call_id
        self.tool_name: str = tool_name
        self.is_server_run = is_server_run or None
        self.is_dynamic = is_dynamic or None
        self._frame = frame
        self._pieces: list[str] = []
        self._is_open = False

    def start(self, parts: list[StreamPart]) -> None:
        """Begin it."""
        self._is_open = True
        parts.append(
            ToolInputStart(
                id=self.call_id,
                tool_name=self.tool_name,
                provider_executed=self.is_server_run,
                dynamic=self.is_dynamic,
            )
        )

    def feed(self, text: str, parts: list[StreamPart]) -> None:
        """More of the server's text."""
        if text and self._is_open:
            before = self._frame[0] if self._frame and not self._pieces else ""
            self._pieces.append(text)
            parts.append(ToolInputDelta(id=self.call_id, delta=before + (_inside(text) if self._frame else text)))

    def complete(self, whole: str, parts: list[StreamPart]) -> str:
        """End it, after what of the *whole* text has not been handed out; gives the text that holds."""
        known = "".join(self._pieces)
        if whole.startswith(known):
            self.feed(whole[len(known) :], parts)
        self.end(parts)
        return whole or known

    def end(self, parts: list[StreamPart]) -> None:
        """End it, if it is open."""
        if self._is_open:
            if self._frame and self._pieces:
                parts.append(ToolInputDelta(id=self.call_id, delta=self._frame[1]))
            self._is_open = False
            parts.append(ToolInputEnd(id=self.call_id))


def _inside(text: str) -> str:
    """*text* as it stands inside a JSON string."""
    return dump_json(text).decode()[1:-1]
