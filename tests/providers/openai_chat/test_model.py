"""The model over real sockets, with either HTTP client: answers, failures, and connections given back."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import TYPE_CHECKING

import httpx
import pytest

from onion.errors import APICallError, StreamInterruptedError, StreamProviderError, UnsupportedFunctionalityError
from onion.providers import openai_compatible
from onion.spec.call import FunctionTool
from onion.spec.parts import ErrorPart, FinishPart, RawPart, StreamPart, StreamStart, TextDelta
from onion.spec.prompt import FilePart, FileURL, UserMessage
from onion.spec.usage import UnsupportedWarning
from onion.streaming import collect
from onion.testing import ModelCheckOptions, check_language_model
from tests.providers.clients import Client, client, is_closed
from tests.providers.loopback import SSE_HEADERS, Connection, Script, Server, answer, serve, stream
from tests.providers.openai_chat.bodies import COMPLETION, DONE, HELLO, KEY, STREAM, delta, event, text

if TYPE_CHECKING:
    from onion.providers._model import WireModel
    from onion.spec.stream import StreamResult

__all__ = ["client"]


def model_at(server: Server, client: Client | None = None) -> WireModel:
    """The model of that server."""
    return openai_compatible(base_url=server.url, model="m-1", api_key=KEY, name="vendor", http_client=client)


async def play(connection: Connection) -> None:
    """Answer as asked: streamed, or whole."""
    asked = json.loads(connection.request.body)
    await (stream(*STREAM) if asked.get("stream") else answer(dict(COMPLETION)))(connection)


async def read(result: StreamResult) -> list[StreamPart]:
    """All parts."""
    async with result:
        return [part async for part in result]


async def test_a_whole_answer_has_content_usage_and_what_was_said_beside_it(client: Client) -> None:
    async with serve(answer(dict(COMPLETION), headers=[("x-ratelimit-remaining-tokens", "9")])) as server:
        result = await model_at(server, client).do_generate(HELLO.replace(top_k=3, temperature=0.5))

    assert result.text == "Hello, world"
    assert [part.type for part in result.content] == ["reasoning", "text", "tool-call"]
    assert result.warnings == (UnsupportedWarning(feature="top_k"),)
    assert result.request is not None
    assert result.request.body == server.received[0].json
    assert result.response is not None
    assert result.response.headers is not None
    assert result.response.headers["x-ratelimit-remaining-tokens"] == "9"
    assert (result.response.id, result.response.body) == ("cc-1", COMPLETION)
    assert server.received[0].path == "/v1/chat/completions"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_stream_collects_to_the_whole_answer(client: Client) -> None:
    async with serve(play) as server:
        model = model_at(server, client)
        whole = await model.do_generate(HELLO)
        opened = await model.do_stream(HELLO.replace(top_k=3))
        streamed = await collect(opened)

    assert streamed.content == whole.content
    assert (streamed.finish_reason, streamed.usage) == (whole.finish_reason, whole.usage)
    assert streamed.warnings == (UnsupportedWarning(feature="top_k"),)
    assert streamed.response is not None
    assert streamed.response.id == "cc-1"
    assert streamed.request is not None
    assert streamed.request.body == server.received[1].json
    assert len(server.connections) == 1


@pytest.mark.parametrize("cut", [1, 7, 64, 10_000])
async def test_the_parts_do_not_depend_on_how_the_network_cuts_the_body(client: Client, cut: int) -> None:
    body = b"".join(STREAM).replace(b"\n", b"\r\n")
    pieces = [body[start : start + cut] for start in range(0, len(body), cut)]

    async with serve(stream(*STREAM)) as one, serve(stream(*pieces)) as other:
        expected = await read(await model_at(one, client).do_stream(HELLO))
        found = await read(await model_at(other, client).do_stream(HELLO))

    assert found == expected


async def test_raw_chunks_are_handed_out_when_asked_for(client: Client) -> None:
    async with serve(stream(*STREAM)) as server:
        parts = await read(await model_at(server, client).do_stream(HELLO.replace(include_raw_chunks=True)))

    assert isinstance(parts[0], StreamStart)
    assert sum(isinstance(part, RawPart) for part in parts) == len(STREAM) - 1


async def test_the_model_keeps_every_rule_of_the_contract(client: Client) -> None:
    async with serve(play) as server:

        def open_connections(_: object) -> int:
            return sum(not (c.gone.is_set() or c.is_idle) for c in server.connections)

        options = ModelCheckOptions(
            params=HELLO.replace(tools=(FunctionTool(name="wave", input_schema={}),)),
            strict=True,
            open_connections=open_connections,
        )
        report = await check_language_model(lambda: model_at(server, client), options)

    assert report.skipped == {}


async def endless(connection: Connection) -> None:
    """A stream that never ends by itself."""
    await connection.head(headers=SSE_HEADERS)
    while not connection.gone.is_set():
        await connection.chunk(text("more"))
        await asyncio.sleep(0.001)


async def stalled(connection: Connection) -> None:
    """One delta, then silence."""
    await connection.head(headers=SSE_HEADERS)
    await connection.chunk(text("one"))
    await connection.gone.wait()


async def silent(connection: Connection) -> None:
    """No answer at all."""
    await connection.gone.wait()


async def released(server: Server) -> None:
    """Wait until the server sees that the connection is given up; the limit is the test's."""
    async with asyncio.timeout(2):
        await server.connections[0].gone.wait()


