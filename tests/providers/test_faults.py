"""A server that fails in every way a server can, for every format, in both modes, with every HTTP client."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, TypeAlias

import pytest

from onion.errors import APICallError, OnionError, StreamInterruptedError, StreamProviderError
from onion.middleware import Retry
from onion.spec.call import CallOptions
from onion.spec.parts import ErrorPart, FinishPart, StreamPart
from onion.spec.prompt import TextPart, UserMessage
from onion.streaming import collect
from onion.wrap import wrap_language_model
from tests.providers.clients import Client, client, hasty_client, make_httpx
from tests.providers.formats import FORMATS, KEY, Format, both_modes, every_format, is_streamed
from tests.providers.loopback import SSE_HEADERS, Connection, Script, Server, answer, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from onion.spec.model import LanguageModel

__all__ = ["client", "hasty_client"]

ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))
STATUSES = {
    **dict.fromkeys((400, 401, 403, 404, 413, 422), False),
    **dict.fromkeys((408, 409, 429, 500, 502, 503, 504, 529), True),
}
"""And whether the same call may succeed later."""
NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
HINTS: dict[str, tuple[dict[str, str], float]] = {
    "seconds": ({"retry-after": "7"}, 7.0),
    "part of a second": ({"retry-after": "0.5"}, 0.5),
    "zero": ({"retry-after": "0"}, 0.0),
    "date": ({"retry-after": format_datetime(NOW.replace(second=9), usegmt=True)}, 9.0),
    "milliseconds": ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
    "other words": ({"x-ratelimit-reset-requests": "1s"}, 2.0),
    "nonsense": ({"retry-after": "soon"}, 2.0),
    "nothing": ({}, 2.0),
}
"""What a server says of when to come again, and the seconds that are waited; 2 where it says nothing."""
Failed: TypeAlias = APICallError | StreamInterruptedError | StreamProviderError


async def parts_of(model: LanguageModel) -> list[StreamPart]:
    """All parts of a stream."""
    async with await model.do_stream(ASK) as opened:
        return [part async for part in opened]


async def said(model: LanguageModel, mode: str) -> str:
    """The text of an answer."""
    if mode == "generate":
        return (await model.do_generate(ASK)).text
    return (await collect(await model.do_stream(ASK))).text


async def failure_of(model: LanguageModel, mode: str) -> Failed:
    """The error that a call ends in, raised or in its stream; it holds no secret."""
    try:
        if mode == "generate":
            await model.do_generate(ASK)
            pytest.fail("the call succeeded")
        error: object = in_stream(await parts_of(model))
    except OnionError as raised:
        error = raised
    assert isinstance(error, Failed)
    assert KEY not in f"{error} {error!r} {vars(error)}"
    return error


def in_stream(parts: list[StreamPart]) -> object:
    """The one error of a stream, which ends as failed."""
    errors = [part.error for part in parts if isinstance(part, ErrorPart)]
    assert len(errors) == 1
    assert isinstance(parts[-1], FinishPart)
    assert parts[-1].finish_reason.unified == "error"
    return errors[0]


async def nothing_is_left(server: Server) -> None:
    """Every connection was given up by the client, and no task of it lives on."""
    async with asyncio.timeout(2):
        for connection in server.connections:
            await connection.gone.wait()


@pytest.fixture(autouse=True)
async def no_task_is_left() -> AsyncIterator[None]:
    """Tasks that a test started end with it; what closes a generator that httpx dropped has a moment to run."""
    yield
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        _, living = await asyncio.wait(left, timeout=2)
        assert living == set()


@every_format
@both_modes
async def test_each_status_has_its_error_and_gives_its_connection_back(form: Format, mode: str, client: Client) -> None:
    left = iter(STATUSES)

    async def script(connection: Connection) -> None:
        body = form.error(f"no, not with {KEY}")
        await answer(body, status=next(left))(connection)

    async with serve(script) as server:
        model = form.make(server.url, client)
        failures = [await failure_of(model, mode) for _ in STATUSES]

    refused = [failure for failure in failures if isinstance(failure, APICallError)]
    assert {failure.status_code: failure.is_retryable for failure in refused} == STATUSES
    assert all("no, not with ***" in str(failure) for failure in failures)
    assert len(server.connections) == 1


async def waits_after(full: Script, form: Format, mode: str) -> list[float]:
    """The seconds that `Retry` waits when a server is *full* at first, and then answers."""
    waits: list[float] = []
    refusals = [full]

    async def script(connection: Connection) -> None:
        await (refusals.pop() if refusals else form.play())(connection)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with serve(script) as server, make_httpx() as own:
        patient = Retry(1, initial_delay=2.0, jitter=0.0, sleep=sleep, clock=NOW.timestamp)
        assert await said(wrap_language_model(form.make(server.url, own), patient), mode) == "Hello, world"
    return waits


@every_format
@both_modes
@pytest.mark.parametrize("hint", HINTS)
async def test_a_full_server_says_when_to_come_again(form: Format, mode: str, hint: str) -> None:
    headers, expected = HINTS[hint]
    full = answer(form.error("slow down"), status=429, headers=list(headers.items()))

    assert await waits_after(full, form, mode) == [expected]


@both_modes
async def test_google_says_in_the_body_when_to_come_again(mode: str) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}
    full = answer({"error": {"code": 429, "message": "slow down", "details": [info]}}, status=429)

    assert await waits_after(full, FORMATS["google"], mode) == [34.4]


@every_format
@both_modes
@pytest.mark.parametrize("status", [200, 404, 502])
async def test_a_page_instead_of_json_is_shown_in_the_error(
    form: Format, mode: str, status: int, client: Client
) -> None:
    page = f"<html><h1>Gateway</h1>{KEY}{'x' * 5000}</html>".encode()

    async with serve(answer(page, status=status, kind="text/html")) as server:
        failure = await failure_of(form.make(server.url, client), mode)

    assert isinstance(failure, APICallError)
    assert (failure.status_code, failure.is_retryable) == (status, status == 502)
    assert "<html><h1>Gateway" in f"{failure} {failure.response_body}"
    assert len(str(failure)) < 500


@every_format
@both_modes
async def test_an_endless_page_is_read_as_far_as_the_error_needs_it(form: Format, mode: str, client: Client) -> None:
    async def script(connection: Connection) -> None:
        await connection.head(500, [("content-type", "text/html"), *SSE_HEADERS[1:]])
        while not connection.gone.is_set():
            await connection.chunk(b"<p>Oops</p>" * 1000)

    async with serve(script) as server:
        failure = await failure_of(form.make(server.url, client), mode)
        await nothing_is_left(server)

    assert isinstance(failure, APICallError)
    assert (failure.status_code, failure.is_retryable) == (500, True)
    assert "<p>Oops</p>" in str(failure)


@every_format
@both_modes
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"], ids=["events", "JSON"])
async def test_an_empty_body_is_no_answer_and_may_be_asked_for_again(
    form: Format, mode: str, kind: str, client: Client
) -> None:
    async with serve(answer(b"", kind=kind)) as server:
        failure = await failure_of(form.make(server.url, client), mode)

    is_read_as_stream = mode == "stream" and kind == "text/event-stream"
    assert isinstance(failure, StreamInterruptedError if is_read_as_stream else APICallError)
    assert failure.is_retryable


@every_format
@both_modes
@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", ""], ids=["text", "bytes", "none"])
async def test_the_content_type_does_not_matter(form: Format, mode: str, kind: str, client: Client) -> None:
    async def script(connection: Connection) -> None:
        body = b"".join(form.text_events) if is_streamed(connection) else dict(form.text)
        await answer(body, kind=kind)(connection)

    async with serve(script) as server:
        text = await said(form.make(server.url, client), mode)

    assert text == "Hello, world"


def begun(form: Format) -> bytes:
    """The events up to the first content, in one chunk of the body."""
    return b"".join(form.text_events[: form.content_at + 1])


def cut(form: Format) -> Script:
    """Say that more will come, and close."""

    async def script(connection: Connection) -> None:
        if is_streamed(connection):
            await connection.head(headers=SSE_HEADERS)
            await connection.chunk(begun(form))
        else:
            await connection.head(headers=[("content-type", "application/json"), ("content-length", "5000")])
            await connection.send(b'{"id": "r", ')
        connection.close()

    return script


def reset(form: Format) -> Script:
    """Break off in the middle of a chunk."""

    async def script(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS if is_streamed(connection) else SSE_HEADERS[1:])
        await connection.send(b"ffff\r\n" + begun(form))
        connection.reset()

    return script


@every_format
@both_modes
@pytest.mark.parametrize("break_off", [cut, reset], ids=["cut", "reset"])
async def test_a_body_that_breaks_off_may_be_asked_for_again(
    form: Format, mode: str, break_off: Callable[[Format], Script], client: Client
) -> None:
    async with serve(break_off(form)) as server:
        failure = await failure_of(form.make(server.url, client), mode)
        await nothing_is_left(server)

    assert isinstance(failure, APICallError | StreamInterruptedError)
    assert failure.is_retryable


@every_format
@both_modes
@pytest.mark.parametrize("place", ["before the head", "in the body"])
async def test_a_server_that_falls_silent_is_given_up_after_the_clients_time(
    form: Format, mode: str, place: str, hasty_client: Client
) -> None:
    async def script(connection: Connection) -> None:
        if place == "in the body":
            await connection.head(headers=SSE_HEADERS)
            await connection.chunk(begun(form))
        await connection.gone.wait()

    async with serve(script) as server:
        failure = await failure_of(form.make(server.url, hasty_client), mode)
        await nothing_is_left(server)

    assert failure.is_retryable
    assert "Timeout" in str(failure)


@every_format
@both_modes
async def test_a_server_that_sends_a_byte_at_a_time_for_ever_is_left_by_a_deadline(
    form: Format, mode: str, client: Client
) -> None:
    async def script(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        while not connection.gone.is_set():
            await connection.chunk(b":")
            await asyncio.sleep(0.001)

    async with serve(script) as server:
        model = form.make(server.url, client)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await said(model, mode)
        await nothing_is_left(server)


@every_format
async def test_a_failure_inside_of_a_stream_ends_it_and_shows_no_secret(form: Format, client: Client) -> None:
    failing = b"event: error\ndata: " + answer_body(form) + b"\n\n"

    async def script(connection: Connection) -> None:
        await connection.head(headers=SSE_HEADERS)
        await connection.chunk(begun(form) + failing)
        await connection.gone.wait()

    async with serve(script) as server:
        failure = await failure_of(form.make(server.url, client), "stream")
        await nothing_is_left(server)

    assert isinstance(failure, StreamProviderError)
    assert "no, not with ***" in str(failure)


def answer_body(form: Format) -> bytes:
    """What the format says of a failure, inside of a stream."""
    said = form.error(f"no, not with {KEY}")
    assert isinstance(said, dict)
    return json.dumps({"type": "error", **said}).encode()
