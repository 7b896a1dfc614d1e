"""The model over real sockets, with either HTTP client: answers, failures, and connections given back."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from onion.errors import APICallError, StreamInterruptedError, StreamProviderError, UnsupportedFunctionalityError
from onion.providers.openai import OpenAI
from onion.spec.call import FunctionTool
from onion.spec.parts import ErrorPart, FinishPart, StreamStart
from onion.spec.prompt import FilePart, FileURL, UserMessage
from onion.spec.usage import UnsupportedWarning
from onion.streaming import collect
from onion.testing import ModelCheckOptions, check_language_model
from tests.providers.clients import Client, client
from tests.providers.loopback import SSE_HEADERS, Connection, Script, Server, answer, serve, stream
from tests.providers.openai_responses.bodies import EVENTS, HELLO, KEY, RESPONSE, STREAM, event, response, sse

if TYPE_CHECKING:
    from onion.providers._model import WireModel

__all__ = ["client"]

WAVE = FunctionTool(name="wave", input_schema={})
FAILED = sse(
    event("failed", response=response(status="failed", error={"code": "server_error", "message": f"no {KEY}"}))
)


def model_at(server: Server, client: Client | None = None) -> WireModel:
    """The model of that server."""
    return OpenAI(base_url=server.url, api_key=KEY, http_client=client).responses("m-1")


async def play(connection: Connection) -> None:
    """Answer as asked: streamed, or whole."""
    asked = json.loads(connection.request.body)
    await (stream(*STREAM) if asked.get("stream") else answer(dict(RESPONSE)))(connection)


async def test_a_whole_answer_has_content_usage_and_what_was_said_beside_it(client: Client) -> None:
    async with serve(answer(dict(RESPONSE), headers=[("x-request-id", "r9")])) as server:
        result = await model_at(server, client).do_generate(HELLO.replace(top_k=3))

    assert result.text == "Hello, world"
    assert [part.type for part in result.content] == ["reasoning", "text", "tool-call"]
    assert result.warnings == (UnsupportedWarning(feature="top_k"),)
    assert result.request is not None
    assert result.request.body == server.received[0].json
    assert result.response is not None
    assert result.response.headers is not None
    assert result.response.headers["x-request-id"] == "r9"
    assert (result.response.id, result.response.body) == ("resp_1", RESPONSE)
    assert server.received[0].path == "/v1/responses"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.received[0].headers["user-agent"].endswith("openai-responses")


async def test_a_stream_collects_to_the_whole_answer(client: Client) -> None:
    async with serve(play) as server:
        model = model_at(server, client)
        whole = await model.do_generate(HELLO)
        streamed = await collect(await model.do_stream(HELLO))

    assert streamed.content == whole.content
    assert (streamed.finish_reason, streamed.usage) == (whole.finish_reason, whole.usage)
    assert streamed.provider_metadata == whole.provider_metadata
    assert len(server.connections) == 1


async def test_the_model_keeps_every_rule_of_the_contract(client: Client) -> None:
    async with serve(play) as server:

        def open_connections(_: object) -> int:
            return sum(not (c.gone.is_set() or c.is_idle) for c in server.connections)

        options = ModelCheckOptions(params=HELLO.replace(tools=(WAVE,)), strict=True, open_connections=open_connections)
        report = await check_language_model(lambda: model_at(server, client), options)

    assert report.skipped == {}


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        (stream(STREAM[0], FAILED), StreamProviderError, r"no \*\*\* \(server_error\)"),
        (stream(STREAM[0]), StreamInterruptedError, "without response.completed"),
        (stream(b"<p>hello"), APICallError, "no stream of events"),
        (answer({"error": {"message": "bad", "code": None}}, status=400), APICallError, "HTTP 400: bad"),
        (answer(response(status="failed", error={"code": "x", "message": "down"})), APICallError, "HTTP 200: down"),
    ],
    ids=["failed", "cut", "no events", "400", "failed with JSON"],
)
async def test_a_stream_that_fails_before_content_raises(
    client: Client, script: Script, kind: type[Exception], said: str
) -> None:
    async with serve(script) as server:
        with pytest.raises(kind, match=said):
            await model_at(server, client).do_stream(HELLO)


@pytest.mark.parametrize("content_type", ["application/octet-stream", "application/json"])
async def test_the_type_of_an_error_body_does_not_matter(client: Client, content_type: str) -> None:
    body = b'{"error": {"message": "unknown model", "code": null, "param": null, "type": "invalid_request_error"}}'
    async with serve(answer(body, status=400, kind=content_type)) as server:
        with pytest.raises(APICallError, match="HTTP 400: unknown model") as caught:
            await model_at(server, client).do_generate(HELLO)

    assert caught.value.is_retryable is False


async def test_quota_that_is_used_up_is_not_worth_a_retry(client: Client) -> None:
    body = {"error": {"message": "quota", "type": "insufficient_quota", "code": "insufficient_quota"}}
    async with serve(answer(body, status=429)) as server:
        with pytest.raises(APICallError, match="HTTP 429") as caught:
            await model_at(server, client).do_stream(HELLO)

    assert caught.value.is_retryable is False


async def test_a_failure_after_content_is_a_part(client: Client) -> None:
    async with serve(stream(*STREAM[:10], FAILED)) as server:
        opened = await model_at(server, client).do_stream(HELLO)
        async with opened:
            parts = [part async for part in opened]

    assert isinstance(parts[0], StreamStart)
    assert isinstance(parts[-2], ErrorPart)
    assert KEY not in str(parts[-2].error)
    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason.unified == "error"


async def test_a_server_that_does_not_stream_is_understood(client: Client) -> None:
    async with serve(answer(dict(RESPONSE))) as server:
        result = await collect(await model_at(server, client).do_stream(HELLO))

    assert result.text == "Hello, world"


async def test_a_body_that_is_no_response_raises(client: Client) -> None:
    async with serve(answer({"object": "list"})) as server:
        with pytest.raises(APICallError, match="no response but an object with object"):
            await model_at(server, client).do_generate(HELLO)


async def test_closing_a_stream_releases_its_connection(client: Client) -> None:
    async def endless(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(b"".join(STREAM[:10]))
        await connection.gone.wait()

    async with serve(endless) as server:
        opened = await model_at(server, client).do_stream(HELLO)
        await opened.aclose()
        async with asyncio.timeout(5):
            await server.connections[0].gone.wait()


async def test_what_cannot_be_said_is_refused_before_anything_is_sent(client: Client) -> None:
    audio = FilePart(media_type="audio/wav", data=FileURL(url="https://a.example/v"))
    async with serve(play) as server:
        with pytest.raises(UnsupportedFunctionalityError):
            await model_at(server, client).do_generate(HELLO.replace(prompt=(UserMessage(content=(audio,)),)))

    assert server.received == []
    assert len(EVENTS) == len(STREAM)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529])
async def test_a_status_of_failure_says_whether_to_try_again(client: Client, status: int) -> None:
    body = {"error": {"message": "no", "type": "t", "param": None, "code": None}}
    async with serve(answer(body, status=status)) as server:
        model = model_at(server, client)
        with pytest.raises(APICallError, match=f"HTTP {status}: no") as whole:
            await model.do_generate(HELLO)
        with pytest.raises(APICallError, match=f"HTTP {status}: no") as streamed:
            await model.do_stream(HELLO)

    worth_it = status in (408, 409, 429) or status >= 500
    assert whole.value.is_retryable is streamed.value.is_retryable is worth_it


@pytest.mark.parametrize("body", [b"<html>", b'{"output": ['], ids=["html", "cut"])
async def test_a_body_that_cannot_be_read_raises(client: Client, body: bytes) -> None:
    async with serve(answer(body)) as server:
        with pytest.raises(APICallError, match="HTTP 200: not JSON"):
            await model_at(server, client).do_generate(HELLO)


async def test_a_connection_that_is_reset_mid_stream_is_an_interrupted_answer(client: Client) -> None:
    async def break_off(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(b"".join(STREAM[:10]))
        connection.reset()

    async with serve(break_off) as server:
        opened = await model_at(server, client).do_stream(HELLO)
        async with opened:
            parts = [part async for part in opened]

    assert isinstance(parts[-2], ErrorPart)
    assert isinstance(parts[-2].error, StreamInterruptedError)
    assert parts[-3].type == "text-end"
