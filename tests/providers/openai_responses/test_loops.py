"""Runs of the loop over real sockets: what one answer held is in the next request, as the API wants it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion import generate_text, is_step_count, stream_text, tool
from onion.providers import openai
from onion.providers.openai import OpenAI
from onion.spec.prompt import TextPart, ToolApprovalResponsePart, ToolMessage, UserMessage
from tests.providers.loopback import Connection, Server, answer, serve, stream
from tests.providers.openai_responses.bodies import CALL, KEY, MESSAGE, REASONING, response, sse, streamed
from tests.providers.openai_responses.test_round_trip import (
    BY_PROGRAM,
    CODE,
    LOCAL_SHELL,
    MCP,
    MCP_ASKED,
    PROGRAM,
    PROGRAM_OUTPUT,
    SEARCH,
    SQL,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.loop.results import GenerateTextResult
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import ProviderTool
    from onion.spec.model import LanguageModel
    from onion.spec.prompt import Message
    from tests.providers.loopback import Script

SECOND_CALL: JsonObject = {**CALL, "id": "fc_2", "call_id": "c2", "arguments": '{"n":3}'}
GO = UserMessage(content=(TextPart(text="go"),))
MODES = pytest.mark.parametrize("mode", ["generate", "stream"])


@tool
def wave(n: int) -> str:
    """Wave some times."""
    return "o/" * n


def turns(*answers: Sequence[JsonObject]) -> Script:
    """One answer after the other, streamed or whole as it is asked for."""
    left = iter(answers)

    async def script(connection: Connection) -> None:
        items = next(left)
        is_stream = json.loads(connection.request.body).get("stream")
        await (stream(sse(*streamed(*items))) if is_stream else answer(response(*items)))(connection)

    return script


def input_of(server: Server, number: int = -1) -> list[JsonValue]:
    """The input items of a request."""
    body = server.received[number].json
    assert isinstance(body, dict)
    items = body["input"]
    assert isinstance(items, list)
    return items


def sent(item: JsonObject) -> dict[str, JsonValue]:
    """A call as it goes back."""
    return {key: found for key, found in item.items() if key != "status"}


async def run(server: Server, mode: str, *offered: ProviderTool) -> str:
    """The text that a run of up to three steps ends with."""
    model = OpenAI(base_url=server.url, api_key=KEY).responses("gpt-5")
    settings = {"store": False}
    if mode == "stream":
        result = stream_text(
            model=model,
            prompt="go",
            tools=[wave, *offered],
            stop_when=is_step_count(3),
            provider_options={"openai": settings},
        )
        return await result.text
    whole = await generate_text(
        model=model,
        prompt="go",
        tools=[wave, *offered],
        stop_when=is_step_count(3),
        provider_options={"openai": settings},
    )
    return whole.text


async def step_of(model: LanguageModel, mode: str, *messages: Message) -> GenerateTextResult[str]:
    """A run of one step with an MCP server whose calls are to be approved."""
    offered = openai.tools.mcp(server_label="s", server_url="http://s.example", require_approval="always")
    if mode == "stream":
        return await stream_text(model=model, messages=messages, tools=[offered]).consume()
    return await generate_text(model=model, messages=messages, tools=[offered])


@MODES
async def test_reasoning_and_parallel_calls_go_back_in_their_order(mode: str) -> None:
    async with serve(turns((REASONING, CALL, SECOND_CALL), (MESSAGE,))) as server:
        text = await run(server, mode)

    assert text == "Hello, world"
    assert input_of(server)[1:] == [
        REASONING,
        sent(CALL),
        sent(SECOND_CALL),
        {"type": "function_call_output", "call_id": "c1", "output": "o/o/"},
        {"type": "function_call_output", "call_id": "c2", "output": "o/o/o/"},
    ]


@MODES
async def test_what_the_server_ran_goes_back_before_the_call(mode: str) -> None:
    async with serve(turns((REASONING, SEARCH, CODE, CALL), (MESSAGE,))) as server:
        await run(server, mode, openai.tools.web_search(), openai.tools.code_interpreter())

    assert input_of(server)[1:5] == [REASONING, SEARCH, CODE, sent(CALL)]


@MODES
async def test_a_program_gets_the_results_that_it_waits_for(mode: str) -> None:
    async with serve(turns((PROGRAM, BY_PROGRAM), (PROGRAM_OUTPUT, MESSAGE))) as server:
        text = await run(server, mode, openai.tools.programmatic_tool_calling())

    assert text == "Hello, world"
    assert input_of(server)[1:3] == [PROGRAM, sent(BY_PROGRAM)]


@MODES
async def test_tools_of_the_api_that_run_here_are_answered_in_their_form(mode: str) -> None:
    def run_command(given: dict[str, dict[str, list[str]]]) -> str:
        return f"ran {given['action']['command']}"

    def query(given: str) -> str:
        return f"rows of {given}"

    shell = openai.tools.local_shell(execute=run_command)
    sql = openai.tools.custom(name="sql", execute=query)
    async with serve(turns((LOCAL_SHELL, SQL), (MESSAGE,))) as server:
        await run(server, mode, shell, sql)

    assert input_of(server)[1:] == [
        LOCAL_SHELL,
        SQL,
        {"type": "local_shell_call_output", "call_id": "c4", "output": "ran ['ls']"},
        {"type": "custom_tool_call_output", "call_id": "c7", "output": 'rows of SELECT "a"\n'},
    ]


@MODES
@pytest.mark.parametrize("is_approved", [True, False], ids=["approved", "denied"])
async def test_a_call_of_an_mcp_server_waits_for_what_the_user_says(mode: str, *, is_approved: bool) -> None:
    outcome = (MCP, MESSAGE) if is_approved else (MESSAGE,)
    async with serve(turns((MCP_ASKED,), outcome)) as server:
        model = OpenAI(base_url=server.url, api_key=KEY).responses("gpt-5")
        first = await step_of(model, mode, GO)
        said = ToolApprovalResponsePart(approval_id="mcpr_1", approved=is_approved, provider_executed=True)
        second = await step_of(model, mode, GO, *first.response_messages, ToolMessage(content=(said,)))

    assert [part.type for part in first.content] == ["tool-call", "tool-approval-request"]
    assert second.text == "Hello, world"
    assert [result.tool_name for result in second.tool_results] == ["mcp.t"] * is_approved
    assert input_of(server)[1:] == [
        MCP_ASKED,
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": is_approved},
    ]
