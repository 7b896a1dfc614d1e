"""The local model: a small language model that runs inside this process, without key or network."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from onion.errors import APICallError
from onion.providers._chat.chunks import ChunkReader
from onion.providers._json import object_in, text_in
from onion.providers._model import AnswerDecoder
from onion.providers._tooling import random_call_id
from onion.providers.local.answer import ToolDialect
from onion.providers.local.convert import to_request
from onion.providers.local.pool import ENGINES
from onion.providers.local.prompt import PROVIDER
from onion.spec.parts import StreamStart
from onion.spec.result import RequestInfo, ResponseInfo
from onion.streaming import collect, open_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from onion.providers.local.convert import Request
    from onion.providers.local.engine import Engine
    from onion.providers.local.native import EngineSettings
    from onion.providers.local.pool import EnginePool
    from onion.spec.base import JsonObject
    from onion.spec.call import CallOptions
    from onion.spec.model import SupportedURLs
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult

_BAD_REQUEST, _ENGINE_FAILED = 400, 500


class LocalModel:
    """A model whose engine is started at the first call, and shared with models of the same settings.

    Args:
        settings: Weights and engine.
        engines: Where engines come from.
        generate_id: Gives tool calls their ids.
    """

    def __init__(
        self,
        settings: EngineSettings,
        *,
        engines: EnginePool = ENGINES,
        generate_id: Callable[[], str] = random_call_id,
    ) -> None:
        self._settings = settings
        self._engines = engines
        self._generate_id = generate_id
        self._engine: Engine | None = None

    @property
    def provider(self) -> str:
        """Always ``local``."""
        return PROVIDER

    @property
    def model_id(self) -> str:
        """Name of the weights."""
        return self._settings.model_id

    @property
    def supported_urls(self) -> SupportedURLs:
        """None: it has no network."""
        return {}

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        """Answer whole. The engine streams all the same, so that a cancelled call can be stopped.

        Raises:
            APICallError: When the engine refuses the call.
            LocalModelError: When the engine cannot be started.
            MissingExtraError: When it is not installed.
            OnionError: What failed after the answer had begun.
        """
        return await collect(await self.do_stream(params))

    async def do_stream(self, params: CallOptions) -> StreamResult:
        """Answer as a stream; closing it frees the engine's slot.

        Raises:
            APICallError: When the engine refuses the call.
            LocalModelError: When the engine cannot be started.
            MissingExtraError: When it is not installed.
        """
        engine = self._engine
        if engine is None:
            engine = self._engine = await asyncio.to_thread(self._engines.acquire, self._settings, self)
        request = to_request(params, engine.native.grammar)
        return await open_stream(
            self._parts(engine, request, include_raw=bool(params.include_raw_chunks)),
            request=RequestInfo(body=request.body),
            response=ResponseInfo(model_id=self.model_id),
        )

    async def aclose(self) -> None:
        """Leave the engine; the last model that leaves it ends it. A later call starts it again."""
        self._engine = None
        await asyncio.to_thread(self._engines.release, self._settings, self)

    async def _parts(self, engine: Engine, request: Request, *, include_raw: bool) -> AsyncGenerator[StreamPart, None]:
        decoder = AnswerDecoder(ChunkReader(PROVIDER, generate_id=self._generate_id), include_raw=include_raw)
        dialect = None if request.mode == "no tools" else ToolDialect(request.mode, self._generate_id)
        yield StreamStart(warnings=request.warnings)
        chunks = engine.answer(request.body)
        failure: Exception | None = None
        try:
            async for chunk in chunks:
                if "error" in chunk and not decoder.has_content:
                    raise _refused(object_in(chunk, "error"), request.body)
                for part in _through(dialect, decoder.feed(chunk)):
                    yield part
        except (ValueError, RuntimeError) as error:
            failure = _unreadable(error, request.body)
        finally:
            await chunks.aclose()
        for part in _through(dialect, decoder.end(failure)):
            yield part

    def __repr__(self) -> str:
        return f"{PROVIDER}/{self.model_id}"


def _through(dialect: ToolDialect | None, parts: list[StreamPart]) -> list[StreamPart]:
    return parts if dialect is None else dialect.feed(parts)


def _refused(error: JsonObject, body: JsonObject) -> APICallError:
    code = error.get("code")
    return APICallError(
        f"the local engine refused the call: {text_in(error, 'message') or 'it does not say why'}",
        url=PROVIDER,
        status_code=code if isinstance(code, int) else _ENGINE_FAILED,
        data={"error": error},
        is_retryable=False,
        request_body=body,
    )


def _unreadable(error: Exception, body: JsonObject) -> APICallError:
    return APICallError(
        f"the local engine refused the call: {error}",
        url=PROVIDER,
        status_code=_BAD_REQUEST if isinstance(error, ValueError) else _ENGINE_FAILED,
        is_retryable=False,
        request_body=body,
    )
