"""Calls in an answer as stream parts: the caller's, whole or in pieces, and those that the server ran itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import dump_json, object_in, objects_in, text_in
from onion.providers.google.arguments import Arguments
from onion.providers.google.names import ACTION, NAME
from onion.providers.google.toolbox import CODE
from onion.spec.content import ToolCall, ToolResult
from onion.spec.parts import ToolInputDelta, ToolInputEnd, ToolInputStart

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers.google.toolbox import Toolbox
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

_OK = "OUTCOME_OK"
_OF_PIECES = ("name", "args", "partialArgs", "willContinue")


class Calls:
    """The calls of one answer.

    Args:
        toolbox: The tools of the call.
        generate_id: Gives the ids of calls that the server gave none.
    """

    def __init__(self, toolbox: Toolbox, generate_id: Callable[[], str]) -> None:
        self.has_calls: bool = False
        """The answer holds calls of the caller's tools."""
        self._toolbox = toolbox
        self._generate_id = generate_id
        self._ids: set[str] = set()
        self._open: _Pieces | None = None
        self._run: dict[str, tuple[str, str]] = {}
        self._last = ("", "")

    @property
    def is_open(self) -> bool:
        """Pieces of a call may still come."""
        return self._open is not None

    def read(self, call: JsonObject, told: JsonObject, parts: list[StreamPart]) -> None:
        """A call of a function tool, or a piece of one."""
        name = text_in(call, "name")
        if name:
            self.end(parts, is_whole=True)
            self.has_calls = True
            more = {key: found for key, found in call.items() if key not in _OF_PIECES}
            acting = self._toolbox.acting_tool(name)
            if acting is not None:
                more["name"] = name
            self._open = _Pieces(self._id(call), acting or name, {"functionCall": more, **told}, parts)
            if acting is not None:
                self._open.add({"args": {ACTION: name}})
        if self._open is not None:
            self._open.add(call)
            if not call.get("willContinue"):
                self.end(parts, is_whole=True)

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        """The call whose pieces were coming is over; not *is_whole* where the answer failed before."""
        if self._open is not None:
            self._open.end(parts, is_whole=is_whole)
            self._open = None

    def read_server_call(self, kind: str, call: JsonObject, told: JsonObject, parts: list[StreamPart]) -> None:
        """A call that the server made: code that it ran, or another of Google's tools."""
        is_code = kind == "executableCode"
        name = self._toolbox.own_name(CODE if is_code else text_in(call, "toolType"))
        given = {key: found for key, found in call.items() if key != "id"} if is_code else object_in(call, "args")
        kept = {key: found for key, found in call.items() if key == "id" or not (is_code or key == "args")}
        call_id = self._id(call)
        self._last = self._run[text_in(call, "id")] = (call_id, name)
        pieces = _Pieces(call_id, name, {kind: kept, **told}, parts, is_dynamic=not self._toolbox.knows(name))
        pieces.add({"args": given})
        pieces.end(parts, is_whole=True)

    def read_server_result(self, kind: str, outcome: JsonObject, told: JsonObject, parts: list[StreamPart]) -> None:
        """What such a call gave back; one without an id belongs to the latest call."""
        is_code = kind == "codeExecutionResult"
        kept = {key: found for key, found in outcome.items() if key == "id" or not (is_code or key == "response")}
        inner: JsonObject = {key: found for key, found in outcome.items() if key != "id"}
        known = self._run.get(text_in(outcome, "id"), self._last)
        name = known[1] or self._toolbox.own_name(CODE if is_code else text_in(outcome, "toolType"))
        is_failed = is_code and text_in(outcome, "outcome") not in ("", _OK)
        parts.append(
            ToolResult(
                tool_call_id=known[0] or text_in(outcome, "id") or self._generate_id(),
                tool_name=name,
                result=inner if is_code else outcome.get("response"),
                is_error=True if is_failed else None,
                dynamic=None if self._toolbox.knows(name) else True,
                provider_metadata={NAME: {kind: kept, **told}},
            )
        )

    def _id(self, call: JsonObject) -> str:
        """The id of a call; one of our own where the server gives none, or one that is taken."""
        call_id = text_in(call, "id")
        if not call_id or call_id in self._ids:
            call_id = self._generate_id()
        self._ids.add(call_id)
        return call_id


class _Pieces:
    """One call, whose arguments may come in pieces."""

    def __init__(
        self, call_id: str, name: str, told: JsonObject, parts: list[StreamPart], *, is_dynamic: bool | None = None
    ) -> None:
        self._id = call_id
        self._name = name
        self._told = told
        self._is_executed = None if is_dynamic is None else True
        self._is_dynamic = is_dynamic or None
        self._arguments = Arguments()
        parts.append(
            ToolInputStart(id=call_id, tool_name=name, provider_executed=self._is_executed, dynamic=self._is_dynamic)
        )

    def add(self, call: JsonObject) -> None:
        self._arguments.whole |= object_in(call, "args")
        for piece in objects_in(call, "partialArgs"):
            self._arguments.add(piece)

    def end(self, parts: list[StreamPart], *, is_whole: bool) -> None:
        if not is_whole:
            parts.append(ToolInputEnd(id=self._id))
            return
        written: JsonValue = self._arguments.whole
        text = dump_json(written).decode()
        parts.append(ToolInputDelta(id=self._id, delta=text))
        parts.append(ToolInputEnd(id=self._id))
        parts.append(
            ToolCall(
                tool_call_id=self._id,
                tool_name=self._name,
                input=text,
                provider_executed=self._is_executed,
                dynamic=self._is_dynamic,
                provider_metadata={NAME: self._told},
            )
        )