async def test_leaving_the_context_early_frees_the_connection(client: Client) -> None:
    async with serve(endless) as server:
        async with await model_at(server, client).do_stream(HELLO) as opened:
            async for part in opened:
                if isinstance(part, TextDelta):
                    break
        await released(server)


async def test_an_exception_in_the_consumer_frees_the_connection(client: Client) -> None:
    async def consume(server: Server) -> None:
        async with await model_at(server, client).do_stream(HELLO) as opened:
            async for _ in opened:
                raise LookupError

    async with serve(endless) as server:
        with pytest.raises(LookupError):
            await consume(server)
        await released(server)


async def test_dropping_a_stream_frees_the_connection(client: Client) -> None:
    async with serve(endless) as server:
        opened = await model_at(server, client).do_stream(HELLO)
        async for _ in opened:
            break
        del opened
        gc.collect()
        await released(server)


@pytest.mark.parametrize("script", [stalled, silent], ids=["in the stream", "before the head"])
async def test_cancelling_a_stalled_stream_frees_the_connection(client: Client, script: Script) -> None:
    async def consume(server: Server) -> None:
        await read(await model_at(server, client).do_stream(HELLO))

    async with serve(script) as server:
        task = asyncio.ensure_future(consume(server))
        async with asyncio.timeout(2):
            await server.asked.wait()
        await asyncio.wait((task,), timeout=0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await released(server)


async def test_cancelling_a_whole_answer_frees_the_connection(client: Client) -> None:
    async with serve(silent) as server:
        task = asyncio.ensure_future(model_at(server, client).do_generate(HELLO))
        async with asyncio.timeout(2):
            await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await released(server)


async def test_a_reset_after_content_is_one_error_part_and_a_finish(client: Client) -> None:
    is_read = asyncio.Event()

    async def reset(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(text("The capital is Par"))
        await is_read.wait()
        connection.reset()

    async with serve(reset) as server:
        opened = await model_at(server, client).do_stream(HELLO)
        is_read.set()
        parts = await read(opened)

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ["The capital is Par"]
    assert [part.type for part in parts[-3:]] == ["text-end", "error", "finish"]
    assert isinstance(parts[-2], ErrorPart)
    assert isinstance(parts[-2].error, StreamInterruptedError)
    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason.unified == "error"


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        (stream(), StreamInterruptedError, "without a finish reason"),
        (stream(b": ping\n\n", b": ping\n\n"), StreamInterruptedError, "without a finish reason"),
        (stream(event({"error": {"message": "busy", "code": 503}}), DONE), StreamProviderError, "busy"),
        (stream(b"data: <html>\n\n"), Exception, "not JSON"),
        (answer(b"<html>oops", kind="text/html"), APICallError, "HTTP 200: no stream of events but <html>oops"),
        (answer(b'{"error":"no"}', kind="text/plain"), APICallError, "HTTP 200: no"),
        (answer(b"x" * 9000, kind="text/plain"), APICallError, "no stream of events but xxx"),
        (answer({"error": {"message": "no", "code": 401}}), APICallError, "HTTP 200: no"),
        (answer({"hello": 1}), APICallError, "no chat completion but an object with hello"),
        (answer({"error": {"message": "slow down"}}, status=429), APICallError, "HTTP 429: slow down"),
    ],
    ids=[
        "empty",
        "comments only",
        "error first",
        "no JSON",
        "a page",
        "error as text",
        "a long text",
        "error with 200",
        "other JSON",
        "429",
    ],
)
async def test_a_stream_that_fails_before_content_raises(
    client: Client, script: Script, kind: type[Exception], said: str
) -> None:
    async with serve(script) as server:
        with pytest.raises(kind, match=said):
            await model_at(server, client).do_stream(HELLO)


