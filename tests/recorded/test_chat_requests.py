"""Recorded requests of chat servers: what we send for the same call is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.recorded.chat_requests import differences
from tests.recorded.exchanges import RECORDINGS, Exchange, load_exchange

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec.base import JsonValue

FILES = [path for path in sorted(RECORDINGS.joinpath("openai-chat").glob("*.json")) if load_exchange(path).request]
"""Exchanges whose requests were recorded."""


@pytest.mark.skipif(not FILES, reason="the recordings are not here: ../shared/recordings beside the checkout")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_our_request_for_a_recorded_call_is_the_recorded_one(path: Path) -> None:
    assert differences(load_exchange(path)) == []


def test_a_request_that_differs_is_found() -> None:
    request: dict[str, JsonValue] = {
        "model": "m",
        "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b", "novelty": 1}],
        "tool_choice": "required",
    }

    found = differences(Exchange("made", "openai-chat", "m", 200, {}, None, None, request, vendor="acme"))

    assert [fault.partition(":")[0] for fault in found] == ["messages", "tool_choice"]
