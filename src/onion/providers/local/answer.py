"""The model's answer as stream parts: what stands between ``<tool_call>`` and ``</tool_call>`` is a tool call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.providers.local.calls import CallReader
from onion.providers.local.tools import CALL_CLOSE, CALL_OPEN
from onion.spec.content import ToolCall
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)

if TYPE_CHECKING:
    from onion.providers.local.convert import CallMode
    from onion.spec.parts import StreamPart
    from onion.spec.usage import FinishReason


class ToolDialect:
    """Takes the parts of a plain text answer and puts tool calls in the place of their text.

    Args:
        mode: With ``must call`` the answer begins inside of a call, and is that call.
        generate_id: Gives each call its id.
    """

    def __init__(self, mode: CallMode, generate_id: Callable[[], str]) -> None:
        self._generate_id = generate_id
        self._is_alone = mode == "must call"
        self._is_over = False
        self._text = _TextBlocks()
        self._call = _Call(generate_id(), is_repeatable=False) if self._is_alone else None
        self._held = ""
        self._calls: list[tuple[str, str]] = []

    def feed(self, parts: Iterable[StreamPart]) -> list[StreamPart]:
        """What takes the place of *parts*."""
        out: list[StreamPart] = []
        for part in parts:
            match part:
                case TextStart() | TextEnd():
                    pass
                case TextDelta():
                    self._read(part.delta, out)
                case ErrorPart():
                    self._end(out, is_broken=True)
                    out.append(part)
                case FinishPart():
                    self._end(out, is_broken=False)
                    out.append(replace(part, finish_reason=self._reason(part.finish_reason)))
                case _:
                    out.append(part)
        return out

    def _read(self, text: str, out: list[StreamPart]) -> None:
        text = self._held + text
        self._held = ""
        while text and not self._is_over:
            tag = CALL_OPEN if self._call is None else CALL_CLOSE
            before, found, text = text.partition(tag)
            if not found:
                kept = _overlap(before, tag)
                before, self._held = before[: len(before) - kept], before[len(before) - kept :]
            self._add(before, out)
            if found and self._call is None:
                self._text.end(out)
                self._call = _Call(self._generate_id(), is_repeatable=bool(self._calls))
            elif found:
                self._end_call(out, is_broken=False)

    def _add(self, text: str, out: list[StreamPart]) -> None:
        if self._call is None:
            self._text.add(text, out)
        else:
            self._call.add(text, out)

    def _end(self, out: list[StreamPart], *, is_broken: bool) -> None:
        """Nothing more comes. A failure has its error part before its finish, so this may be called twice."""
        if not self._is_over:
            self._add(self._held, out)
            self._held = ""
            self._end_call(out, is_broken=is_broken)
            self._text.end(out)
            self._is_over = True

    def _end_call(self, out: list[StreamPart], *, is_broken: bool) -> None:
        call, self._call = self._call, None
        if call is None:
            return
        self._is_over = self._is_alone
        made = call.end(out, known=self._calls, is_broken=is_broken)
        if made is not None:
            self._calls.append(made)
        elif not call.is_repeated:
            self._text.add(call.written if self._is_alone else f"{CALL_OPEN}{call.written}", out)
            self._text.end(out)

    def _reason(self, reason: FinishReason) -> FinishReason:
        return replace(reason, unified="tool-calls") if self._calls and reason.unified == "stop" else reason


class _TextBlocks:
    """Text around the calls. White space is text only if something visible follows it."""

    def __init__(self) -> None:
        self._number = 0
        self._is_open = False
        self._blank: str = ""

    def add(self, text: str, out: list[StreamPart]) -> None:
        if not self._is_open:
            text = self._blank + text
            if not text.strip():
                self._blank = text
                return
            self._blank = ""
            self._is_open = True
            out.append(TextStart(id=str(self._number)))
        if text:
            out.append(TextDelta(id=str(self._number), delta=text))

    def end(self, out: list[StreamPart]) -> None:
        self._blank = ""
        if self._is_open:
            self._is_open = False
            out.append(TextEnd(id=str(self._number)))
            self._number += 1


class _Call:
    """One call. The first is shown while it arrives; a later one when it is whole, since the model likes to repeat."""

    def __init__(self, call_id: str, *, is_repeatable: bool) -> None:
        self.is_repeated = False
        self._id = call_id
        self._reader = CallReader()
        self._is_shown = not is_repeatable
        self._is_started = False
        self._input = ""

    @property
    def written(self) -> str:
        return self._reader.written

    def add(self, text: str, out: list[StreamPart]) -> None:
        added = self._reader.feed(text)
        self._input += added
        if self._is_shown and added:
            self._show(added, out)

    def end(self, out: list[StreamPart], *, known: list[tuple[str, str]], is_broken: bool) -> tuple[str, str] | None:
        """End what is shown, and give name and input if it is a call that was not made before."""
        name = self._reader.name
        if name is None:
            return None
        made = (name, self._input)
        self.is_repeated = made in known
        if self.is_repeated:
            return None
        if not self._is_started:
            self._show(self._input, out)
        out.append(ToolInputEnd(id=self._id))
        if not is_broken:
            out.append(ToolCall(tool_call_id=self._id, tool_name=name, input=self._input))
        return made

    def _show(self, added: str, out: list[StreamPart]) -> None:
        if not self._is_started:
            self._is_started = True
            out.append(ToolInputStart(id=self._id, tool_name=self._reader.name or ""))
        out.append(ToolInputDelta(id=self._id, delta=added))


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of *text* may be the beginning of *tag*."""
    return next((length for length in range(min(len(text), len(tag) - 1), 0, -1) if tag.startswith(text[-length:])), 0)
