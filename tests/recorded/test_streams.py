"""Recorded streams beside the whole answers that they would have been; both played by a server on loopback."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from onion.errors import JSONParseError
from onion.providers._json import parse_json, text_in
from onion.spec.json import to_json
from onion.streaming import Collector
from onion.testing import ModelCheckOptions, check_language_model
from onion.testing.differences import difference
from tests.fuzz.seeds import OWN
from tests.providers.clients import make_httpx
from tests.providers.formats import is_streamed
from tests.providers.loopback import SSE_HEADERS, answer, serve
from tests.recorded.assembled import whole_of
from tests.recorded.checks import CALL
from tests.recorded.exchanges import RECORDINGS, Exchange, load_exchange, members
from tests.recorded.run import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.result import GenerateResult
    from tests.providers.loopback import Connection

FAILS = {"ai-openai-error-1-s", "pa-groq-tool-use-failed-error-streaming-0", "pa-openrouter-stream-error-0"}
"""Streams that end in a failure."""
FILES = [
    path
    for name in FORMATS
    for path in sorted(RECORDINGS.joinpath(name).glob("*.json"))
    if path.stem not in FAILS and load_exchange(path).sse is not None
]
MADE_UP = ("toolCallId", "body")
"""Ids that we make up differ from one answer to the next; the body is that of the whole answer."""
ACCEPTED = {
    # Each event has another id, of which the first counts; and of the last one more is said than of a whole answer.
    "ai-github-copilot-id-rotation-1-s": ("id", "responseId", "copilot_usage"),
}
"""What else differs, by exchange."""

PLAYED = (
    "ai-anthropic-tool-no-args-s",
    "pa-anthropic-model-web-search-tool-stream-0",
    "ai-deepseek-tool-call-s",
    "pa-temporal-multiple-agents-1",
    "ai-google-stream-tool-call-arguments-s",
    "pa-google-code-execution-code-execution-stream-0",
    "ai-openai-phase-1-s",
    "pa-deepseek-responses-function-tool-stream-0",
)
"""Streams that the server on loopback plays: two of each format, with reasoning, signatures, calls and results."""


def collected(exchange: Exchange) -> GenerateResult:
    """The answer that the stream is."""
    assert exchange.sse is not None
    collector = Collector()
    for part in FORMATS[exchange.provider].decode([exchange.sse])[0]:
        collector.feed(part)
    return collector.result()


def comparable(value: JsonValue, *unlike: str) -> JsonValue:
    """*value* without what differs, and with its inputs parsed: as text they may be written in another way."""
    if isinstance(value, list | tuple):
        return [comparable(item, *unlike) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: comparable(member, *unlike) for key, member in value.items() if key not in unlike}
    with contextlib.suppress(JSONParseError):
        found["input"] = parse_json(text_in(found, "input"))
    return found


@pytest.mark.skipif(not FILES, reason="the recordings are not here: ../shared/recordings beside the checkout")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_recorded_stream_is_the_answer_that_it_would_be_whole(path: Path) -> None:
    exchange = load_exchange(path)
    unlike = (*MADE_UP, *ACCEPTED.get(exchange.id, ()))

    streamed = comparable(to_json(collected(exchange)), *unlike)
    whole = comparable(to_json(FORMATS[exchange.provider].read(whole_of(exchange))), *unlike)

    assert difference(whole, streamed, ignored=()) == ""
    assert members(streamed).keys() == members(whole).keys()


async def played(exchange: Exchange, whole: JsonObject) -> str:
    """What of the check could not be checked, over a server that plays *exchange*."""
    assert exchange.sse is not None
    middle = len(exchange.sse) // 2
    pieces = exchange.sse[:middle], exchange.sse[middle:]

    async def script(connection: Connection) -> None:
        if not is_streamed(connection):
            await answer(dict(whole))(connection)
            return
        await connection.head(headers=SSE_HEADERS)
        for piece in pieces:
            await connection.chunk(piece)
        await connection.chunk(b"")

    async with serve(script) as server, make_httpx() as client:

        def open_connections(_: object) -> int:
            return sum(not (each.gone.is_set() or each.is_idle) for each in server.connections)

        volatile = ("request", "response", "input", *MADE_UP)
        options = ModelCheckOptions(params=CALL, strict=True, open_connections=open_connections, volatile=volatile)
        report = await check_language_model(lambda: OWN[exchange.provider].make(server.url, client), options)
    return ", ".join(report.skipped)


@pytest.mark.parametrize("name", PLAYED)
async def test_a_model_over_a_server_that_plays_recordings_keeps_the_contract(name: str) -> None:
    found = [path for path in FILES if path.stem == name]
    if not found:
        pytest.skip("the recordings are not here: ../shared/recordings beside the checkout")
    exchange = load_exchange(found[0])

    assert await played(exchange, whole_of(exchange)) == ""
