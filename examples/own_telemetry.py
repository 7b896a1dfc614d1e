"""A layer of your own: telemetry, from scratch, in under 30 lines of code.

You will see a line for a stream (measured until it ends), for a whole answer, and for a call that fails.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from onion import Middleware, OnionError, StreamResult, generate_text, stream_text, wrap_language_model
from onion.spec import CallOptions, FinishPart, GenerateResult, LanguageModel, Outcome, PartTransform, StreamPart
from onion.streaming import transform_result
from onion.testing import ScriptedModel, text
from onion.wrap import DoGenerate, DoStream

T = TypeVar("T")


class Telemetry(Middleware):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        span = Span(model.model_id)
        return transform_result(await span.around(do_generate()), lambda: span)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        span = Span(model.model_id)
        return (await span.around(do_stream())).pipe(lambda: span)


class Span(PartTransform):
    def __init__(self, name: str) -> None:
        self.name, self.start, self.tokens = name, time.perf_counter(), 0

    async def around(self, call: Awaitable[T]) -> T:
        try:
            return await call
        except BaseException as error:
            self.close("error", error)
            raise

    def feed(self, part: StreamPart) -> StreamPart:
        self.tokens = (part.usage.output_tokens.total or 0) if isinstance(part, FinishPart) else 0
        return part

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        print(f"{self.name}: {outcome} after {time.perf_counter() - self.start:.3f} s, {self.tokens} tokens")


async def main() -> None:
    model = wrap_language_model(ScriptedModel([text("Yes."), text("No."), OnionError("What?")]), Telemetry())
    await stream_text(model=model, prompt="Hi").text
    await asyncio.gather(*(generate_text(model=model, prompt="Hi") for _ in range(2)), return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main())
