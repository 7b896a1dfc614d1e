"""The cases of streams and calls that come in the chat format, as every other format would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases.case import Case
from tests.cases.run import faults_of
from tests.providers.renderings import RENDERINGS, Block, sse

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.spec.base import JsonObject, JsonValue

every_format = pytest.mark.parametrize("name", RENDERINGS)
in_pieces = pytest.mark.parametrize("name", [name for name in RENDERINGS if name != "gemini"])
"""The formats whose calls come in pieces of JSON text."""

SPOKEN = Block("text", ("Hello, ", "world"))
TRANSFER = Block("call", ('{"to":"acct-1",', '"cents":500}'), id="L1", name="transfer")
GOOD: JsonObject = {"text": "Hello, world", "finish": "stop", "finish_count": 1, "errors": 0, "text_blocks": 1}


async def faults(name: str, body: str, **expect: JsonValue) -> list[str]:
    """What is wrong of the answer *body*, in one piece, in seven bytes and byte by byte."""
    return await faults_of(Case("made", "sse_stream", (name,), {"sse": body, "expect": expect}))


def in_two_lines(body: str) -> str:
    """C03: the JSON of each event over two data lines, and CRLF for every end of a line."""
    return body.replace(", ", ",\ndata: ").replace("Hello,\ndata: ", "Hello, ").replace("\n", "\r\n")


def with_noise(body: str) -> str:
    """C04: comments, heartbeats and events without data."""
    return ": PROCESSING\n\n" + body.replace("\n\n", "\n\n:\n\nid: 7\n\nretry: 5\n\ndata:\n\nevent: ping\n\n: x\n\n")


async def test_what_differs_would_be_found() -> None:
    body = sse(RENDERINGS["anthropic"].body([SPOKEN]))

    found = await faults("anthropic", body, **{**GOOD, "text": "Hello", "finish": "length", "text_blocks": 2})

    assert {fault.partition(":")[0] for fault in found} == {"text", "finish", "text_blocks"}


@every_format
@pytest.mark.parametrize("framed", [in_two_lines, with_noise], ids=["C03", "C04"])
async def test_a_stream_may_be_framed_in_odd_ways(name: str, framed: Callable[[str], str]) -> None:
    body = framed(sse(RENDERINGS[name].body([SPOKEN])))

    assert await faults(name, body, **GOOD) == []


@every_format
@pytest.mark.parametrize(
    "text", ["first\u2028second \u2029 end\x85.", "\u5317\u4eac\u665a\u4e0a\u597d \U0001f9c5"], ids=["C01", "C02"]
)
async def test_every_character_comes_whole(name: str, text: str) -> None:
    body = sse(RENDERINGS[name].body([Block("text", (text[:3], text[3:]))]))

    assert await faults(name, body, text=text, finish="stop", errors=0) == []


@every_format
async def test_a_stream_that_stops_before_its_reason_failed_after_what_it_said(name: str) -> None:  # C05
    body = sse(RENDERINGS[name].body([SPOKEN], None))

    assert await faults(name, body, text="Hello, world", finish="error", finish_count=1, errors=1) == []


@every_format
@pytest.mark.parametrize("body", ["", ": ping\n\n: ping\n\n", "\n\n\n"], ids=["nothing", "comments", "blank lines"])
async def test_a_stream_without_events_is_no_answer(name: str, body: str) -> None:  # C06
    assert await faults(name, body, raised="StreamInterruptedError") == []


@every_format
async def test_a_failure_in_the_middle_is_told_after_what_came(name: str) -> None:  # C07
    form = RENDERINGS[name]
    body = sse([*form.body([SPOKEN], None), form.error("the engine is on fire")])

    told: JsonObject = {"text": "Hello, world", "finish": "error", "finish_count": 1, "errors": 1}
    assert await faults(name, body, **told, error_contains=["the engine is on fire"]) == []


@every_format
async def test_an_end_that_comes_twice_is_one(name: str) -> None:  # C10
    form = RENDERINGS[name]
    end = form.end(form.reasons["stop"])
    body = sse([*form.body([SPOKEN]), *end]) + "data: [DONE]\n\ndata: [DONE]\n\n"

    assert await faults(name, body, **GOOD) == []


@every_format
async def test_reasoning_and_text_in_turn_are_blocks_of_their_own(name: str) -> None:  # C13
    blocks = [
        Block("reasoning", ("first ", "thought")),
        Block("text", ("Partial.",)),
        Block("reasoning", ("second thought",)),
        Block("text", (" Rest.",)),
    ]

    told: JsonObject = {"text": "Partial. Rest.", "reasoning": "first thoughtsecond thought", "text_blocks": 2}
    assert await faults(name, sse(RENDERINGS[name].body(blocks)), **told) == []


CALLS: list[JsonValue] = [
    {"id": "w1", "name": "weather", "input": {"city": "Oslo"}},
    {"id": "w2", "name": "time", "input": {"zone": "UTC"}},
]


@every_format
@pytest.mark.parametrize("is_interleaved", [False, True], ids=["in turn", "C16"])
async def test_pieces_of_several_calls_go_to_their_own_call(name: str, *, is_interleaved: bool) -> None:
    blocks = [
        Block("call", ('{"city":', '"Os', 'lo"}'), id="w1", name="weather"),
        Block("call", ('{"zone":"U', 'TC"', "}"), id="w2", name="time"),
    ]

    body = RENDERINGS[name].body(blocks, "tool-calls", is_interleaved=is_interleaved)

    assert await faults(name, sse(body), tool_calls=CALLS, finish="tool-calls", finish_count=1, errors=0) == []


@in_pieces
async def test_a_prefix_that_parses_is_not_the_input(name: str) -> None:  # C18
    block = Block("call", ('{"query": "test"}', ', "limit": 10}'), id="p1", name="search")
    wanted: list[JsonValue] = [
        {"id": "p1", "name": "search", "invalid": True, "raw": '{"query": "test"}, "limit": 10}'}
    ]

    body = sse(RENDERINGS[name].body([block], "tool-calls"))

    assert await faults(name, body, tool_calls=wanted, executed_tools=[], finish="tool-calls", finish_count=1) == []


@every_format
@pytest.mark.parametrize("reason", ["length", "content-filter", "other"])
async def test_a_call_of_an_answer_that_was_cut_is_told_and_not_run(name: str, reason: str) -> None:  # C22
    wanted: list[JsonValue] = [{"id": "L1", "name": "transfer", "input": {"to": "acct-1", "cents": 500}}]

    body = sse(RENDERINGS[name].body([TRANSFER], reason))

    expect: JsonObject = {"tool_calls": wanted, "finish": reason, "executed_tools": [], "steps": 1}
    assert await faults(name, body, **expect) == []


@every_format
async def test_a_call_without_arguments_has_an_empty_object(name: str) -> None:  # C17
    pieces = ("{}",) if name == "gemini" else ("", "")
    wanted: list[JsonValue] = [{"id": "s1", "name": "snooze", "input": {}}]

    body = sse(RENDERINGS[name].body([Block("call", pieces, id="s1", name="snooze")], "tool-calls"))

    assert await faults(name, body, tool_calls=wanted, finish="tool-calls", errors=0, executed_tools=["snooze"]) == []
