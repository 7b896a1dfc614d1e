"""Hypothesis strategies for the values of the contract. Needs `hypothesis`, which the extra ``testing`` brings."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeVar, Union, get_args, get_origin

from hypothesis import strategies as st

from onion.errors import APICallError, StreamProviderError
from onion.spec.call import CallOptions
from onion.spec.content import Content, Custom, File, ToolApprovalRequest, ToolCall, ToolResult, URLSource
from onion.spec.parts import (
    FinishPart,
    RawPart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from onion.spec.result import GenerateResult

if TYPE_CHECKING:
    from onion.spec.base import JsonValue, ProviderMetadata

T = TypeVar("T")
_UNIONS: tuple[object, ...] = (Union, types.UnionType)
_SHORT = 3

texts: st.SearchStrategy[str] = st.text(max_size=8)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=_SHORT) | st.dictionaries(texts, inner, max_size=_SHORT),
    max_leaves=_SHORT,
)
_times = st.integers(0, 4_000_000_000_000).map(lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms))
_errors: st.SearchStrategy[Exception] = (
    st.builds(APICallError, texts, status_code=st.none() | st.integers(400, 599), url=texts)
    | st.builds(StreamProviderError, texts, is_retryable=st.booleans())
    | st.builds(Exception, texts)
)


_LEAVES: Mapping[object, st.SearchStrategy[object]] = {
    type(None): st.none(),
    str: texts,
    bool: st.booleans(),
    int: st.integers(0, 1_000_000),
    float: st.floats(0, 100),
    bytes: st.binary(max_size=8),
    datetime: _times,
    Exception: _errors,
    object: json_values | _errors,
}


def values(kind: type[T]) -> st.SearchStrategy[T]:
    """Objects of a class of the contract, built from the declared types of its members."""
    return st.builds(kind, **_members(kind))


@functools.cache
def values_of(kind: object) -> st.SearchStrategy[object]:
    """Values of any type that the contract uses: a class, a union such as `Message`, a tuple such as `Prompt`."""
    arguments = get_args(kind)
    origin: object = get_origin(kind)
    if origin in _UNIONS:
        is_json = any(get_origin(member) is Sequence for member in arguments)
        return json_values if is_json else st.one_of([values_of(member) for member in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=_SHORT).map(tuple)
    if origin is Mapping:
        return st.dictionaries(texts, values_of(arguments[1]), max_size=2)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return values(kind)
    return _LEAVES[kind]


def _members(kind: type) -> dict[str, st.SearchStrategy[object]]:
    hints = typing.get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if field.metadata.get("json", True)]
    return {field.name: values_of(hints[field.name]) for field in fields}


def params() -> st.SearchStrategy[CallOptions]:
    """Calls of all kinds, whose tools have different names."""
    return values(CallOptions).map(_with_one_tool_per_name)


def _with_one_tool_per_name(made: CallOptions) -> CallOptions:
    tools = {tool.name: tool for tool in made.tools or ()}
    return made if made.tools is None else made.replace(tools=tuple(tools.values()))


def answers() -> st.SearchStrategy[GenerateResult]:
    """Whole answers of all kinds, whose tool calls have different ids."""
    return values(GenerateResult).map(lambda made: dataclasses.replace(made, content=_with_ids(made.content)))


def _with_ids(content: Sequence[Content]) -> tuple[Content, ...]:
    return tuple(
        dataclasses.replace(part, tool_call_id=f"call-{number}") if isinstance(part, ToolCall) else part
        for number, part in enumerate(content)
    )


@st.composite
def streams(draw: st.DrawFn) -> tuple[StreamPart, ...]:
    """Streams that keep the grammar: blocks of all kinds, in a row or interleaved, between start and finish."""
    blocks = [draw(_block(str(number))) for number in range(draw(st.integers(0, 4)))]
    turns = [number for number, block in enumerate(blocks) for _ in block]
    if draw(st.booleans()):
        turns = draw(st.permutations(turns))
    queues = [iter(block) for block in blocks]
    start = draw(st.lists(values(StreamStart), max_size=1))
    return (*start, *(next(queues[turn]) for turn in turns), draw(values(FinishPart)))


@st.composite
def _block(draw: st.DrawFn, name: str) -> Sequence[StreamPart]:
    deltas = draw(st.lists(texts, max_size=_SHORT))
    metadata = draw(_metadata)
    kind = draw(st.sampled_from(["text", "reasoning", "tool", "other"]))
    if kind == "text":
        middle = [TextDelta(id=name, delta=delta) for delta in deltas]
        return [TextStart(id=name), *middle, TextEnd(id=name, provider_metadata=metadata)]
    if kind == "reasoning":
        return [
            ReasoningStart(id=name, provider_metadata=metadata),
            *(ReasoningDelta(id=name, delta=delta) for delta in deltas),
            ReasoningEnd(id=name),
        ]
    if kind == "tool":
        return [
            ToolInputStart(id=name, tool_name="search"),
            *(ToolInputDelta(id=name, delta=delta) for delta in deltas),
            ToolInputEnd(id=name),
            ToolCall(tool_call_id=name, tool_name="search", input="".join(deltas), provider_metadata=metadata),
        ]
    return [draw(_others)]


_metadata: st.SearchStrategy[ProviderMetadata | None] = st.none() | st.dictionaries(
    texts, st.dictionaries(texts, json_values, max_size=2), max_size=2
)
_OTHERS = (RawPart, File, URLSource, Custom, ToolResult, ToolApprovalRequest)
_others: st.SearchStrategy[StreamPart] = st.sampled_from(_OTHERS).flatmap(values)
