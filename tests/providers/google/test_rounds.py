"""Runs of several steps: what an answer said goes back in the next request as it came."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onion import Output, generate_text, is_step_count, stream_text, tool
from onion.providers._json import object_in, objects_in, parse_json
from onion.providers.google import Google, tools
from onion.spec.json import from_json, to_json
from onion.spec.prompt import Message, TextPart, UserMessage
from tests.providers.clients import make_httpx
from tests.providers.google.bodies import KEY, call, chunk, play, sse, text, whole
from tests.providers.google.test_quirks import CODE, FOUND, RAN, SEARCHED
from tests.providers.loopback import serve, stream

if TYPE_CHECKING:
    from onion.loop.tools import Tool
    from onion.spec.base import JsonObject
    from onion.spec.call import ProviderTool
    from onion.spec.step import StepResult
    from tests.providers.loopback import Server

DONE = whole(text("Done."))
MODES = ["generate", "stream"]


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
        model = Google(base_url=server.url, api_key=KEY, http_client=client).language_model("gemini-x")
        if mode == "generate":
            return (await generate_text(model=model, messages=asked, tools=given, stop_when=stop, max_retries=0)).steps
        return await stream_text(model=model, messages=asked, tools=given, stop_when=stop, max_retries=0).steps


def sent(server: Server, number: int, place: int) -> list[JsonObject]:
    """The parts of a content in that request."""
    body = parse_json(server.received[number].body)
    assert isinstance(body, dict)
    return objects_in(objects_in(body, "contents")[place], "parts")


def looks(*ids: str | None, **more: str) -> list[JsonObject]:
    """Calls of the one tool, of which the first is signed."""
    calls = [call("look", {"n": str(number)}, call_id=each) for number, each in enumerate(ids)]
    return [{**calls[0], **more}, *calls[1:]]


@pytest.mark.parametrize("mode", MODES)
async def test_every_part_goes_back_with_its_signature_and_in_its_place(mode: str) -> None:
    said = [
        text("Hm.", thought=True, thoughtSignature="S0"),
        text("First", thoughtSignature="S1"),
        text("Hm?", thought=True),
        *looks("a", thoughtSignature="S2"),
    ]

    async with serve(play(whole(*said), DONE)) as server:
        steps = await run(server, mode, LOOK)

    assert sent(server, 1, 1) == said
    assert sent(server, 1, 2) == [{"functionResponse": {"id": "a", "name": "look", "response": {"output": "seen 0"}}}]
    assert steps[-1].text == "Done."


@pytest.mark.parametrize("mode", MODES)
async def test_it_also_goes_back_after_the_messages_were_stored_as_json(mode: str) -> None:
    image: JsonObject = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thoughtSignature": "S3"}
    draft: JsonObject = {**image, "thought": True}
    said: list[JsonObject] = [SEARCHED, FOUND, CODE, RAN, draft, image, {"hologram": {"size": 1}}, text("So")]
    ask = UserMessage(content=(TextPart(text="go"),))

    async with serve(play(whole(*said), DONE)) as server:
        first = await run(server, mode)
        stored = json.dumps(to_json([ask, *first[-1].response_messages]))
        loaded = list(from_json(tuple[Message, ...], json.loads(stored)))
        await run(server, mode, messages=[*loaded, ask])

    assert sent(server, 1, 1) == said


@pytest.mark.parametrize("mode", MODES)
async def test_a_signature_on_an_empty_text_goes_back(mode: str) -> None:
    ask = UserMessage(content=(TextPart(text="go"),))
    pieces = [chunk(text("Ans")), chunk(text("wer")), chunk(text("", thoughtSignature="TS"), reason="STOP")]
    complete = whole(text("Ans"), text("wer"), text("", thoughtSignature="TS"))

    async with serve(play(complete) if mode == "generate" else stream(sse(*pieces))) as server:
        first = await run(server, mode)
        await run(server, mode, messages=[ask, *first[-1].response_messages, ask])

    assert sent(server, 1, 1) == [text("Answer", thoughtSignature="TS")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ids", [("a", "b", "c"), (None, None, None), ("", "", "")], ids=["ids", "no ids", "empty ids"])
async def test_parallel_calls_and_their_results_go_back_in_order(mode: str, ids: tuple[str | None, ...]) -> None:
    said = looks(*ids, thoughtSignature="S")

    async with serve(play(whole(*said), DONE)) as server:
        await run(server, mode, LOOK)

    responses = [object_in(part, "functionResponse") for part in sent(server, 1, 2)]
    assert [response["response"] for response in responses] == [{"output": f"seen {n}"} for n in range(3)]
    assert [response.get("id") for response in responses] == [each or None for each in ids]
    assert sent(server, 1, 1) == looks(*(each or None for each in ids), thoughtSignature="S")


@pytest.mark.parametrize("mode", MODES)
async def test_googles_tools_beside_the_callers_go_back_under_the_names_of_the_api(mode: str) -> None:
    said = [SEARCHED, FOUND, *looks("a", thoughtSignature="S")]

    async with serve(play(whole(*said), DONE)) as server:
        steps = await run(server, mode, LOOK, tools.google_search(name="find"))

    assert sent(server, 1, 1) == said
    assert [each.tool_name for each in steps[0].tool_calls] == ["find", "look"]
    assert [each.tool_name for each in steps[0].tool_results] == ["find", "look"]


@pytest.mark.parametrize("mode", MODES)
async def test_code_that_failed_goes_back_too(mode: str) -> None:
    failed: JsonObject = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "boom", "id": "c1"}}
    said = [CODE, failed, *looks("a", thoughtSignature="S")]

    async with serve(play(whole(*said), DONE)) as server:
        await run(server, mode, LOOK, tools.code_execution())

    assert sent(server, 1, 1) == said


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_of_a_tool_that_there_is_not_is_told_to_the_model(mode: str) -> None:
    said = [call("list_files", thoughtSignature="S")]

    async with serve(play(whole(*said, reason="UNEXPECTED_TOOL_CALL"), DONE)) as server:
        steps = await run(server, mode, LOOK)

    assert len(steps) == 2
    assert "no tool 'list_files'" in str(sent(server, 1, 2)[0])


async def test_a_call_in_pieces_runs_and_goes_back_whole() -> None:
    body = sse(
        chunk({"functionCall": {"name": "look", "willContinue": True}, "thoughtSignature": "S"}),
        chunk({"functionCall": {"partialArgs": [{"jsonPath": "$.n", "stringValue": "7"}]}}),
        chunk(text(""), reason="STOP"),
    )

    async with serve(stream(body)) as server:
        steps = await run(server, "stream", LOOK)

    assert sent(server, 1, 1) == [call("look", {"n": "7"}, thoughtSignature="S")]
    assert steps[0].tool_results[0].output == "seen 7"


@pytest.mark.parametrize("mode", MODES)
async def test_an_object_comes_as_text(mode: str) -> None:
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    async with serve(play(whole(text('{"n": 7}')))) as server, make_httpx() as client:
        model = Google(base_url=server.url, api_key=KEY, http_client=client).language_model("gemini-x")
        if mode == "generate":
            found = (await generate_text(model=model, prompt="go", output=Output.object(schema))).output
        else:
            found = await stream_text(model=model, prompt="go", output=Output.object(schema)).output

    body = server.received[0].json
    assert found == {"n": 7}
    assert isinstance(body, dict)
    assert object_in(body, "generationConfig")["responseMimeType"] == "application/json"


@pytest.mark.parametrize("mode", MODES)
async def test_code_without_a_result_goes_back_alone(mode: str) -> None:
    query: JsonObject = {"executableCode": {"language": "PYTHON", "code": "print(file_search.query('x'))"}}
    ask = UserMessage(content=(TextPart(text="go"),))
    stores = tools.file_search(file_search_store_names=["fileSearchStores/s"])

    async with serve(play(whole(query, text("So")), DONE)) as server:
        first = await run(server, mode, stores)
        await run(server, mode, stores, messages=[ask, *first[-1].response_messages, ask])

    assert len(first) == 1
    assert sent(server, 1, 1) == [query, text("So")]
