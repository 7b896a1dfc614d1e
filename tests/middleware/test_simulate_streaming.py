from __future__ import annotations

import asyncio
import warnings
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from onion.errors import APICallError
from onion.middleware import SimulateStreaming
from onion.spec import (
    DocumentSource,
    File,
    FileData,
    OtherWarning,
    Reasoning,
    RequestInfo,
    ResponseInfo,
    ResponseMetadata,
    Text,
    ToolResult,
    URLSource,
)
from onion.streaming import collect
from onion.testing import After, ScriptedModel, answer, call, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, UNAVAILABLE, parts_of, under_test

EVERYTHING = replace(
    answer(
        Reasoning(text="hm", provider_metadata={"acme": {"sig": "S"}}),
        Reasoning(text="", provider_metadata={"acme": {"redacted": "R"}}),
        Text(text="hi", provider_metadata={"acme": {"itemId": "i"}}),
        Text(text="", provider_metadata={"acme": {"sig": "T"}}),
        URLSource(id="s", url="https://x.example/"),
        DocumentSource(id="d", media_type="text/plain", title="D"),
        File(media_type="text/plain", data=FileData(data="aGk=")),
        call("f", {"x": 1}),
        ToolResult(tool_call_id="p", tool_name="search", result={"n": 1}),
        "bye",
    ),
    warnings=(OtherWarning(message="w"),),
    provider_metadata={"acme": {"all": True}},
    request=RequestInfo(body={"a": 1}),
    response=ResponseInfo(id="r", timestamp=datetime(2026, 1, 2, tzinfo=UTC), model_id="m", headers={"x": "y"}),
    structured_output_text="{}",
)


async def test_the_collected_stream_is_the_whole_answer_field_by_field() -> None:
    inner = ScriptedModel([EVERYTHING])

    found = await collect(await under_test(inner, SimulateStreaming()).do_stream(ASK))

    assert found == EVERYTHING
    assert [call.mode for call in inner.calls] == ["generate"]


async def test_blocks_are_numbered_and_a_silent_empty_text_is_left_out() -> None:
    said = answer(Reasoning(text="a"), "b", Text(text=""), call("f"), "c")

    parts = await parts_of(under_test(ScriptedModel([said]), SimulateStreaming()))

    assert [(part.type, getattr(part, "id", None)) for part in parts] == [
        ("stream-start", None),
        ("response-metadata", None),
        ("reasoning-start", "0"),
        ("reasoning-delta", "0"),
        ("reasoning-end", "0"),
        ("text-start", "1"),
        ("text-delta", "1"),
        ("text-end", "1"),
        ("tool-call", None),
        ("text-start", "2"),
        ("text-delta", "2"),
        ("text-end", "2"),
        ("finish", None),
    ]
    assert parts[1] == ResponseMetadata()


async def test_a_whole_call_passes_untouched() -> None:
    inner = ScriptedModel([EVERYTHING])

    assert await under_test(inner, SimulateStreaming()).do_generate(ASK) == EVERYTHING


async def test_what_the_call_raises_the_stream_call_raises() -> None:
    with pytest.raises(APICallError) as raised:
        await under_test(ScriptedModel([UNAVAILABLE]), SimulateStreaming()).do_stream(ASK)

    assert raised.value is UNAVAILABLE


async def test_a_cancellation_reaches_the_call() -> None:
    inner = ScriptedModel([After(asyncio.Event(), text("never"))])

    task = asyncio.ensure_future(parts_of(under_test(inner, SimulateStreaming())))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert inner.open_calls == 0


def test_wrapping_draws_no_warning_though_one_mode_is_left_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrap_language_model(ScriptedModel([]), SimulateStreaming())
