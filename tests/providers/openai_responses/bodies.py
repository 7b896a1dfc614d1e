"""Answers of a server with the Responses API, written as it writes them."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING

from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.providers.openai_responses.events import EventReader
from onion.providers.openai_responses.result import to_result
from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage
from onion.streaming import Collector
from onion.testing.rules import StreamRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult

NAME = "openai"
KEY = "sk-TESTKEY-123"
HELLO = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))
USAGE: JsonObject = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 14,
}
HEAD: JsonObject = {"id": "resp_1", "object": "response", "created_at": 1_760_000_000, "model": "m-1", "error": None}

REASONING: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Greet."}],
    "encrypted_content": "E-whole",
}
MESSAGE: JsonObject = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello, world", "annotations": [], "logprobs": []}],
}
CALL: JsonObject = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "wave",
    "arguments": '{"n":2}',
    "status": "completed",
}


def response(*items: JsonObject, **more: JsonValue) -> dict[str, JsonValue]:
    """A whole answer."""
    return {**HEAD, "status": "completed", "output": list(items), "usage": USAGE, **more}


def message(text: str, **more: JsonValue) -> dict[str, JsonValue]:
    """A message that says *text*."""
    return {**MESSAGE, "content": [{"type": "output_text", "text": text, "annotations": []}], **more}


def event(kind: str, **members: JsonValue) -> dict[str, JsonValue]:
    """One event; *kind* lacks ``response.``."""
    return {"type": f"response.{kind}", **members}


def sse(*events: JsonValue) -> bytes:
    """Events as they are sent."""
    return b"".join(b"data: " + json.dumps(found).encode() + b"\n\n" for found in events)


def streamed(*items: JsonObject, **more: JsonValue) -> list[dict[str, JsonValue]]:
    """The events of an answer whose items come whole."""
    events = [event("created", response={**HEAD, "status": "in_progress", "output": []})]
    for index, item in enumerate(items):
        events.append(event("output_item.added", output_index=index, item=begun(item)))
        events.append(event("output_item.done", output_index=index, item=item))
    return [*events, event("completed", response=response(*items, **more))]


def begun(item: JsonObject) -> dict[str, JsonValue]:
    """The item as it is announced."""
    empty: dict[str, JsonValue] = {
        "content": [],
        "summary": [],
        "arguments": "",
        "input": "",
        "code": "",
        "result": None,
    }
    return {key: empty.get(key, found) for key, found in item.items()} | {"status": "in_progress"}


EVENTS: tuple[dict[str, JsonValue], ...] = (
    event("created", response={**HEAD, "status": "in_progress", "output": []}),
    event("in_progress", response={**HEAD, "status": "in_progress", "output": []}),
    event("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs_1", "encrypted_content": "E"}),
    event("reasoning_summary_part.added", output_index=0, summary_index=0, part={"type": "summary_text", "text": ""}),
    event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="Gre"),
    event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="et."),
    event("reasoning_summary_text.done", output_index=0, summary_index=0, text="Greet."),
    event("output_item.done", output_index=0, item=REASONING),
    event("output_item.added", output_index=1, item=begun(MESSAGE)),
    event("output_text.delta", output_index=1, content_index=0, delta="Hello, ", obfuscation="xx"),
    event("output_text.delta", output_index=1, content_index=0, delta="world"),
    event("output_text.done", output_index=1, content_index=0, text="Hello, world"),
    event("output_item.done", output_index=1, item=MESSAGE),
    event("output_item.added", output_index=2, item=begun(CALL)),
    event("function_call_arguments.delta", output_index=2, delta='{"n"'),
    event("function_call_arguments.delta", output_index=2, delta=":2}"),
    event("function_call_arguments.done", output_index=2, arguments='{"n":2}'),
    event("output_item.done", output_index=2, item=CALL),
    event("completed", response=response(REASONING, MESSAGE, CALL)),
)
RESPONSE = response(REASONING, MESSAGE, CALL)
STREAM = tuple(sse(found) for found in EVENTS)
"""`RESPONSE`, streamed."""


def decode(
    pieces: Iterable[bytes], *, tool_names: Mapping[str, str] | None = None, include_raw: bool = False
) -> list[StreamPart]:
    """The parts of a body, checked against the rules of the contract."""
    return checked(unchecked(pieces, tool_names=tool_names, include_raw=include_raw))


def unchecked(
    pieces: Iterable[bytes], *, tool_names: Mapping[str, str] | None = None, include_raw: bool = False
) -> list[StreamPart]:
    """The parts of a body."""
    numbers = count()
    events = SSEDecoder()
    decoder = AnswerDecoder(
        EventReader(NAME, tool_names=tool_names, generate_id=lambda: f"made-{next(numbers)}"), include_raw=include_raw
    )
    parts: list[StreamPart] = []
    for piece in pieces:
        parts += decoder.feed_events(events.feed(piece))
    parts += decoder.feed_events(events.end(), is_rest=True)
    return [*parts, *decoder.end()]


def checked(parts: list[StreamPart]) -> list[StreamPart]:
    """The *parts*, which keep the grammar."""
    rules = StreamRules("the decoder", strict=True)
    for part in parts:
        rules.feed(part)
    rules.ended()
    return parts


def parts_of(*events: JsonValue, tool_names: Mapping[str, str] | None = None) -> list[StreamPart]:
    """The parts of an answer that is streamed in these events."""
    return decode([sse(*events)], tool_names=tool_names)


def collected(parts: Iterable[StreamPart]) -> GenerateResult:
    """The answer that *parts* make."""
    collector = Collector()
    for part in parts:
        collector.feed(part)
    return collector.result()


def both(*items: JsonObject, **more: JsonValue) -> GenerateResult:
    """The answer with these items: whole and streamed it is the same."""
    numbers, others = count(), count()
    whole = to_result(response(*items, **more), name=NAME, generate_id=lambda: f"made-{next(numbers)}")
    decoder = AnswerDecoder(EventReader(NAME, generate_id=lambda: f"made-{next(others)}"))
    parts = [part for found in streamed(*items, **more) for part in decoder.feed(found)]
    result = collected(checked([*parts, *decoder.end()]))
    assert (result.content, result.finish_reason, result.usage) == (whole.content, whole.finish_reason, whole.usage)
    assert result.provider_metadata == whole.provider_metadata
    return whole
