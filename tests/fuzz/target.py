"""What has to hold for whatever a server sends: an answer that keeps the contract, or one of Onion's own errors."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx

from onion import generate_text, is_step_count, stream_text, tool
from onion.errors import OnionError
from onion.providers._json import parse_json
from onion.spec.json import from_json, to_json
from onion.spec.prompt import Message, TextPart, UserMessage
from onion.spec.result import GenerateResult
from onion.streaming import BEFORE_CONTENT, collect, replay
from onion.testing.rules import AnswerRules, StreamRules

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from types import FrameType

    from onion.spec.base import JsonValue
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.spec.step import ResponseMessage
    from tests.recorded.checks import WireFormat

LONGEST_SECONDS = 10.0
"""Of the processor's time; an answer takes a few thousandths."""
ASK = UserMessage(content=(TextPart(text="hi"),))
GO_ON = UserMessage(content=(TextPart(text="go on"),))
_MADE_ID = re.compile(r"call_[0-9a-f]{24}")
"""An id that a decoder makes up, another one each time."""


class HangError(Exception):
    """Something took too long."""


@contextmanager
def limited(seconds: float = LONGEST_SECONDS) -> Generator[None]:
    """Break off what uses the processor for longer; in the main thread only."""

    def expire(number: int, frame: FrameType | None) -> None:
        del number, frame
        msg = f"not done after {seconds} s"
        raise HangError(msg)

    before = signal.signal(signal.SIGVTALRM, expire)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def check_whole(form: WireFormat, body: bytes) -> str:
    """Read *body* as a whole answer; gives what came of it.

    Raises:
        AssertionError: For an answer that breaks the contract; every other exception is a fault as well.
    """
    try:
        result = form.read(parse_json(body))
    except OnionError as error:
        return type(error).__name__
    _check_result(result)
    return result.finish_reason.unified


def check_stream(form: WireFormat, body: bytes, pieces: Sequence[bytes]) -> str:
    """Read *body* as a stream, whole and in *pieces*; gives what came of it.

    Raises:
        AssertionError: As `check_whole`.
    """
    parts, failure = form.decode([body])
    again, failure_again = form.decode(pieces)
    assert _told(again, failure_again) == _told(parts, failure), "other parts when the body is cut"
    if failure is not None:
        assert all(isinstance(part, BEFORE_CONTENT) for part in parts), "it fails as a whole after content"
        return type(failure).__name__
    rules = StreamRules("the decoder", strict=True)
    for part in parts:
        rules.feed(part)
    rules.ended()
    return "stream"


def check_rounds(form: WireFormat, body: bytes, *, is_stream: bool) -> str:
    """Let the loop have *body* for every answer, and send back what it made of it; gives what came of it.

    Raises:
        AssertionError: As `check_whole`.
    """
    return asyncio.run(_rounds(form, body, is_stream=is_stream))


async def _rounds(form: WireFormat, body: bytes, *, is_stream: bool) -> str:
    sent: list[JsonValue] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content.decode(), parse_constant=_no_json))
        kind = "text/event-stream" if is_stream else "application/json"
        return httpx.Response(200, headers={"content-type": kind}, content=body)

    async with asyncio.timeout(60), httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        model = form.make_model(client)
        try:
            added = await _asked(model, [ASK], is_stream=is_stream)
            stored = from_json(tuple[Message, ...], json.loads(json.dumps(to_json(added))))
            await _asked(model, [ASK, *added, GO_ON], is_stream=is_stream)
            await _asked(model, [ASK, *stored, GO_ON], is_stream=is_stream)
        except OnionError as error:
            return type(error).__name__
    return f"sent {len(sent)}"


async def _asked(model: LanguageModel, messages: list[Message], *, is_stream: bool) -> Sequence[ResponseMessage]:
    stop = is_step_count(2)
    if is_stream:
        run = stream_text(model=model, messages=messages, tools=[LOOK], stop_when=stop, max_retries=0)
        return await run.response_messages
    whole = await generate_text(model=model, messages=messages, tools=[LOOK], stop_when=stop, max_retries=0)
    return whole.response_messages


def look(n: str) -> str:
    """Look something up."""
    return f"seen {n}"


LOOK = tool(look)


def _check_result(result: GenerateResult) -> None:
    AnswerRules("the reader", strict=True).check(result)
    told = to_json(result)
    json.dumps(told)
    assert to_json(from_json(GenerateResult, told)) == told, "another answer after it was stored"
    again = asyncio.run(_replayed(result))
    assert to_json(again.content) == to_json(result.content), "another answer when it is replayed"


async def _replayed(result: GenerateResult) -> GenerateResult:
    return await collect(replay(result))


def _told(parts: Sequence[StreamPart], failure: OnionError | None) -> str:
    told = json.dumps([to_json(list(parts)), to_json(failure)])  # as text, for NaN is not even equal to itself
    made: dict[str, str] = {}
    return _MADE_ID.sub(lambda found: made.setdefault(found[0], f"made-{len(made)}"), told)


def _no_json(name: str) -> None:
    msg = f"the request holds {name}, which is no JSON"
    raise AssertionError(msg)
