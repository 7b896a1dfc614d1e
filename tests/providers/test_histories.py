"""Histories that one format wrote and another reads: what belongs to a provider stays with it, and is warned of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion import generate_text, tool
from onion.spec.prompt import SystemMessage, TextPart, UserMessage
from tests.providers.clients import make_httpx
from tests.providers.formats import FORMATS, Format
from tests.providers.loopback import answer, serve

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import Message

ARGUMENTS: JsonObject = {"n": "a"}

RUN_BY_SERVER = ("provider-executed", "tools that another provider ran")
"""How the formats call what they leave out of it."""


def chat(parts: JsonObject) -> JsonObject:
    """An answer of the chat format whose server ran a tool."""
    executed: JsonObject = {"index": 0, "type": "search", "arguments": "{}", "output": "FOUND-BY-SERVER"}
    function: JsonObject = {"name": "look", "arguments": json.dumps(ARGUMENTS)}
    message: JsonObject = {
        "role": "assistant",
        "reasoning_content": "I think.",
        "content": "Looking.",
        "executed_tools": [executed],
        "tool_calls": [
            {"id": "c1", "type": "function", "function": function, "extra_content": {"google": "SIGNED"}},
        ],
    }
    return {**parts, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def responses(parts: JsonObject) -> JsonObject:
    """An answer of the Responses API with encrypted reasoning and a search."""
    summary: JsonObject = {"type": "summary_text", "text": "I think."}
    said: JsonObject = {"type": "output_text", "text": "Looking.", "annotations": []}
    found: JsonObject = {"type": "search", "query": "FOUND-BY-SERVER"}
    items: list[JsonValue] = [
        {"type": "reasoning", "id": "rs_SIGNED", "summary": [summary], "encrypted_content": "SIGNED"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": found},
        {"type": "message", "id": "msg_SIGNED", "role": "assistant", "status": "completed", "content": [said]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": json.dumps(ARGUMENTS)},
    ]
    return {**parts, "output": items}


def anthropic(parts: JsonObject) -> JsonObject:
    """An answer of the Messages API with signed and redacted reasoning and a search."""
    found: JsonObject = {
        "type": "web_search_result",
        "url": "https://a",
        "title": "FOUND-BY-SERVER",
        "encrypted_content": "SIGNED",
    }
    blocks: list[JsonValue] = [
        {"type": "thinking", "thinking": "I think.", "signature": "SIGNED"},
        {"type": "redacted_thinking", "data": "SIGNED"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "c1", "name": "look", "input": ARGUMENTS},
    ]
    return {**parts, "content": blocks, "stop_reason": "tool_use"}


def google(parts: JsonObject) -> JsonObject:
    """An answer of the Gemini API with signed thoughts and code that it ran."""
    said: list[JsonValue] = [
        {"text": "I think.", "thought": True, "thoughtSignature": "SIGNED"},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "FOUND-BY-SERVER"}},
        {"text": "Looking."},
        {"functionCall": {"id": "c1", "name": "look", "args": ARGUMENTS}, "thoughtSignature": "SIGNED"},
    ]
    candidate: JsonObject = {"content": {"role": "model", "parts": said}, "finishReason": "STOP", "index": 0}
    return {**parts, "candidates": [candidate]}


WRITERS = {"chat": chat, "responses": responses, "anthropic": anthropic, "google": google}
CARRIES_NO_SERVER_TOOLS = ("chat",)
"""Formats that cannot take back even what their own server ran."""


@tool
def look(n: str) -> str:
    """Look it up."""
    return f"seen {n}"


def user(*texts: str) -> UserMessage:
    """What the user says."""
    return UserMessage(content=tuple(TextPart(text=text) for text in texts))


async def history(writer: str) -> list[Message]:
    """A turn that *writer* made, with a system message and an empty text in the middle of it all."""
    body = WRITERS[writer](FORMATS[writer].text)
    async with serve(answer(dict(body))) as server, make_httpx() as client:
        made = await generate_text(model=FORMATS[writer].make(server.url, client), prompt="go", tools=[look])
    return [user("go"), *made.response_messages, SystemMessage(content="Be brief."), user("", "And?"), user("Well?")]


@pytest.mark.parametrize("reader", FORMATS)
@pytest.mark.parametrize("writer", WRITERS)
async def test_a_history_of_another_provider_is_understood(writer: str, reader: str) -> None:
    form: Format = FORMATS[reader]
    messages = await history(writer)

    async with serve(form.play()) as server, make_httpx() as client:
        model = form.make(server.url, client)
        again = await generate_text(model=model, messages=messages, tools=[look], allow_system_in_messages=True)

    sent = server.received[0].body.decode()
    warned = " ".join(str(warning) for warning in again.warnings)
    assert again.text == "Hello, world"
    assert all(word in sent for word in ("Looking.", "seen a", "look", "c1", "Be brief.", "And?", "Well?"))
    assert ("SIGNED" in sent) is (writer == reader)
    assert ("FOUND-BY-SERVER" in sent) is (writer == reader and writer not in CARRIES_NO_SERVER_TOOLS)
    assert any(words in warned for words in RUN_BY_SERVER) is ("FOUND-BY-SERVER" not in sent)
    assert ("reasoning" in warned) is ("I think." not in sent)
