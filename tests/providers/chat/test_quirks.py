"""What servers do that a naive client gets wrong: one row per observation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from onion.providers._chat import ChunkReader, to_result
from onion.providers._model import AnswerDecoder
from onion.providers._sse import SSEDecoder
from onion.spec.content import Reasoning, ToolCall, URLSource
from tests.providers.chat.decoding import NAME, called, checked, chunk, collected, counting, decode, fragment, said

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.result import GenerateResult

USAGE: JsonObject = {"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 13}
NO_CHOICE: JsonObject = {"id": "cc-1", "choices": []}


class Seen(NamedTuple):
    """What matters of an answer in these rows."""

    text: str = "yes"
    reasoning: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    finish: str = "stop"
    tokens: tuple[int | None, int | None] = (12, 1)


def seen(result: GenerateResult) -> Seen:
    """What matters of *result*."""
    usage = result.usage
    return Seen(
        text=result.text,
        reasoning="".join(part.text for part in result.content if isinstance(part, Reasoning)),
        calls=tuple((p.tool_call_id, p.tool_name, p.input) for p in result.content if isinstance(p, ToolCall)),
        finish=result.finish_reason.unified,
        tokens=(usage.input_tokens.total, usage.output_tokens.total),
    )


def with_usage(**members: JsonValue) -> JsonObject:
    """A chunk without choices."""
    return {**NO_CHOICE, "usage": USAGE, **members}


ONE_CALL = (("a", "f", '{"x":1}'),)
STREAMS: dict[str, tuple[list[JsonObject], Seen]] = {
    "usage in a chunk without choices": ([said("yes"), chunk({}, "stop"), with_usage()], Seen()),
    "usage in the finish chunk": ([said("yes"), chunk({}, "stop", usage=USAGE)], Seen()),
    "usage after the finish in a chunk with an empty choice": (
        [said("yes"), chunk({}, "stop"), chunk({"content": ""}, None, usage=USAGE)],
        Seen(),
    ),
    "usage in every chunk, as a running total": (
        [
            chunk({"content": "ye"}, None, usage={"prompt_tokens": 12, "completion_tokens": 9}),
            chunk({"content": "s"}, "stop", usage=USAGE),
        ],
        Seen(),
    ),
    "usage null in all chunks but the last": (
        [chunk({"content": "yes"}, None, usage=None), chunk({}, "stop", usage=None), with_usage()],
        Seen(),
    ),
    "usage under x_groq": ([said("yes"), chunk({}, "stop", x_groq={"usage": USAGE})], Seen()),
    "no usage at all": ([said("yes"), chunk({}, "stop")], Seen(tokens=(None, None))),
    "a further chunk after the usage": (
        [said("yes"), chunk({}, "stop"), with_usage(), {**NO_CHOICE, "moderation": {"ok": True}}],
        Seen(),
    ),
    "a chunk without choices in the middle": (
        [said("yes"), with_usage(), called(fragment('{"x":1}', "f", index=0, id="a")), chunk({}, "tool_calls")],
        Seen(calls=ONE_CALL, finish="tool-calls"),
    ),
    "null content with reasoning and calls": (
        [
            chunk({"content": None, "reasoning_content": "hm"}),
            chunk({"content": None, "tool_calls": [fragment('{"x":1}', "f", index=0, id="a")]}),
            chunk({}, "tool_calls", usage=USAGE),
        ],
        Seen(text="", reasoning="hm", calls=ONE_CALL, finish="tool-calls"),
    ),
    "content as a list, then as a text": (
        [
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            said("yes"),
            chunk({"content": ""}, "stop", usage=USAGE),
        ],
        Seen(reasoning="hm"),
    ),
    "the same reasoning in two fields": (
        [
            chunk({"content": "", "reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
            said("yes"),
            chunk({}, "stop", usage=USAGE),
        ],
        Seen(reasoning="hm"),
    ),
    "think tags that stay in the text for a layer": (
        [said("<th"), said("ink>hm</think>yes"), chunk({}, "stop", usage=USAGE)],
        Seen(text="<think>hm</think>yes"),
    ),
    "a field for reasoning that holds pieces of a tag": (
        [
            chunk({"reasoning": "<th"}),
            chunk({"reasoning": "ink"}),
            chunk({"reasoning": ">hm"}),
            said("yes"),
            chunk({}, "stop", usage=USAGE),
        ],
        Seen(reasoning="<think>hm"),
    ),
    "empty members that mean nothing": (
        [
            {
                **chunk(),
                "choices": [
                    {
                        "delta": {
                            "content": "yes",
                            "refusal": "",
                            "audio": {"data": ""},
                            "function_call": {"name": "", "arguments": ""},
                            "tool_calls": None,
                        },
                        "logprobs": {"content": None, "refusal": None},
                        "finish_reason": "stop",
                    }
                ],
                "usage": USAGE,
            }
        ],
        Seen(),
    ),
    "an index that begins at one": (
        [
            said("yes"),
            called(fragment("", "f", index=1, id="a")),
            called(fragment('{"x":1}', index=1)),
            chunk({}, "tool_calls", usage=USAGE),
        ],
        Seen(calls=ONE_CALL, finish="tool-calls"),
    ),
    "later deltas with an empty id": (
        [
            said("yes"),
            called(fragment('{"x"', "f", index=0, id="a")),
            called(fragment(":1}", index=0, id="")),
            chunk({}, "tool_calls", usage=USAGE),
        ],
        Seen(calls=ONE_CALL, finish="tool-calls"),
    ),
    "later deltas with an empty name and the whole arguments": (
        [
            said("yes"),
            called(fragment("", "f", index=0, id="a")),
            called(fragment('{"x":1}', "", index=0)),
            chunk({}, "tool_calls", usage=USAGE),
        ],
        Seen(calls=ONE_CALL, finish="tool-calls"),
    ),
    "a delta without index and type": (
        [
            said("yes"),
            called({"id": "a", "function": {"name": "f", "arguments": '{"x":1}'}}),
            chunk({}, "tool_calls", usage=USAGE),
        ],
        Seen(calls=ONE_CALL, finish="tool-calls"),
    ),
    "no key for the finish reason in most chunks": (
        [{"choices": [{"index": 0, "delta": {"content": "yes"}}]}, chunk({}, "stop", usage=USAGE)],
        Seen(),
    ),
    "an empty finish reason": ([said("yes"), chunk({}, "", usage=USAGE)], Seen()),
    "no finish reason at all": ([said("yes"), with_usage()], Seen()),
    "the finish chunk twice": ([said("yes"), chunk({}, "stop"), chunk({}, "stop"), with_usage()], Seen()),
    "cut by the token limit": ([said("ye"), chunk({}, "length", usage=USAGE)], Seen(text="ye", finish="length")),
    "a first chunk without choices, id and model": (
        [
            {"choices": [], "id": "", "model": "", "created": 0, "prompt_filter_results": []},
            said("yes"),
            chunk({}, "stop", usage=USAGE),
        ],
        Seen(),
    ),
    "filter results of which some are empty": (
        [
            {**said("yes"), "choices": [{"delta": {"content": "yes"}, "content_filter_results": {}}]},
            {**NO_CHOICE, "choices": [{"delta": {}, "finish_reason": "stop", "content_filter_results": {"hate": {}}}]},
            with_usage(),
        ],
        Seen(),
    ),
    "the role in every delta": (
        [chunk({"role": "assistant", "content": "yes"}), chunk({"role": "assistant"}, "stop", usage=USAGE)],
        Seen(),
    ),
    "unknown members everywhere": (
        [{**said("yes"), "obfuscation": "x", "kv": {"a": [1]}}, {**chunk({"junk": 1}, "stop"), "usage": USAGE}],
        Seen(),
    ),
}


@pytest.mark.parametrize(("chunks", "expected"), STREAMS.values(), ids=STREAMS.keys())
def test_a_stream_is_understood_with(chunks: list[JsonObject], expected: Seen) -> None:
    assert seen(decode(*chunks)) == expected


MESSAGES: dict[str, tuple[JsonObject, Seen]] = {
    "no key for the content": (
        {"tool_calls": [fragment('{"x":1}', "f", id="")]},
        Seen(text="", calls=(("made-1", "f", '{"x":1}'),)),
    ),
    "no arguments key": (
        {"content": "yes", "tool_calls": [fragment(None, "f", id="a")]},
        Seen(calls=(("a", "f", "{}"),)),
    ),
    "an index outside of a stream": (
        {"content": "yes", "tool_calls": [fragment('{"x":1}', "f", id="a", index=0)]},
        Seen(calls=ONE_CALL),
    ),
    "no type in the call": (
        {"content": "yes", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x":1}'}}]},
        Seen(calls=ONE_CALL),
    ),
    "an empty list of calls": ({"content": "yes", "tool_calls": []}, Seen()),
    "several calls": (
        {"content": "yes", "tool_calls": [fragment('{"x":1}', "f", id="a"), fragment("{}", "g", id="b")]},
        Seen(calls=(*ONE_CALL, ("b", "g", "{}"))),
    ),
    "reasoning_content": ({"content": "yes", "reasoning_content": "hm"}, Seen(reasoning="hm")),
    "reasoning": ({"content": "yes", "reasoning": "hm"}, Seen(reasoning="hm")),
    "reasoning that is no text": ({"content": "yes", "reasoning": {"a": 1}}, Seen()),
}


@pytest.mark.parametrize(("message", "expected"), MESSAGES.values(), ids=MESSAGES.keys())
def test_a_whole_answer_is_understood_with(message: JsonObject, expected: Seen) -> None:
    body: JsonObject = {"choices": [{"message": message, "finish_reason": ""}], "usage": USAGE}

    finish = "tool-calls" if expected.calls else "stop"
    assert seen(to_result(body, name=NAME, generate_id=counting())) == expected._replace(finish=finish)


def test_the_first_id_that_says_something_counts() -> None:
    ids = ("", "cc-7", "cc-8", "stub")

    response = decode(*({**said("a"), "id": each} for each in ids)).response

    assert response is not None
    assert response.id == "cc-7"


def test_ids_that_stay_empty_are_none() -> None:
    response = decode({**said("a"), "id": ""}).response

    assert response is not None
    assert response.id is None


def test_citations_that_come_with_every_chunk_are_sources_once() -> None:
    found = decode(*(chunk({"content": "a"}, None, citations=["https://a.example"]) for _ in range(3)))

    assert [part.url for part in found.content if isinstance(part, URLSource)] == ["https://a.example"]


def test_comments_escapes_and_four_byte_characters_arrive_whole() -> None:
    body = (
        b": PROCESSING\n\n: PROCESSING\n\n"
        b'data: {"choices":[{"delta":{"content":"\\u003cb\\u003e \xf0\x9f\x98\x80"}}]}\n\n'
        b": PROCESSING\n\ndata: [DONE]\n\n"
    )
    events, decoder = SSEDecoder(), AnswerDecoder(ChunkReader(NAME))

    parts = [part for byte in body for part in decoder.feed_events(events.feed(bytes([byte])))]

    assert collected(checked([*parts, *decoder.end()])).text == "<b> 😀"
