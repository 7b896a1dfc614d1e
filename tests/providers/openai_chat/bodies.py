"""Answers of a chat server, written as it writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onion.spec.call import CallOptions
from onion.spec.prompt import TextPart, UserMessage

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

KEY = "sk-TESTKEY-123"
HELLO = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))
USAGE: JsonObject = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
HEAD: JsonObject = {"id": "cc-1", "created": 1_760_000_000, "model": "m-1"}
COMPLETION: JsonObject = {
    **HEAD,
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "reasoning_content": "Greet.",
                "content": "Hello, world",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "wave", "arguments": '{"n":2}'}}],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": USAGE,
}
DONE = b"data: [DONE]\n\n"


def event(data: JsonValue) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def delta(message: JsonObject, finish: str | None = None) -> bytes:
    """An event with one choice."""
    return event({**HEAD, "choices": [{"index": 0, "delta": message, "finish_reason": finish}]})


def text(said: str) -> bytes:
    """An event with text."""
    return delta({"content": said})


def fragment(arguments: str, name: str = "") -> bytes:
    """An event with a piece of a call."""
    call: JsonObject = {"index": 0, "function": {"name": name, "arguments": arguments}, "id": "c1" if name else ""}
    return delta({"tool_calls": [call]})


STREAM = (
    delta({"role": "assistant", "content": ""}),
    delta({"reasoning_content": "Gre"}),
    delta({"reasoning_content": "et."}),
    text("Hello, "),
    text("world"),
    fragment("", "wave"),
    fragment('{"n"'),
    fragment(":2}"),
    delta({}, "tool_calls"),
    event({**HEAD, "choices": [], "usage": USAGE}),
    DONE,
)
"""`COMPLETION`, streamed."""
