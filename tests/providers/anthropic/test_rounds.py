"""Runs of several steps: what an answer said goes back in the next request as it came."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion import Output, generate_text, is_step_count, stream_text, tool
from onion.providers._json import object_in, objects_in, parse_json, text_in
from onion.providers.anthropic import Anthropic, tools
from onion.spec.json import from_json, to_json
from onion.spec.prompt import Message, TextPart, UserMessage
from tests.providers.anthropic.bodies import KEY, message, play, text
from tests.providers.anthropic.test_quirks import CITATION, FOUND, SEARCH
from tests.providers.clients import make_httpx
from tests.providers.loopback import serve

if TYPE_CHECKING:
    from onion.loop.tools import Tool
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import ProviderTool
    from onion.spec.step import StepResult
    from tests.providers.loopback import Server

THOUGHT: JsonObject = {"type": "thinking", "thinking": "Look it up.", "signature": "SIG-A"}
EMPTY_THOUGHT: JsonObject = {"type": "thinking", "thinking": "", "signature": "SIG-B"}
REDACTED: JsonObject = {"type": "redacted_thinking", "data": "RD=="}
DONE = message(text("Done."))
MODES = ["generate", "stream"]


def calls(name: str, *ids: str, **more: JsonValue) -> list[JsonObject]:
    """Calls of one tool."""
    return [{"type": "tool_use", "id": each, "name": name, "input": {"n": each}, **more} for each in ids]


def look(n: str) -> str:
    return f"seen {n}"


LOOK = tool(look)


async def run(
    server: Server, mode: str, *given: Tool | ProviderTool, steps: int = 2, messages: list[Message] | None = None
) -> tuple[StepResult, ...]:
    """The steps of a run at that server."""
    asked = messages or [UserMessage(content=(TextPart(text="go"),))]
    stop = is_step_count(steps)
    async with make_httpx() as client:
        model = Anthropic(base_url=server.url, api_key=KEY, http_client=client).language_model("claude-x")
        if mode == "generate":
            return (await generate_text(model=model, messages=asked, tools=given, stop_when=stop, max_retries=0)).steps
        return await stream_text(model=model, messages=asked, tools=given, stop_when=stop, max_retries=0).steps


def sent(server: Server, number: int) -> JsonObject:
    """The body of that request."""
    body = parse_json(server.received[number].body)
    assert isinstance(body, dict)
    return body


def blocks(server: Server, number: int, place: int) -> list[JsonObject]:
    """The content of a message in that request."""
    return objects_in(objects_in(sent(server, number), "messages")[place], "content")


@pytest.mark.parametrize("mode", MODES)
async def test_thinking_goes_back_with_its_signature_and_in_its_place(mode: str) -> None:
    said = [THOUGHT, REDACTED, text("First"), EMPTY_THOUGHT, *calls("look", "a")]

    async with serve(play(message(*said, stop_reason="tool_use"), DONE)) as server:
        steps = await run(server, mode, LOOK)

    assert blocks(server, 1, 1) == said
    assert blocks(server, 1, 2) == [{"type": "tool_result", "tool_use_id": "a", "content": "seen a"}]
    assert steps[-1].text == "Done."


@pytest.mark.parametrize("mode", MODES)
async def test_it_also_goes_back_after_the_messages_were_stored_as_json(mode: str) -> None:
    unknown: JsonObject = {"type": "x", "y": [1]}
    said: list[JsonObject] = [REDACTED, EMPTY_THOUGHT, SEARCH, FOUND, text("So", citations=[CITATION]), unknown]
    ask = UserMessage(content=(TextPart(text="go"),))

    async with serve(play(message(*said), DONE)) as server:
        first = await run(server, mode)
        stored = json.dumps(to_json([ask, *first[-1].response_messages]))
        loaded = list(from_json(tuple[Message, ...], json.loads(stored)))
        await run(server, mode, messages=[*loaded, ask])

    assert blocks(server, 1, 1) == said


@pytest.mark.parametrize("mode", MODES)
async def test_all_results_of_parallel_calls_go_into_one_message_in_the_order_of_the_calls(mode: str) -> None:
    async with serve(play(message(*calls("look", "a", "b", "c"), stop_reason="tool_use"), DONE)) as server:
        await run(server, mode, LOOK)

    assert [text_in(block, "tool_use_id") for block in blocks(server, 1, 2)] == ["a", "b", "c"]
    assert len(objects_in(sent(server, 1), "messages")) == 3


@pytest.mark.parametrize("mode", MODES)
async def test_calls_of_the_server_and_their_results_go_back_under_the_names_of_the_api(mode: str) -> None:
    caller: JsonObject = {"type": "code_execution_20250825", "tool_id": "srvtoolu_0"}
    code: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_0", "name": "code_execution", "input": {"code": "x"}}
    said = [code, SEARCH, FOUND, *calls("look", "a", caller=caller)]
    ran: JsonObject = {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_0", "content": {"stdout": ""}}
    container = {"id": "container_1", "expires_at": "2999-01-01T00:00:00Z"}

    async with serve(
        play(message(*said, stop_reason="tool_use", container=container), message(ran, text("Done.")))
    ) as server:
        steps = await run(server, mode, LOOK, tools.code_execution(name="run"), tools.web_search(name="find"))

    assert blocks(server, 1, 1) == said
    assert sent(server, 1)["container"] == "container_1"
    assert [call.tool_name for call in steps[0].tool_calls] == ["run", "find", "look"]
    assert [(found.tool_name, found.tool_call_id) for found in steps[1].tool_results] == [("run", "srvtoolu_0")]


@pytest.mark.parametrize("mode", MODES)
async def test_a_turn_that_paused_is_sent_back_as_it_is_and_goes_on(mode: str) -> None:
    paused = message(text("Searching."), SEARCH, stop_reason="pause_turn")

    async with serve(play(paused, message(FOUND, text("Done.")))) as server:
        steps = await run(server, mode, tools.web_search(), steps=5)

    assert len(steps) == 2
    assert blocks(server, 1, 1) == [text("Searching."), SEARCH]
    assert len(objects_in(sent(server, 1), "messages")) == 2
    assert [found.tool_name for found in steps[1].tool_results] == ["web_search"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_failed_call_of_the_server_goes_back_too(mode: str) -> None:
    failed: JsonObject = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    said = [SEARCH, {**FOUND, "content": failed}, *calls("look", "a")]

    async with serve(play(message(*said, stop_reason="tool_use"), DONE)) as server:
        await run(server, mode, LOOK, tools.web_search())

    assert blocks(server, 1, 1) == said


@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_of_anthropics_runs_at_the_callers(mode: str) -> None:
    ran: list[JsonObject] = []

    def shell(given: JsonObject) -> str:
        ran.append(given)
        return "ok"

    call: JsonObject = {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "ls"}}

    async with serve(play(message(call, stop_reason="tool_use"), DONE)) as server:
        steps = await run(server, mode, tools.bash(execute=shell, name="shell"))

    assert ran == [{"command": "ls"}]
    assert steps[0].tool_calls[0].tool_name == "shell"
    assert blocks(server, 1, 1) == [call]
    assert blocks(server, 1, 2)[0]["content"] == "ok"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("model_id", ["claude-x", "claude-3-7-sonnet-latest"])
async def test_an_object_comes_in_the_way_of_the_model(mode: str, model_id: str) -> None:
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
    as_tool: JsonObject = {"type": "tool_use", "id": "a", "name": "json", "input": {"n": 7}}
    answer = (
        message(text('{"n": 7}')) if model_id == "claude-x" else message(text("So:"), as_tool, stop_reason="tool_use")
    )

    async with serve(play(answer)) as server, make_httpx() as client:
        model = Anthropic(base_url=server.url, api_key=KEY, http_client=client).language_model(model_id)
        if mode == "generate":
            made = (await generate_text(model=model, prompt="go", output=Output.object(schema))).output
        else:
            streaming = stream_text(model=model, prompt="go", output=Output.object(schema))
            partial = [value async for value in streaming.partial_output_stream]
            made = await streaming.output
            assert partial[-1] == {"n": 7}

    assert made == {"n": 7}
    assert ("output_config" in sent(server, 0)) is (model_id == "claude-x")
    assert object_in(sent(server, 0), "tool_choice").get("name") == (None if model_id == "claude-x" else "json")
