from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onion.spec import (
    AssistantMessage,
    CallOptions,
    ErrorPart,
    FilePart,
    FileURL,
    FunctionTool,
    Reasoning,
    ReasoningPart,
    SystemMessage,
    TextDelta,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    URLSource,
    UserMessage,
)
from onion.testing import ScriptedModel, answer, call, parts
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK, under_test
from tests.middleware.tracing.exporting import Telemetry, said
from tests.middleware.tracing.test_chat import CHAT, ask, both_modes

if TYPE_CHECKING:
    import pytest

CONVERSATION = (
    SystemMessage(content="be brief"),
    UserMessage(
        content=(
            TextPart(text="key sk-TESTKEY-123"),
            FilePart(media_type="image/png", data=FileURL(url="data:image/png;base64,iVBO")),
        )
    ),
    AssistantMessage(
        content=(ReasoningPart(text="hm"), ToolCallPart(tool_call_id="1", tool_name="f", input={"password": "x"}))
    ),
    ToolMessage(content=(ToolResultPart(tool_call_id="1", tool_name="f", output=TextOutput(value="9")),)),
)


@both_modes
async def test_content_is_shown_only_if_asked_and_masked(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    params = CallOptions(prompt=CONVERSATION, tools=(FunctionTool(name="f", input_schema={"type": "object"}),))
    reply = answer(Reasoning(text="so"), "hi", call("f", {"a": 1}), URLSource(id="s", url="https://x.example"))
    silent, shown = Telemetry(), Telemetry()

    await ask(under_test(ScriptedModel([reply]), silent.layer()), mode, params)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    await ask(under_test(ScriptedModel([reply]), shown.layer()), mode, params)

    assert not [name for name in said(silent.span(CHAT)) if "messages" in name or "instructions" in name]
    found = {
        name: json.loads(str(said(shown.span(CHAT))[name]))
        for name in (
            "gen_ai.system_instructions",
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.tool.definitions",
        )
    }
    assert found["gen_ai.system_instructions"] == [{"type": "text", "content": "be brief"}]
    assert found["gen_ai.input.messages"] == [
        {"role": "user", "parts": [{"type": "text", "content": "key ***"}, {"type": "file"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hm"},
                {"type": "tool_call", "id": "1", "name": "f", "arguments": {"password": "***"}},
            ],
        },
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "1", "response": {"type": "text", "value": "9"}}],
        },
    ]
    assert found["gen_ai.output.messages"] == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "so"},
                {"type": "text", "content": "hi"},
                {"type": "tool_call", "id": "call-1", "name": "f", "arguments": '{"a": 1}'},
                {"type": "source"},
            ],
            "finish_reason": "tool-calls",
        }
    ]
    assert found["gen_ai.tool.definitions"][0]["name"] == "f"


async def test_content_that_makes_no_sense_is_not_shown() -> None:
    telemetry = Telemetry()
    script = (TextDelta(id="x", delta="lost"), *parts("a", ErrorPart(error=ValueError())))
    model = wrap_language_model(ScriptedModel([script]), telemetry.layer(capture_content=True))

    async with await model.do_stream(ASK) as stream:
        seen = [part async for part in stream]

    assert len(seen) == len(script)
    assert "gen_ai.output.messages" not in said(telemetry.span(CHAT))
