"""The model over real sockets, with either HTTP client: answers, failures, headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.errors import APICallError, StreamInterruptedError, StreamProviderError
from onion.providers.google import Google, tools
from onion.spec.call import FunctionTool
from onion.spec.parts import ErrorPart, FinishPart, TextDelta
from onion.streaming import collect
from onion.testing import ModelCheckOptions, check_language_model
from tests.providers.clients import Client, client
from tests.providers.google.bodies import HELLO, KEY, call, chunk, play, sse, streamed, text, whole
from tests.providers.google.test_chunks import OVERLOADED
from tests.providers.google.test_quirks import CODE, FOUND, RAN, SEARCHED
from tests.providers.loopback import SSE_HEADERS, Connection, Script, Server, answer, serve, stream

if TYPE_CHECKING:
    from onion.providers._model import WireModel
    from onion.spec.base import JsonObject
    from onion.spec.parts import StreamPart
    from onion.spec.stream import StreamResult

__all__ = ["client"]

PAGE: JsonObject = {"groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}]}
ANSWER = whole(
    text("Greet.", thought=True, thoughtSignature="SIG-0"),
    SEARCHED,
    FOUND,
    CODE,
    RAN,
    text("Hello, "),
    text("world", thoughtSignature="SIG-1"),
    {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
    call("wave", {"n": 2}, call_id="f1", thoughtSignature="SIG-2"),
    {"hologram": {}},
    groundingMetadata=PAGE,
)


def model_at(server: Server, client: Client | None = None, **headers: str) -> WireModel:
    """The model of that server."""
    provider = Google(base_url=server.url, api_key=KEY, headers=headers, http_client=client)
    return provider.language_model("gemini-x")


async def read(result: StreamResult) -> list[StreamPart]:
    """All parts."""
    async with result:
        return [part async for part in result]


async def test_a_whole_answer_has_its_content_and_what_was_said_beside_it(client: Client) -> None:
    async with serve(play(ANSWER)) as server:
        result = await model_at(server, client).do_generate(HELLO.replace(reasoning="xhigh"))

    kinds = [part.type for part in result.content]
    assert kinds[:6] == ["reasoning", "tool-call", "tool-result", "tool-call", "tool-result", "text"]
    assert kinds[6:] == ["file", "tool-call", "custom", "source"]
    assert result.text == "Hello, world"
    assert len(result.warnings) == 1
    assert result.request is not None
    assert result.request.body == server.received[0].json
    assert server.received[0].path == "/v1/models/gemini-x:generateContent"


async def test_a_stream_collects_to_the_whole_answer(client: Client) -> None:
    async with serve(play(ANSWER)) as server:
        model = model_at(server, client)
        complete = await model.do_generate(HELLO)
        result = await collect(await model.do_stream(HELLO))

    assert result.content == complete.content
    assert (result.finish_reason, result.usage) == (complete.finish_reason, complete.usage)
    assert result.provider_metadata == complete.provider_metadata
    assert server.received[1].path == "/v1/models/gemini-x:streamGenerateContent?alt=sse"
    assert len(server.connections) == 1


@pytest.mark.parametrize("cut", [1, 7, 64])
async def test_the_parts_do_not_depend_on_how_the_network_cuts_the_body(client: Client, cut: int) -> None:
    body = sse(*streamed(ANSWER))
    pieces = [body[at : at + cut] for at in range(0, len(body), cut)]

    async with serve(stream(body)) as one, serve(stream(*pieces)) as other:
        expected = await read(await model_at(one, client).do_stream(HELLO))
        found = await read(await model_at(other, client).do_stream(HELLO))

    assert found == expected


async def test_a_server_that_streams_a_list_instead_of_events_is_read(client: Client) -> None:
    async with serve(answer([*streamed(ANSWER)])) as server:
        result = await collect(await model_at(server, client).do_stream(HELLO))

    assert result.text == "Hello, world"


async def test_the_model_keeps_every_rule_of_the_contract(client: Client) -> None:
    async with serve(play(ANSWER)) as server:

        def open_connections(_: object) -> int:
            return sum(not (c.gone.is_set() or c.is_idle) for c in server.connections)

        wave = FunctionTool(name="wave", input_schema={})
        options = ModelCheckOptions(
            params=HELLO.replace(tools=(wave, tools.google_search(), tools.code_execution())),
            strict=True,
            open_connections=open_connections,
        )
        report = await check_language_model(lambda: model_at(server, client), options)

    assert report.skipped == {}


async def test_the_key_is_in_a_header_and_never_in_the_url(client: Client) -> None:
    async with serve(play(ANSWER)) as server:
        await model_at(server, client, **{"x-extra": "1"}).do_generate(HELLO)
        provider = Google(base_url=server.url, headers={"authorization": "Bearer t"}, http_client=client)
        await provider.language_model("gemini-x").do_generate(HELLO)

    first, second = server.received
    assert (first.headers["x-goog-api-key"], first.headers["x-extra"]) == (KEY, "1")
    assert first.headers["user-agent"].endswith(" google")
    assert KEY not in first.path
    assert second.headers["authorization"] == "Bearer t"
    assert "x-goog-api-key" not in second.headers


@pytest.mark.parametrize(
    ("status", "word", "is_retryable"),
    [
        (400, "INVALID_ARGUMENT", False),
        (400, "FAILED_PRECONDITION", False),
        (403, "PERMISSION_DENIED", False),
        (404, "NOT_FOUND", False),
        (429, "RESOURCE_EXHAUSTED", True),
        (500, "INTERNAL", True),
        (503, "UNAVAILABLE", True),
        (504, "DEADLINE_EXCEEDED", True),
    ],
)
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("is_list", [True, False], ids=["list", "object"])
async def test_a_failure_is_told_by_its_status(
    client: Client,
    status: int,
    word: str,
    is_retryable: bool,  # noqa: FBT001 - from the table
    *,
    is_stream: bool,
    is_list: bool,
) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}]
    body: JsonObject = {"error": {"code": status, "message": f"no {KEY}", "status": word, "details": details}}

    async with serve(answer([body] if is_list else dict(body), status=status)) as server:
        model = model_at(server, client)
        with pytest.raises(APICallError, match=rf"HTTP {status}: no \*\*\*") as caught:
            await (model.do_stream(HELLO) if is_stream else model.do_generate(HELLO))

    error = caught.value
    assert (error.status_code, error.is_retryable) == (status, is_retryable)
    assert "'retryDelay': '34.4s'" in str(error.data)
    assert KEY not in repr(vars(error))


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (stream(), StreamInterruptedError, "finish reason"),
        (stream(sse(OVERLOADED)), StreamProviderError, "overloaded"),
        (answer(dict(OVERLOADED)), APICallError, "HTTP 200: The model is overloaded"),
        (answer({"choices": []}), APICallError, "no list of candidates but an object with choices"),
        (answer(b"<html>", kind="text/html"), APICallError, "no stream of events but <html>"),
    ],
    ids=["empty", "error first", "error with 200", "other JSON", "a page"],
)
async def test_a_stream_that_fails_before_content_raises(
    client: Client, script: Script, kind: type[Exception], words: str
) -> None:
    async with serve(script) as server:
        with pytest.raises(kind, match=words):
            await model_at(server, client).do_stream(HELLO)


@pytest.mark.parametrize("is_reset", [True, False], ids=["reset", "error event"])
async def test_a_failure_after_content_is_one_error_part_and_a_finish(client: Client, *, is_reset: bool) -> None:
    async def script(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(sse(chunk(text("The capital is Par"))))
        if is_reset:
            connection.close()
        else:
            await connection.chunk(sse(OVERLOADED))
            await connection.chunk(b"")

    async with serve(script) as server:
        parts = await read(await model_at(server, client).do_stream(HELLO))

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["The capital is Par"]
    assert [part.type for part in parts[-3:]] == ["text-end", "error", "finish"]
    assert isinstance(parts[-2], ErrorPart)
    assert isinstance(parts[-2].error, StreamInterruptedError if is_reset else StreamProviderError)
    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason.unified == "error"
