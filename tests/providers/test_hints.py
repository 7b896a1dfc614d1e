"""When it is of use to ask again, and what servers say of that beside the status; every format, both modes."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from onion.errors import APICallError, StreamInterruptedError
from onion.middleware import Retry
from onion.wrap import wrap_language_model
from tests.providers.clients import Client, client
from tests.providers.formats import Format, both_modes, every_format, is_streamed
from tests.providers.loopback import SSE_HEADERS, Connection, answer, serve
from tests.providers.test_faults import failure_of, said

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

__all__ = ["client"]


@every_format
@both_modes
async def test_a_hint_to_wait_beside_an_answer_is_no_reason_to(form: Format, mode: str) -> None:
    async def script(connection: Connection) -> None:
        hint = [("retry-after", "30")]
        if is_streamed(connection):
            await answer(b"".join(form.text_events), kind="text/event-stream", headers=hint)(connection)
        else:
            await answer(dict(form.text), headers=hint)(connection)

    async def sleep(seconds: float) -> None:
        pytest.fail(f"waited {seconds} s for nothing")

    async with serve(script) as server:
        patient = wrap_language_model(form.make(server.url, None), Retry(2, sleep=sleep))
        assert await said(patient, mode) == "Hello, world"

    assert len(server.received) == 1


@every_format
@both_modes
@pytest.mark.parametrize(("word", "status"), [("true", 400), ("false", 503)])
async def test_a_server_that_says_whether_to_try_again_is_believed(
    form: Format, mode: str, word: str, status: int
) -> None:
    refusal = answer(form.error("no"), status=status, headers=[("x-should-retry", word)])

    async with serve(refusal) as server:
        failure = await failure_of(form.make(server.url, None), mode)

    assert isinstance(failure, APICallError)
    assert (failure.status_code, failure.is_retryable) == (status, word == "true")


QUOTA: dict[str, tuple[str, JsonValue]] = {
    "a code": ("code", "insufficient_quota"),
    "a type": ("type", "insufficient_quota"),
    "a number": ("code", 429),
    "null": ("code", None),
    "an object": ("code", {"a": 1}),
}


@every_format
@both_modes
@pytest.mark.parametrize("told", QUOTA)
async def test_whatever_a_full_server_calls_it_only_a_quota_that_is_used_up_is_hopeless(
    form: Format, mode: str, told: str
) -> None:
    key, value = QUOTA[told]
    body: JsonValue = {"error": {"message": "no", key: value}}

    async with serve(answer(body, status=429)) as server:
        failure = await failure_of(form.make(server.url, None), mode)

    assert failure.is_retryable is (value != "insufficient_quota")


@every_format
@both_modes
@pytest.mark.parametrize("status", [204, 301, 307, 418, 599])
async def test_a_status_that_nobody_expects_is_an_error_of_ours(form: Format, mode: str, status: int) -> None:
    async def script(connection: Connection) -> None:
        headers = [("location", "/elsewhere"), *([] if status == 204 else [("content-length", "0")])]
        await connection.head(status, headers)

    async with serve(script) as server:
        failure = await failure_of(form.make(server.url, None), mode)

    assert isinstance(failure, APICallError | StreamInterruptedError)
    assert failure.is_retryable is (status in (204, 599))


@every_format
@both_modes
@pytest.mark.parametrize("fault", ["cut", "no gzip"])
async def test_a_compressed_body_that_cannot_be_unpacked_is_an_error_of_ours(
    form: Format, mode: str, fault: str, client: Client
) -> None:
    async def script(connection: Connection) -> None:
        packed = gzip.compress(
            b"".join(form.text_events) if is_streamed(connection) else json.dumps(form.text).encode()
        )
        body = packed[: len(packed) // 2] if fault == "cut" else b"<html>" + packed
        kind = "text/event-stream" if is_streamed(connection) else "application/json"
        await connection.head(headers=[("content-type", kind), ("content-encoding", "gzip"), *SSE_HEADERS[1:]])
        await connection.chunk(body)
        connection.close()

    async with serve(script) as server:
        failure = await failure_of(form.make(server.url, client), mode)

    assert failure.is_retryable
