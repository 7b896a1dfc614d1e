"""The model of a scenario: a queue of answers, each for the kind of call that is to come (FORMAT.md, section 3)."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from onion.spec import ErrorPart, GenerateResult, RequestInfo, ResponseInfo, StreamPart, StreamResult, from_json
from tests.conformance.failures import to_exception
from tests.conformance.revive import revive

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from onion.spec import CallOptions, JsonObject, SupportedURLs
    from tests.conformance.data import ModelConfig, ModelEntry
    from tests.conformance.recorder import Recorder

LET_THE_READER_SEE_EVERYTHING_SECONDS = 0.02


class ScriptedModel:
    """Answers with the next entry of its queue; a call that the queue is not ready for is a failure of the loop."""

    def __init__(self, recorder: Recorder, answers: Sequence[ModelEntry], config: ModelConfig, key: str = "") -> None:
        self.provider = config.get("provider", "mock-provider")
        self.model_id = key or config.get("modelId", "mock-model")
        self.supported_urls: SupportedURLs = {
            kind: tuple(map(re.compile, patterns)) for kind, patterns in config.get("supportedUrls", {}).items()
        }
        self._recorder = recorder
        self.left = list(answers)

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        entry = await self._next("generate", params)
        if "generate" not in entry:
            message = f"generate was called, but the next answer is {sorted(entry)}"
            raise AssertionError(message)
        return from_json(GenerateResult, revive(entry["generate"]))

    async def do_stream(self, params: CallOptions) -> StreamResult:
        entry = await self._next("stream", params)
        if "stream" not in entry:
            message = f"stream was called, but the next answer is {sorted(entry)}"
            raise AssertionError(message)
        return StreamResult(
            self._parts(entry["stream"]),
            request=from_json(RequestInfo, revive(entry["request"])) if "request" in entry else None,
            response=from_json(ResponseInfo, revive(entry["response"])) if "response" in entry else None,
        )

    async def _next(self, kind: str, params: CallOptions) -> ModelEntry:
        self._recorder.note_call(kind, self.model_id, params)
        if not self.left:
            message = f"{self.model_id} has no answer left for this call"
            raise AssertionError(message)
        entry = self.left.pop(0)
        if "error" in entry:
            raise to_exception(entry["error"])
        if entry.get("abort"):
            self._recorder.abort()
            await asyncio.Event().wait()
        return entry

    async def _parts(self, parts: Sequence[JsonObject]) -> AsyncGenerator[StreamPart, None]:
        for part in parts:
            kind = part["type"]
            if kind == "$delay":
                await asyncio.sleep(float(str(part["ms"])) / 1000)
            elif kind == "$throw":
                raise to_exception(_error_of(part))
            elif kind == "$abort":
                await asyncio.sleep(LET_THE_READER_SEE_EVERYTHING_SECONDS)
                self._recorder.abort()
                await asyncio.Event().wait()
            else:
                yield to_part(part)


def to_part(part: JsonObject) -> StreamPart:
    """The stream part that *part* describes."""
    if part["type"] == "error":
        return ErrorPart(error=revive(part["error"]))
    made: StreamPart = from_json(StreamPart, revive(part))  # type: ignore[assignment]  # a union, which type[T] cannot say
    return made


def _error_of(part: JsonObject) -> JsonObject | str:
    error = part["error"]
    if isinstance(error, str | dict):
        return error
    message = f"{error!r} describes no error"
    raise AssertionError(message)
