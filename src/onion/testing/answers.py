"""Short ways to write down what a scripted model says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onion.spec.content import Content, Text, ToolCall
from onion.spec.parts import FinishPart, StreamStart, TextDelta, TextEnd, TextStart
from onion.spec.result import GenerateResult
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, UnifiedFinishReason, Usage
from onion.testing.scripted import Raise, ScriptPart, Wait

if TYPE_CHECKING:
    from onion.spec.base import JsonValue


def usage(input_tokens: int = 10, output_tokens: int = 5) -> Usage:
    """Usage without cached or reasoning tokens."""
    return Usage(
        input_tokens=InputTokens(total=input_tokens, no_cache=input_tokens),
        output_tokens=OutputTokens(total=output_tokens, text=output_tokens),
    )


def answer(
    *content: Content | str, finish_reason: UnifiedFinishReason | None = None, used: Usage | None = None
) -> GenerateResult:
    """A whole answer; a string is a text part.

    Args:
        finish_reason: Without it ``tool-calls`` if there are calls for the client, else ``stop``.
        used: Without it ten input and five output tokens.
    """
    found = tuple(Text(text=part) if isinstance(part, str) else part for part in content)
    calls = any(isinstance(part, ToolCall) and not part.provider_executed for part in found)
    reason = finish_reason or ("tool-calls" if calls else "stop")
    return GenerateResult(content=found, finish_reason=FinishReason(unified=reason), usage=used or usage())


def text(content: str) -> GenerateResult:
    """An answer of one text."""
    return answer(content)


def call(name: str, input: JsonValue = None, *, id: str = "call-1") -> ToolCall:
    """A tool call; *input* becomes JSON text, None an empty object."""
    return ToolCall(tool_call_id=id, tool_name=name, input=json.dumps({} if input is None else input))


def tool_call(name: str, input: JsonValue = None, *, id: str = "call-1") -> GenerateResult:
    """An answer of one tool call. For several write ``answer(call("a", id="1"), call("b", id="2"))``."""
    return answer(call(name, input, id=id))


def parts(
    *pieces: ScriptPart | str, finish_reason: UnifiedFinishReason | None = None, used: Usage | None = None
) -> tuple[ScriptPart, ...]:
    """The parts of a stream: strings are deltas, those in a row make one block; start and finish are added.

    Raise and Wait do not end a block. A stream that has its own StreamStart or FinishPart keeps it.
    """
    made: list[ScriptPart] = [] if pieces and isinstance(pieces[0], StreamStart) else [StreamStart()]
    blocks = 0
    is_open = False
    for piece in pieces:
        if isinstance(piece, str):
            if not is_open:
                blocks += 1
                made.append(TextStart(id=str(blocks)))
            is_open = True
            made.append(TextDelta(id=str(blocks), delta=piece))
            continue
        if is_open and not isinstance(piece, Raise | Wait):
            made.append(TextEnd(id=str(blocks)))
            is_open = False
        made.append(piece)
    if is_open:
        made.append(TextEnd(id=str(blocks)))
    if not pieces or not isinstance(pieces[-1], FinishPart):
        calls = any(isinstance(piece, ToolCall) and not piece.provider_executed for piece in pieces)
        reason = finish_reason or ("tool-calls" if calls else "stop")
        made.append(FinishPart(finish_reason=FinishReason(unified=reason), usage=used or usage()))
    return tuple(made)
