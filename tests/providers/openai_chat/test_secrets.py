"""A planted key shows up in no error, repr, traceback, pickle or log, whatever a server repeats of it."""

from __future__ import annotations

import json
import logging
import pickle
import traceback

import pytest

from onion.errors import APICallError, OnionError
from onion.providers import openai_compatible
from onion.spec.json import to_json
from onion.streaming import collect
from tests.providers.loopback import Script, answer, serve, stream
from tests.providers.openai_chat.bodies import HELLO, KEY, event, text

FAILURES: list[tuple[str, Script]] = [
    ("401", answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401)),
    ("429", answer({"error": {"message": KEY}}, status=429)),
    ("mid-stream", stream(text("a"), event({"error": {"message": f"bad {KEY}"}}))),
    ("no JSON", answer(f"<p>{KEY}".encode(), kind="text/html")),
    ("no events", stream(f"<p>{KEY}".encode())),
]


@pytest.mark.parametrize("script", [script for _, script in FAILURES], ids=[name for name, _ in FAILURES])
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
async def test_the_key_shows_up_nowhere(script: Script, caplog: pytest.LogCaptureFixture, *, is_stream: bool) -> None:
    caplog.set_level(logging.DEBUG)
    async with serve(script) as server:
        provider = openai_compatible(base_url=server.url, api_key=KEY, headers={"x-api-key": KEY})
        model = provider.chat("m")
        shown = [repr(model), repr(provider), str(vars(provider).keys())]
        try:
            await (collect(await model.do_stream(HELLO)) if is_stream else model.do_generate(HELLO))
        except OnionError as error:
            shown += [str(error), repr(error), str(vars(error)), json.dumps(to_json(error)), repr(pickle.dumps(error))]
            shown += traceback.format_exception(error)
        await provider.aclose()

    assert KEY not in "\n".join([*shown, caplog.text])
    assert len(shown) > 3


async def test_the_key_is_not_in_the_error_of_a_connection_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serve(answer(b"")) as server:
        pass
    provider = openai_compatible(base_url=server.url, api_key=KEY)

    with pytest.raises(APICallError) as caught:
        await provider.chat("m").do_generate(HELLO)
    await provider.aclose()

    assert KEY not in "\n".join([*traceback.format_exception(caught.value), repr(vars(caught.value)), caplog.text])
