"""Runs of several steps: what a chat server said goes back in the next request as it came."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion import generate_text, is_step_count, stream_text, tool
from onion.providers import openai_compatible
from onion.providers._json import objects_in, parse_json
from onion.spec.json import from_json, to_json
from onion.spec.prompt import Message, TextPart, UserMessage
from tests.providers.clients import make_httpx
from tests.providers.formats import is_streamed
from tests.providers.loopback import Connection, Script, answer, serve, stream
from tests.providers.openai_chat.bodies import DONE, HEAD, USAGE, delta

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.step import StepResult
    from tests.providers.loopback import Server

MODES = ["generate", "stream"]
ASK = UserMessage(content=(TextPart(text="go"),))
SIGNED: list[JsonValue] = [
    {"type": "reasoning.text", "text": "Hm.", "signature": "SIG", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": "ENC==", "id": "rs_1", "index": 1},
]
LOOKS: list[JsonValue] = [
    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n":"a"}'}},
    {"id": "c2", "type": "function", "function": {"name": "look", "arguments": '{"n":"b"}'}},
]
TURNS: dict[str, JsonObject] = {
    "reasoning with signatures": {"content": "So.", "reasoning_details": SIGNED, "tool_calls": LOOKS},
    "reasoning in a field": {"content": "So.", "reasoning_content": "Hm.", "tool_calls": LOOKS},
    "reasoning in another field": {"content": None, "reasoning": "Hm.", "tool_calls": LOOKS},
    "calls alone": {"content": None, "tool_calls": LOOKS},
    "a signed call": {
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "look", "arguments": '{"n":"a"}'},
                "extra_content": {"google": {"thought_signature": "TS"}},
            }
        ],
    },
}


def look(n: str) -> str:
    return f"seen {n}"


def play(message: JsonObject) -> Script:
    """Answer with *message*, and then say that it is done; in one delta where a stream is asked for."""
    left = [message, {"content": "Done."}]

    async def script(connection: Connection) -> None:
        told = left.pop(0)
        reason = "tool_calls" if "tool_calls" in told else "stop"
        if is_streamed(connection):
            numbered = {**told, **({"tool_calls": indexed(told)} if "tool_calls" in told else {})}
            await stream(delta(numbered), delta({}, reason), DONE)(connection)
            return
        choice: JsonValue = {"index": 0, "message": {"role": "assistant", **told}, "finish_reason": reason}
        await answer({**HEAD, "choices": [choice], "usage": USAGE})(connection)

    return script


def indexed(message: JsonObject) -> list[JsonValue]:
    """The calls of a message as a stream numbers them."""
    return [{**call, "index": place} for place, call in enumerate(objects_in(message, "tool_calls"))]


async def run(server: Server, mode: str, messages: list[Message] | None = None) -> tuple[StepResult, ...]:
    """The steps of a run at that server."""
    asked, stop = messages or [ASK], is_step_count(2)
    async with make_httpx() as client:
        model = openai_compatible(base_url=server.url, model="m", http_client=client)
        if mode == "generate":
            whole = await generate_text(model=model, messages=asked, tools=[tool(look)], stop_when=stop, max_retries=0)
            return whole.steps
        return await stream_text(model=model, messages=asked, tools=[tool(look)], stop_when=stop, max_retries=0).steps


def sent(server: Server, number: int) -> list[JsonObject]:
    """The messages of that request."""
    body = parse_json(server.received[number].body)
    assert isinstance(body, dict)
    return objects_in(body, "messages")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TURNS)
async def test_a_turn_goes_back_as_it_came_with_the_results_behind_it(mode: str, name: str) -> None:
    message = TURNS[name]

    async with serve(play(message)) as server:
        steps = await run(server, mode)

    calls = objects_in(message, "tool_calls")
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": f"seen {'ab'[place]}"}
        for place, call in enumerate(calls)
    ]
    assert sent(server, 1) == [{"role": "user", "content": "go"}, {"role": "assistant", **message}, *results]
    assert steps[-1].text == "Done."
    assert not any(step.warnings for step in steps)


@pytest.mark.parametrize("mode", MODES)
async def test_it_also_goes_back_after_the_messages_were_stored_as_json(mode: str) -> None:
    message = {key: found for key, found in TURNS["reasoning with signatures"].items() if key != "tool_calls"}

    async with serve(play(message)) as server:
        first = await run(server, mode)
        stored = json.dumps(to_json([ASK, *first[-1].response_messages]))
        loaded = list(from_json(tuple[Message, ...], json.loads(stored)))
        await run(server, mode, [*loaded, ASK])

    assert sent(server, 1)[1] == {"role": "assistant", **message}


@pytest.mark.parametrize("mode", MODES)
async def test_what_the_server_ran_cannot_go_back_and_a_warning_says_so(mode: str) -> None:
    executed: list[JsonValue] = [{"index": 0, "type": "search", "arguments": '{"q":"x"}', "output": "found"}]

    async with serve(play({"content": "Found.", "executed_tools": executed})) as server:
        first = await run(server, mode)
        again = await run(server, mode, [ASK, *first[-1].response_messages, ASK])

    assert sent(server, 1)[1] == {"role": "assistant", "content": "Found."}
    assert [call.provider_executed for call in first[0].tool_calls] == [True]
    assert len(again[0].warnings) == 2