async def test_a_server_that_does_not_stream_is_understood(client: Client) -> None:
    async with serve(answer(dict(COMPLETION))) as server:
        result = await collect(await model_at(server, client).do_stream(HELLO))

    assert result.text == "Hello, world"
    assert result.response is not None
    assert result.response.headers is not None


@pytest.mark.parametrize(
    ("script", "said", "is_retryable"),
    [
        (answer(b'{"choices": ['), "HTTP 200: not JSON", False),
        (answer(b""), "HTTP 200 with an empty body", True),
        (answer(b"method=POST", kind="text/plain"), "HTTP 200: not JSON", False),
        (answer({"object": "list"}), "no chat completion but an object with object", False),
        (answer({"error": {"message": "upstream", "code": 502}}), "HTTP 200: upstream", True),
        (answer({"error": {"message": f"bad key {KEY}"}}, status=401), r"HTTP 401: bad key \*\*\*", False),
    ],
    ids=["cut", "empty", "text", "other JSON", "error with 200", "401"],
)
async def test_a_whole_answer_that_is_none_raises(
    client: Client,
    script: Script,
    said: str,
    is_retryable: bool,  # noqa: FBT001 - from the table
) -> None:
    async with serve(script) as server:
        with pytest.raises(APICallError, match=said) as caught:
            await model_at(server, client).do_generate(HELLO)

    assert caught.value.is_retryable is is_retryable
    assert KEY not in repr(vars(caught.value))


async def test_what_cannot_be_said_is_refused_before_anything_is_sent(client: Client) -> None:
    video = FilePart(media_type="application/zip", data=FileURL(url="https://a.example/v"))

    async with serve(play) as server:
        with pytest.raises(UnsupportedFunctionalityError):
            await model_at(server, client).do_generate(HELLO.replace(prompt=(UserMessage(content=(video,)),)))

    assert server.received == []


async def test_the_first_content_is_there_when_do_stream_returns(client: Client) -> None:
    async def wait_for_reader(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(delta({"role": "assistant", "content": ""}))
        await connection.chunk(text("first"))
        await connection.gone.wait()

    async with serve(wait_for_reader) as server:
        opened = await model_at(server, client).do_stream(HELLO)
        await opened.aclose()
        await released(server)


async def test_errors_are_logged_by_nobody_and_a_client_that_was_given_stays_open(client: Client) -> None:
    async with serve(play) as server:
        model = model_at(server, client)
        await model.do_generate(HELLO)

    assert not is_closed(client)
    assert repr(model) == "vendor.chat/m-1"


def test_a_function_in_place_of_the_network_serves_as_well() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=COMPLETION))
    model = openai_compatible(base_url="http://x/v1", model="m", http_client=httpx.AsyncClient(transport=transport))

    assert asyncio.run(model.do_generate(HELLO)).text == "Hello, world"
