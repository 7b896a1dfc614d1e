"""Answers and the ways in which they may be cut, for checks that a layer treats all of them alike."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from onion.spec.call import CallOptions, FunctionTool
from onion.spec.content import Custom, File, Reasoning, Text, ToolCall, ToolResult, URLSource
from onion.spec.parts import (
    ReasoningDelta,
    StreamPart,
    TextDelta,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from onion.spec.prompt import FileData, TextPart, UserMessage
from onion.spec.result import GenerateResult, ResponseInfo
from onion.spec.usage import UnsupportedWarning
from onion.streaming import replay_parts
from onion.testing.answers import answer, call
from onion.testing.scripted import ScriptPart, Wait

Cut: TypeAlias = Callable[[str], Sequence[str]]
"""How a text arrives: its pieces."""

_DELTAS = (TextDelta, ReasoningDelta, ToolInputDelta)
QUESTION = CallOptions(
    prompt=(UserMessage(content=(TextPart(text="What is an onion?"),)),),
    tools=(FunctionTool(name="search", input_schema={"type": "object", "properties": {"query": {"type": "string"}}}),),
    headers={"x-request": "1"},
    provider_options={"acme": {"level": 1}},
)
SEARCH = call("search", {"query": "onion"}, id="call-1")
MARKED = dataclasses.replace(
    answer(
        Reasoning(text="Layers.", provider_metadata={"acme": {"mark": "mark-reasoning"}}),
        Text(text="It has layers.", provider_metadata={"acme": {"mark": "mark-text"}}),
        dataclasses.replace(SEARCH, provider_metadata={"acme": {"mark": "mark-call"}}),
    ),
    provider_metadata={"acme": {"mark": "mark-answer"}},
    warnings=(UnsupportedWarning(feature="mark-warning"),),
    response=ResponseInfo(id="mark-response", model_id="mark-model", timestamp=datetime(2026, 1, 2, tzinfo=UTC)),
)
MARKS = ("reasoning", "text", "call", "answer", "warning", "response", "model")
"""What a layer must not lose on the way, each as ``mark-…`` in `MARKED`."""

ANSWERS: Mapping[str, GenerateResult] = {
    "text": answer("An onion has layers."),
    "nothing": answer(),
    "marked": MARKED,
    "two calls": answer("Let me look.", SEARCH, call("search", {"query": "layer"}, id="call-2")),
    "cut off": answer("An onion has", finish_reason="length"),
    "other content": answer(
        ToolCall(tool_call_id="call-1", tool_name="web", input="{}", provider_executed=True),
        ToolResult(tool_call_id="call-1", tool_name="web", result={"found": 1}),
        URLSource(id="source-1", url="https://example.com"),
        File(media_type="image/png", data=FileData(data="AQ==")),
        Custom(kind="acme.seal", provider_metadata={"acme": {"seal": "x"}}),
        "Done.",
    ),
}


def stream_of(result: GenerateResult, cut: Cut = list) -> tuple[ScriptPart, ...]:
    """The parts of *result*, its texts cut into pieces, the input of calls streamed, and a wait before each part."""
    made: list[ScriptPart] = []
    for part in _told(result):
        made.extend((Wait(_pause), *_cut(part, cut)))
    return tuple(made)


def cuts(longest: int) -> Iterator[Cut]:
    """Whole, in single characters, and in two at each place of a text of that length."""
    yield lambda text: [text]
    yield list
    for place in range(1, longest):
        yield functools.partial(_in_two, place)


def longest_text(result: GenerateResult) -> int:
    """How long the longest text or input of *result* is."""
    return max((len(part.delta) for part in _told(result) if isinstance(part, _DELTAS)), default=0)


def _in_two(place: int, text: str) -> list[str]:
    return [piece for piece in (text[:place], text[place:]) if piece]


def _told(result: GenerateResult) -> Iterator[StreamPart]:
    for part in replay_parts(result):
        yield from _with_input(part)


def _with_input(part: StreamPart) -> tuple[StreamPart, ...]:
    if not isinstance(part, ToolCall):
        return (part,)
    name = part.tool_call_id
    return (
        ToolInputStart(id=name, tool_name=part.tool_name, provider_executed=part.provider_executed),
        ToolInputDelta(id=name, delta=part.input),
        ToolInputEnd(id=name),
        part,
    )


def _cut(part: StreamPart, cut: Cut) -> list[StreamPart]:
    if not isinstance(part, _DELTAS):
        return [part]
    return [dataclasses.replace(part, delta=piece) for piece in cut(part.delta)]


async def _pause() -> None:
    await asyncio.sleep(0)
