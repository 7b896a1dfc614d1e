"""A layer of your own: telemetry, from scratch, in under 30 lines of code.

You will see one line for a whole answer, one for a stream and one for a call that fails, each with its time and tokens.
A stream is measured until it ends, not until it was opened. One transform over the parts serves both kinds of call.
"""

import asyncio
import time
from types import TracebackType

from onion import Middleware, OnionError, generate_text, stream_text, wrap_language_model
from onion.spec import CallOptions, FinishPart, GenerateResult, LanguageModel, StreamPart, StreamResult
from onion.spec.transform import Outcome, PartTransform
from onion.streaming import transform_result
from onion.testing import ScriptedModel, text
from onion.wrap import DoGenerate, DoStream


class Telemetry(Middleware):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        with Span(model.model_id) as span:
            result = await do_generate()
        return transform_result(result, lambda: span)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        with Span(model.model_id) as span:
            return (await do_stream()).pipe(lambda: span)


class Span(PartTransform):
    def __init__(self, name: str) -> None:
        self.name, self.start, self.tokens = name, time.perf_counter(), 0

    def __enter__(self) -> "Span":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.close("error", error)

    def feed(self, part: StreamPart) -> StreamPart:
        if isinstance(part, FinishPart):
            self.tokens = part.usage.output_tokens.total or 0
        return part

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        print(f"  {self.name}: {outcome} after {time.perf_counter() - self.start:.3f} s, {self.tokens} tokens", error or "")


async def main() -> None:
    model = wrap_language_model(ScriptedModel([text("Hello."), text("Hello."), OnionError("out of order")]), Telemetry())
    print((await generate_text(model=model, prompt="Hi")).text)
    print(await stream_text(model=model, prompt="Hi").text)
    try:
        await generate_text(model=model, prompt="Hi", max_retries=0)
    except OnionError as error:
        print("failed:", error)


asyncio.run(main())
