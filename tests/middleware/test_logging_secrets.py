from __future__ import annotations

import json
import logging

import pytest
import structlog

from onion.errors import APICallError
from onion.middleware import Logging
from onion.spec import CallOptions, FilePart, FileURL, Reasoning, Text, TextPart, UserMessage
from onion.testing import ScriptedModel, answer, call
from tests.middleware.stacks import parts_of, under_test

KEYS = (
    "sk-TESTKEY-123",
    "sk-ant-TESTKEY-123",
    "AIzaTESTKEY123",
    "Bearer abcdef123456",
    "hunter2-secret",
    "eyJhbGciOi.eyJzdWIiOi.c2ln",
    "iVBORw0KGgoAAAANSUhEUg",
    "U2lnbmF0dXJl" * 20,
)


async def test_no_secret_is_written_at_any_level(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    key, anthropic, google, bearer, password, token, image, signature = KEYS
    prompt = (
        UserMessage(
            content=(
                TextPart(text=f"my key is {key}, also {anthropic} and {google}; password={password}"),
                TextPart(text=f"look: data:image/png;base64,{image} Authorization: {bearer}"),
                FilePart(media_type="image/png", data=FileURL(url=f"data:image/png;base64,{image}")),
            ),
            provider_options={"anthropic": {"signature": signature}},
        ),
    )
    params = CallOptions(prompt=prompt, headers={"authorization": bearer, "x-api-key": key})
    said = answer(
        Reasoning(text="hm", provider_metadata={"anthropic": {"signature": signature}}),
        Text(text=f"token {token}, signed {signature}"),
        call("login", {"api_key": key, "note": f"https://x.example/?key={google}", "password": password}),
    )
    failure = APICallError(f"wrong key {key} at https://x.example/?key={google}", status_code=401)
    structlog.configure(processors=[structlog.processors.JSONRenderer()])
    model = under_test(ScriptedModel([said, said, failure]), Logging(content=True))

    caplog.set_level(logging.DEBUG)
    await model.do_generate(params)
    await parts_of(model, params)
    with pytest.raises(APICallError):
        await model.do_generate(params)
    structlog.reset_defaults()

    captured = capsys.readouterr()
    written = captured.out + captured.err + caplog.text
    lines = [json.loads(line) for line in captured.out.splitlines()]
    assert [line["event"].split()[-1] for line in lines] == [*(["started", "finished"] * 2), "started", "failed"]
    assert [secret for secret in KEYS if secret.removeprefix("Bearer ") in written] == []
