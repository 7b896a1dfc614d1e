"""A layer of your own: a cache, from scratch, in under 30 lines of code.

You will see one question asked three times, whole and as a stream, and the model called once. What came whole can be
given as a stream, and the other way round; a stream that breaks, or that nobody reads to its end, is not kept.
"""

import asyncio
import json

from onion import Middleware, StreamResult, generate_text, stream_text, to_json, wrap_language_model
from onion.spec import CallOptions, ErrorPart, GenerateResult, LanguageModel, Outcome, PartTransform, StreamPart
from onion.streaming import Collector, replay
from onion.testing import ScriptedModel, text
from onion.wrap import DoGenerate, DoStream


class Cache(Middleware):
    def __init__(self) -> None:
        self.answers: dict[str, GenerateResult] = {}

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        key = json.dumps([model.provider, model.model_id, to_json(params.replace(headers=None))], sort_keys=True)
        if key not in self.answers:
            self.answers[key] = await do_generate()
        return self.answers[key]

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        key = json.dumps([model.provider, model.model_id, to_json(params.replace(headers=None))], sort_keys=True)
        return replay(self.answers[key]) if key in self.answers else (await do_stream()).pipe(lambda: Keep(self, key))


class Keep(PartTransform):
    def __init__(self, cache: Cache, key: str) -> None:
        self.cache, self.key, self.collector = cache, key, Collector()

    def feed(self, part: StreamPart) -> StreamPart:
        if not isinstance(part, ErrorPart):
            self.collector.feed(part)
        return part

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        if outcome == "finished":
            self.cache.answers[self.key] = self.collector.result()


async def main() -> None:
    scripted = ScriptedModel([text("Blue scatters most.")])
    model = wrap_language_model(scripted, Cache())
    print("streamed:", await stream_text(model=model, prompt="Why is the sky blue?").text)
    print("whole:   ", (await generate_text(model=model, prompt="Why is the sky blue?")).text)
    print("streamed:", await stream_text(model=model, prompt="Why is the sky blue?").text)
    print("calls that reached the model:", len(scripted.calls))


if __name__ == "__main__":
    asyncio.run(main())
