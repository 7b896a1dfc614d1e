"""Tool calls put together from the fragments of a stream. Which call a fragment belongs to is the whole difficulty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from onion.errors import JSONParseError
from onion.providers._json import NOTHING, count_in, dump_json, object_in, parse_json, text_in
from onion.providers._surrogates import Halves
from onion.spec.content import ToolCall
from onion.spec.parts import ToolInputDelta, ToolInputEnd, ToolInputStart

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart


class _Call:
    __slots__ = ("extra", "halves", "id", "index", "is_started", "name", "pieces", "server_id")

    def __init__(self, call_id: str, server_id: str, index: int | None) -> None:
        self.id = call_id
        self.server_id = server_id
        self.index = index
        self.name = ""
        self.pieces: list[str] = []
        self.halves = Halves()
        self.extra: JsonObject | None = None
        self.is_started = False

    def start(self, parts: list[StreamPart]) -> None:
        self.is_started = True
        parts.append(ToolInputStart(id=self.id, tool_name=self.name))
        if self.pieces:
            parts.append(ToolInputDelta(id=self.id, delta="".join(self.pieces)))

    def add(self, arguments: str, parts: list[StreamPart]) -> None:
        arguments = self.halves.feed(arguments) if arguments else ""
        if arguments:
            self.pieces.append(arguments)
            if self.is_started:
                parts.append(ToolInputDelta(id=self.id, delta=arguments))

    def end(self, parts: list[StreamPart]) -> None:
        if not self.is_started:
            self.start(parts)
        rest = self.halves.end()
        if rest:
            self.pieces.append(rest)
            parts.append(ToolInputDelta(id=self.id, delta=rest))
        parts.append(ToolInputEnd(id=self.id))


class CallAssembler:
    """Collects the calls of one answer. They are final when the answer ends, and not before: a prefix may parse too.

    A new id begins a new call, whatever the index says. Without an id a known index decides, and without either the
    fragment continues the latest call, unless it plainly begins another.
    """

    def __init__(self, name: str, generate_id: Callable[[], str]) -> None:
        self._name = name
        self._generate_id = generate_id
        self._calls: list[_Call] = []
        self._by_server_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, fragment: JsonObject, parts: list[StreamPart], *, is_whole: bool = False) -> None:
        """Take one entry of ``tool_calls``.

        Args:
            fragment: The entry.
            parts: Where the stream parts go.
            is_whole: The entry is a call of a complete answer, so it is a call of its own.
        """
        function = object_in(fragment, "function") or object_in(fragment, "custom")
        name, arguments = text_in(function, "name"), _arguments(function)
        server_id, index = text_in(fragment, "id"), count_in(fragment, "index")
        call = None if is_whole else self._find(server_id, index, name, arguments)
        if call is None:
            call = self._begin(server_id, index)
        if name and not call.name:
            call.name = name
            call.start(parts)
        call.add(arguments, parts)
        extra = object_in(fragment, "extra_content")
        if extra:
            call.extra = extra

    def end(self, parts: list[StreamPart], *, told: JsonObject = NOTHING) -> None:
        """The answer is complete: close the inputs, and hand the calls out.

        Args:
            parts: Where the stream parts go.
            told: What the message carries back as a whole; it travels with the first call.
        """
        for call in self._calls:
            call.end(parts)
            arguments = "".join(call.pieces)
            metadata: dict[str, JsonValue] = {}
            if call.extra:
                metadata["extra_content"] = call.extra
            if told and call is self._calls[0]:
                metadata["message"] = told
            parts.append(
                ToolCall(
                    tool_call_id=call.id,
                    tool_name=call.name,
                    input=arguments if arguments.strip() else "{}",  # how servers write no arguments
                    provider_metadata={self._name: metadata} if metadata else None,
                )
            )

    def abandon(self, parts: list[StreamPart]) -> None:
        """The answer failed: close the inputs that are open. No call is handed out; it may not be whole."""
        for call in self._calls:
            if call.is_started:
                call.end(parts)

    def _begin(self, server_id: str, index: int | None) -> _Call:
        is_free = bool(server_id) and all(call.id != server_id for call in self._calls)
        call = _Call(server_id if is_free else self._generate_id(), server_id, index)
        self._calls.append(call)
        if server_id:
            self._by_server_id[server_id] = call
        if index is not None:
            self._by_index[index] = call
        return call

    def _find(self, server_id: str, index: int | None, name: str, arguments: str) -> _Call | None:
        if server_id:
            return self._of_id(server_id, index, name)
        latest = self._calls[-1] if self._calls else None
        call = latest if index is None else self._by_index.get(index)
        return None if call is None or _begins_another(call, name, arguments) else call

    def _of_id(self, server_id: str, index: int | None, name: str) -> _Call | None:
        call = self._by_server_id.get(server_id)
        if call is not None:  # some servers number all calls alike, and tell them apart by index
            return call if index is None or call.index in (None, index) else None
        call = self._by_index.get(index) if index is not None else None
        if call is None or call.server_id or name:
            return None
        call.server_id = server_id  # an id that came late
        self._by_server_id[server_id] = call
        return call


def _begins_another(call: _Call, name: str, arguments: str) -> bool:
    """Whether a fragment without id and with this name is a call of its own, and no more of *call*."""
    if not name or not call.name:
        return False
    if name != call.name:
        return True
    return arguments.lstrip().startswith("{") and _is_object("".join(call.pieces))


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), Mapping)
    except JSONParseError:
        return False


def _arguments(function: JsonObject) -> str:
    """The arguments as text; some servers send them parsed."""
    found = function.get("arguments", function.get("input"))
    if isinstance(found, str):
        return found
    return dump_json(found).decode() if isinstance(found, Mapping) else ""
