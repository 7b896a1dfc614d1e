"""Our requests beside those that were recorded: the same in meaning, for the same call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion.errors import UnsupportedFunctionalityError
from onion.providers._json import parse_json, text_in
from onion.providers.openai_responses import OPENAI
from onion.providers.openai_responses.request import to_request
from tests.recorded.exchanges import RECORDINGS, Exchange, load_exchanges, members
from tests.recorded.responses_requests import call_of, meaning

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

EXCHANGES = [
    exchange for exchange in load_exchanges(RECORDINGS / "openai-responses") if "input" in members(exchange.request)
]
WITHOUT_A_WORD = {
    "pa-tool-search-cross-provider-capability-replay-google-gemini-3-flash-954c4d-3": "tools that are added mid-way",
}
"""Recorded requests that hold what a call cannot say."""

ANSWERED = [found for found in EXCHANGES if found.status < 400 and found.id not in WITHOUT_A_WORD]
REFUSED = [found for found in EXCHANGES if found.status >= 400]
pytestmark = pytest.mark.skipif(not EXCHANGES, reason="the recordings are not here: ../shared/recordings")


def ours(body: JsonObject) -> JsonObject:
    """Our request for the call that *body* was sent for, as it goes over the wire."""
    made = to_request(text_in(body, "model"), call_of(body), OPENAI, is_stream=bool(body.get("stream"))).body
    return members(parse_json(json.dumps(made)))


@pytest.mark.parametrize("exchange", ANSWERED, ids=[found.id for found in ANSWERED])
def test_our_request_means_the_same(exchange: Exchange) -> None:
    body = members(exchange.request)

    assert meaning(ours(body)) == meaning(body)


@pytest.mark.parametrize("exchange", REFUSED, ids=[found.id for found in REFUSED])
def test_what_the_server_refused_is_not_sent_so(exchange: Exchange) -> None:
    body = members(exchange.request)

    try:
        found = meaning(ours(body))
    except UnsupportedFunctionalityError:
        return
    assert found != meaning(body)


@pytest.mark.parametrize("exchange", EXCHANGES, ids=[found.id for found in EXCHANGES])
def test_what_a_call_cannot_say_is_named(exchange: Exchange) -> None:
    if exchange.id in WITHOUT_A_WORD:
        with pytest.raises(NotImplementedError):
            call_of(members(exchange.request))
    else:
        assert call_of(members(exchange.request)).prompt is not None


def test_a_request_that_says_something_else_would_be_found() -> None:
    body: JsonObject = {"model": "gpt-4o", "input": [{"role": "user", "content": "a"}], "temperature": 0.5}

    assert meaning(ours(body)) == meaning(body)
    assert meaning({**ours(body), "temperature": 1}) != meaning(body)
    assert meaning({**ours(body), "input": []}) != meaning(body)
