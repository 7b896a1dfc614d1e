"""The model over real sockets, with either HTTP client: answers, failures, headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.errors import APICallError, LoadAPIKeyError, StreamInterruptedError, StreamProviderError
from onion.middleware import Retry
from onion.providers.anthropic import Anthropic, tools
from onion.spec.call import FunctionTool
from onion.spec.parts import ErrorPart, FinishPart, RawPart, TextDelta
from onion.streaming import collect
from onion.testing import ModelCheckOptions, check_language_model
from onion.wrap import wrap_language_model
from tests.providers.anthropic.bodies import HELLO, KEY, message, play, said, sse, start, streamed, text
from tests.providers.anthropic.test_quirks import CITATION, FOUND, SEARCH
from tests.providers.clients import Client, client
from tests.providers.loopback import SSE_HEADERS, Connection, Script, Server, answer, serve, stream

if TYPE_CHECKING:
    from onion.providers._model import WireModel
    from onion.spec.base import JsonObject
    from onion.spec.parts import StreamPart
    from onion.spec.stream import StreamResult

__all__ = ["client"]

OVERLOADED: JsonObject = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
ANSWER = message(
    {"type": "thinking", "thinking": "Greet.", "signature": "SIG"},
    {"type": "redacted_thinking", "data": "RD=="},
    SEARCH,
    FOUND,
    text("Hello, "),
    text("world", citations=[CITATION]),
    {"type": "tool_use", "id": "toolu_1", "name": "wave", "input": {"n": 2}},
    stop_reason="tool_use",
    container={"id": "container_1"},
)


def model_at(server: Server, client: Client | None = None, **headers: str) -> WireModel:
    """The model of that server."""
    provider = Anthropic(base_url=server.url, api_key=KEY, headers=headers, http_client=client)
    return provider.language_model("claude-x")


async def read(result: StreamResult) -> list[StreamPart]:
    """All parts."""
    async with result:
        return [part async for part in result]


async def test_a_whole_answer_has_its_content_and_what_was_said_beside_it(client: Client) -> None:
    async with serve(play(ANSWER)) as server:
        result = await model_at(server, client).do_generate(HELLO.replace(seed=1))

    kinds = [part.type for part in result.content]
    assert kinds[:4] == ["reasoning", "reasoning", "tool-call", "tool-result"]
    assert kinds[4:] == ["source", "text", "text", "source", "tool-call", "custom"]
    assert result.text == "Hello, world"
    assert len(result.warnings) == 1
    assert result.request is not None
    assert result.request.body == server.received[0].json
    assert server.received[0].path == "/v1/messages"


async def test_a_stream_collects_to_the_whole_answer(client: Client) -> None:
    async with serve(play(ANSWER)) as server:
        model = model_at(server, client)
        whole = await model.do_generate(HELLO)
        result = await collect(await model.do_stream(HELLO))

    assert result.content == whole.content
    assert (result.finish_reason, result.usage) == (whole.finish_reason, whole.usage)
    assert result.provider_metadata == whole.provider_metadata
    assert len(server.connections) == 1


@pytest.mark.parametrize("cut", [1, 7, 64])
async def test_the_parts_do_not_depend_on_how_the_network_cuts_the_body(client: Client, cut: int) -> None:
    body = sse(*streamed(ANSWER))
    pieces = [body[at : at + cut] for at in range(0, len(body), cut)]

    async with serve(stream(body)) as one, serve(stream(*pieces)) as other:
        expected = await read(await model_at(one, client).do_stream(HELLO))
        found = await read(await model_at(other, client).do_stream(HELLO))

    assert found == expected


async def test_the_model_keeps_every_rule_of_the_contract(client: Client) -> None:
    async with serve(play(ANSWER)) as server:

        def open_connections(_: object) -> int:
            return sum(not (c.gone.is_set() or c.is_idle) for c in server.connections)

        wave = FunctionTool(name="wave", input_schema={})
        options = ModelCheckOptions(
            params=HELLO.replace(tools=(wave, tools.web_search())), strict=True, open_connections=open_connections
        )
        report = await check_language_model(lambda: model_at(server, client), options)

    assert report.skipped == {}


async def test_events_are_handed_out_raw_when_asked_for(client: Client) -> None:
    async with serve(play(ANSWER)) as server:
        parts = await read(await model_at(server, client).do_stream(HELLO.replace(include_raw_chunks=True)))

    assert sum(isinstance(part, RawPart) for part in parts) == len(streamed(ANSWER))


async def test_requests_show_key_version_and_features_on_trial(client: Client) -> None:
    params = HELLO.replace(tools=(tools.memory(),), headers={"Anthropic-Beta": "mine-2026, theirs-2026"})

    async with serve(play(ANSWER)) as server:
        await model_at(server, client, **{"anthropic-beta": "theirs-2026"}).do_generate(params)
        await model_at(server, client, **{"Anthropic-Version": "2099-01-01"}).do_generate(HELLO)

    first, second = (request.headers for request in server.received)
    assert (first["x-api-key"], first["anthropic-version"]) == (KEY, "2023-06-01")
    assert first["anthropic-beta"] == "context-management-2025-06-27,theirs-2026,mine-2026"
    assert first["user-agent"].endswith(" anthropic")
    assert second["anthropic-version"] == "2099-01-01"
    assert "anthropic-beta" not in second


async def test_a_token_of_the_callers_stands_for_the_key(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    async with serve(play(ANSWER)) as server:
        provider = Anthropic(base_url=server.url, headers={"authorization": "Bearer t"}, http_client=client)
        await provider.messages("claude-x").do_generate(HELLO)
        with pytest.raises(LoadAPIKeyError, match="ANTHROPIC_API_KEY"):
            await Anthropic(base_url=server.url).messages("claude-x").do_generate(HELLO)

    assert "x-api-key" not in server.received[0].headers
    assert len(server.received) == 1


def failing(status: int, kind: str, words: str, **headers: str) -> Script:
    body: JsonObject = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
    return answer(dict(body), status=status, headers=list(headers.items()))


@pytest.mark.parametrize(
    ("status", "kind", "is_retryable"),
    [
        (400, "invalid_request_error", False),
        (401, "authentication_error", False),
        (403, "permission_error", False),
        (404, "not_found_error", False),
        (413, "request_too_large", False),
        (429, "rate_limit_error", True),
        (500, "api_error", True),
        (529, "overloaded_error", True),
    ],
)
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
async def test_a_failure_is_told_by_its_status(
    client: Client,
    status: int,
    kind: str,
    is_retryable: bool,  # noqa: FBT001 - from the table
    *,
    is_stream: bool,
) -> None:
    async with serve(failing(status, kind, f"no {KEY}", **{"retry-after": "3", "request-id": "req_1"})) as server:
        model = model_at(server, client)
        with pytest.raises(APICallError, match=rf"HTTP {status}: no \*\*\*") as caught:
            await (model.do_stream(HELLO) if is_stream else model.do_generate(HELLO))

    error = caught.value
    assert (error.status_code, error.is_retryable) == (status, is_retryable)
    assert error.response_headers is not None
    assert (error.response_headers["retry-after"], error.response_headers["request-id"]) == ("3", "req_1")
    assert "'request_id': 'req_1'" in str(error.data)
    assert KEY not in repr(vars(error))


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (stream(), StreamInterruptedError, "message_stop"),
        (stream(sse(start(), OVERLOADED)), StreamProviderError, "Overloaded"),
        (answer(dict(OVERLOADED)), APICallError, "HTTP 200: Overloaded"),
        (answer({"choices": []}), APICallError, "no message but an object with choices"),
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
        await connection.chunk(sse(start(), *said(0, "The capital is Par")[:2]))
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


async def test_a_hint_to_wait_on_an_answer_that_succeeded_means_nothing(client: Client) -> None:
    async with serve(answer(dict(ANSWER), headers=[("retry-after", "60")])) as server:
        result = await wrap_language_model(model_at(server, client), Retry(2)).do_generate(HELLO)

    assert result.text == "Hello, world"
    assert len(server.received) == 1
