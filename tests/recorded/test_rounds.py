"""The request that follows a recorded answer: what the model said goes back whole and in its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fuzz.seeds import OWN
from tests.recorded.exchanges import RECORDINGS, Exchange, load_exchange
from tests.recorded.lost import lost
from tests.recorded.rounds import (
    NOT_DECLARED,
    NOT_SENT_BACK,
    WARNED_OF,
    marks,
    next_request,
    parsed,
    said,
)
from tests.recorded.run import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec.base import JsonValue

FAILS = {"ai-openai-error-1-s", "pa-groq-tool-use-failed-error-streaming-0", "pa-openrouter-stream-error-0"}
"""Answers that end in a failure: there is no next request."""


def is_answered(path: Path) -> bool:
    """Whether there is an answer to go on from."""
    exchange = load_exchange(path)
    is_answer = exchange.status < 300 and (exchange.sse is not None or isinstance(exchange.body, dict))
    return is_answer and exchange.id not in FAILS


FILES = [path for name in FORMATS for path in sorted(RECORDINGS.joinpath(name).glob("*.json")) if is_answered(path)]


@pytest.mark.skipif(not FILES, reason="the recordings are not here: ../shared/recordings beside the checkout")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
async def test_what_the_model_said_goes_back_whole_and_in_its_order(path: Path) -> None:
    exchange = load_exchange(path)
    own = [parsed(piece) for piece in said(exchange)]

    sent, warnings = await next_request(exchange, dict(OWN[exchange.provider].text))

    faults = lost(own, parsed(sent), NOT_SENT_BACK, {})
    if exchange.id in NOT_DECLARED:
        faults = [fault for fault in faults if not fault.startswith("lost: input = ")]
    assert faults == []
    known = set(marks(own))
    assert [mark for mark in marks(sent) if mark in known] == [mark for mark in marks(own) if mark in set(marks(sent))]
    assert bool(warnings) is (exchange.id in WARNED_OF)


async def test_what_does_not_go_back_would_be_found() -> None:
    message: JsonValue = {"content": "hi", "novelty": "x", "tool_calls": []}
    body: JsonValue = {"choices": [{"message": message, "finish_reason": "stop"}]}
    exchange = Exchange("made", "openai-chat", "m", 200, {"content-type": "application/json"}, body, None, None)

    sent, _ = await next_request(exchange, dict(OWN["openai-chat"].text))

    assert lost(said(exchange), sent, NOT_SENT_BACK, {}) == ["lost: novelty = 'x'"]


def test_marks_are_found_in_their_order() -> None:
    assert marks([{"id": "b"}, {"signature": "a", "x": {"id": "c"}}, {"id": "b"}, {"id": ""}]) == ["b", "a", "c"]
