"""A planted key shows up in no error, repr, traceback, pickle or log, whatever a server repeats of it."""

from __future__ import annotations

import json
import logging
import pickle
import traceback

import pytest

from onion.errors import OnionError
from onion.providers.openai import OpenAI
from onion.spec.json import to_json
from onion.streaming import collect
from tests.providers.loopback import Script, answer, serve, stream
from tests.providers.openai_responses.bodies import HELLO, KEY, STREAM, event, response, sse

BROKEN = event("failed", response=response(status="failed", error={"code": "server_error", "message": f"bad {KEY}"}))
FAILURES: list[tuple[str, Script]] = [
    ("401", answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401)),
    ("failed", answer(response(status="failed", error={"code": "x", "message": KEY}))),
    ("error event", stream(STREAM[0], sse({"type": "error", "message": KEY}))),
    ("mid-stream", stream(*STREAM[:10], sse(BROKEN))),
    ("no JSON", answer(f"<p>{KEY}".encode(), kind="text/html")),
]


@pytest.mark.parametrize("script", [script for _, script in FAILURES], ids=[name for name, _ in FAILURES])
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
async def test_the_key_shows_up_nowhere(script: Script, caplog: pytest.LogCaptureFixture, *, is_stream: bool) -> None:
    caplog.set_level(logging.DEBUG)
    async with serve(script) as server:
        provider = OpenAI(base_url=server.url, api_key=KEY, headers={"x-api-key": KEY})
        model = provider.responses("m")
        shown = [repr(model), repr(provider)]
        try:
            await (collect(await model.do_stream(HELLO)) if is_stream else model.do_generate(HELLO))
        except OnionError as error:
            shown += [str(error), repr(error), str(vars(error)), json.dumps(to_json(error)), repr(pickle.dumps(error))]
            shown += traceback.format_exception(error)
        await provider.aclose()

    assert KEY not in "\n".join([*shown, caplog.text])
    assert len(shown) > 2
