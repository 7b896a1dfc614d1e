"""Recorded requests of the Gemini API: what we send for the same call is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.recorded.exchanges import RECORDINGS, Exchange, load_exchange
from tests.recorded.gemini_requests import INEXPRESSIBLE, differences

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec.base import JsonValue

FILES = [
    path
    for path in sorted(RECORDINGS.joinpath("gemini").glob("*.json"))
    if path.stem not in INEXPRESSIBLE and load_exchange(path).request is not None
]
"""Exchanges whose requests were recorded."""


@pytest.mark.skipif(not FILES, reason="the recordings are not here: ../shared/recordings beside the checkout")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_our_request_for_a_recorded_call_is_the_recorded_one(path: Path) -> None:
    assert differences(load_exchange(path)) == []


def test_a_request_that_differs_is_found() -> None:
    request: dict[str, JsonValue] = {
        "contents": [{"role": "user", "parts": [{"text": "a"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
    }

    found = differences(Exchange("made", "gemini", "gemini-x", 200, {}, None, None, request))

    assert len(found) == 1
    assert found[0].startswith("toolConfig: ")
