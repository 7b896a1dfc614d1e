"""The answers, as bytes on the wire; each is made once."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.server.options import Options

USAGE = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
WORDS = ("alpha ", "beta ", "gamma ", "delta ", "epsilon ", "zeta ", "eta ", "theta ")
LONGER_WORDS = ("αλφα ", "βήτα ", "日本語 ", "emoji 🧅 ", "ñandú ", "Привет ", "데이터 ", "naïve ")
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nx-request-id: req_1\r\n"
STREAM_HEAD = (
    HEAD % b"text/event-stream; charset=utf-8" + b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)
COMMON = {"id": "chatcmpl-1", "created": 1700000000, "model": "fake-1"}


def to_bytes(data: object) -> bytes:
    """JSON as a provider writes it."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()


def tool_calls(step: int, count: int) -> list[dict[str, object]]:
    """The calls of one step."""
    return [
        {
            "id": f"call_{step}_{number}",
            "type": "function",
            "function": {"name": "add", "arguments": f'{{"a":{step},"b":{number}}}'},
        }
        for number in range(count)
    ]


@cache
def whole(options: Options, step: int) -> bytes:
    """An answer that is not streamed."""
    message: dict[str, object] = {
        "role": "assistant",
        "content": "".join(WORDS[:4]),
        "refusal": None,
        "annotations": [],
    }
    is_calling = step < options.tool_steps
    if is_calling:
        message = {"role": "assistant", "content": None, "tool_calls": tool_calls(step, options.calls)}
    reason = "tool_calls" if is_calling else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    body = to_bytes(
        {**COMMON, "object": "chat.completion", "choices": [choice], "usage": USAGE, "system_fingerprint": "fp"}
    )
    return HEAD % b"application/json" + b"content-length: %d\r\n\r\n%b" % (len(body), body)


def event(delta: dict[str, object], reason: str | None = None) -> bytes:
    """One chunk of a streamed answer."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    chunk = {
        **COMMON,
        "object": "chat.completion.chunk",
        "system_fingerprint": "fp",
        "choices": [choice],
        "usage": None,
    }
    return b"data: " + to_bytes(chunk) + b"\n\n"


def events(options: Options, step: int) -> list[bytes]:
    """All events of a streamed answer."""
    found = [event({"role": "assistant", "content": ""})]
    if step < options.tool_steps:
        for index, call in enumerate(tool_calls(step, options.calls)):
            found.append(event({"tool_calls": [{"index": index, **call}]}))
        found.append(event({}, "tool_calls"))
    else:
        words = LONGER_WORDS if options.split else WORDS
        found += [event({"content": words[number % len(words)]}) for number in range(options.deltas)]
        found.append(event({}, "stop"))
    usage: dict[str, object] = {**COMMON, "object": "chat.completion.chunk", "choices": [], "usage": USAGE}
    return [*found, b"data: " + to_bytes(usage) + b"\n\n", b"data: [DONE]\n\n"]


@cache
def writes(options: Options, step: int) -> tuple[bytes, ...]:
    """What goes out at once of a streamed answer; each is one HTTP chunk."""
    all_events = events(options, step)
    if options.split:
        body = b"".join(all_events)
        pieces = [body[start : start + options.split] for start in range(0, len(body), options.split)]
    else:
        per = options.events_per_write
        pieces = [b"".join(all_events[start : start + per]) for start in range(0, len(all_events), per)]
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]
    return (
        (STREAM_HEAD + chunks[0], *chunks[1:-1], chunks[-1] + b"0\r\n\r\n")
        if len(chunks) > 1
        else (STREAM_HEAD + chunks[0] + b"0\r\n\r\n",)
    )
