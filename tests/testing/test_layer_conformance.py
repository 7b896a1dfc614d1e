"""check_middleware: good layers pass, and each planted fault is named."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable

import pytest

from onion.errors import APICallError, OnionError, RetryError
from onion.spec import (
    CallOptions,
    GenerateResult,
    LanguageModel,
    PartTransform,
    StreamPart,
    StreamResult,
    Text,
    TextDelta,
    TextEnd,
)
from onion.streaming import collect, replay, transform_result
from onion.testing import LintError, MiddlewareCheckOptions, answer, check_middleware, text
from onion.wrap import DoGenerate, DoStream, Middleware, layer

RULES = [
    "repr-shows-settings",
    "model-contract",
    "any-chunking",
    "metadata-kept",
    "failures-pass",
    "shared-instance",
]


class Transforming(Middleware):
    """Does the same to both modes with one transform; the faulty layers override a piece of it."""

    transform: type[PartTransform] = PartTransform

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        return transform_result(await do_generate(), self.transform)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return (await do_stream()).pipe(self.transform)


class Shouting(PartTransform):
    def feed(self, part: StreamPart) -> StreamPart:
        return TextDelta(id=part.id, delta=part.delta.upper()) if isinstance(part, TextDelta) else part


class Shout(Transforming):
    transform = Shouting


SMALL = {"text": answer("An onion.")}


async def test_a_layer_that_keeps_the_contract_passes_everything() -> None:
    report = await check_middleware(Shout)

    assert report.passed == RULES
    assert report.skipped == {}
    assert report.calls > 100


async def test_a_layer_may_be_made_asynchronously_and_answer_a_stream_with_a_whole_answer() -> None:
    class Whole(Middleware):
        modes = ("stream",)

        async def wrap_stream(
            self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
        ) -> StreamResult:
            return replay(await do_generate())

    async def make() -> Middleware:
        return Whole()

    assert (await check_middleware(make, MiddlewareCheckOptions(answers=SMALL))).passed == RULES


async def test_a_layer_that_is_different_each_time_skips_the_comparisons() -> None:
    count = iter(range(10_000))

    async def numbered(*, do_generate: DoGenerate, **_: object) -> GenerateResult:
        result = await do_generate()
        return dataclasses.replace(result, content=(*result.content, Text(text=str(next(count)))))

    made = layer(name="numbered", wrap_generate=numbered, modes=("generate",))

    report = await check_middleware(lambda: made, MiddlewareCheckOptions(repeats=False, answers=SMALL))

    assert report.skipped.keys() == {"any-chunking", "shared-instance"}


async def test_what_a_layer_takes_away_on_purpose_is_said() -> None:
    class Anonymous(Middleware):
        async def wrap_generate(
            self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
        ) -> GenerateResult:
            return dataclasses.replace(await do_generate(), response=None)

        async def wrap_stream(
            self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
        ) -> StreamResult:
            return replay(dataclasses.replace(await collect(await do_stream()), response=None))

    with pytest.raises(LintError, match="a whole answer has lost what the model said: response, model"):
        await check_middleware(Anonymous, MiddlewareCheckOptions(answers=SMALL))

    report = await check_middleware(Anonymous, MiddlewareCheckOptions(loses=("response", "model"), answers=SMALL))

    assert "metadata-kept" in report.passed


async def test_a_failure_may_come_wrapped() -> None:
    class Wrapping(Transforming):
        async def wrap_generate(
            self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
        ) -> GenerateResult:
            try:
                return await do_generate()
            except APICallError as error:
                raise RetryError("gave up", reason="max-retries-exceeded", errors=[error]) from None

        async def wrap_stream(
            self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
        ) -> StreamResult:
            try:
                return await do_stream()
            except APICallError as error:
                raise ExceptionGroup("all failed", [OnionError("first"), error]) from OnionError("cause")

    assert (await check_middleware(Wrapping, MiddlewareCheckOptions(answers=SMALL))).passed == RULES


class DoublesText(Middleware):
    modes = ("stream",)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return (await do_stream()).pipe(Doubling)


class Doubling(PartTransform):
    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...]:
        return (part, part) if isinstance(part, TextDelta) else part


class SeesOnlyWholeDeltas(Transforming):
    """Replaces a word where a delta holds it whole."""

    class Replacing(PartTransform):
        def feed(self, part: StreamPart) -> StreamPart:
            if isinstance(part, TextDelta):
                return TextDelta(id=part.id, delta=part.delta.replace("onion", "leek"))
            return part

    transform = Replacing


class LeavesStreamsOpen(Middleware):
    """Takes one part too few, and forgets the stream that it read."""

    modes = ("stream",)

    def __init__(self) -> None:
        self.forgotten: list[StreamResult] = []

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        inner = await do_stream()
        self.forgotten.append(inner)
        return StreamResult(aiter(inner))


class ChangesParams(Transforming):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        assert isinstance(params.headers, dict)
        params.headers["x-request"] += "0"
        return await do_generate()


class ChangesTheAnswer(Middleware):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        result = await do_generate()
        for part in result.content:
            if isinstance(part, Text):
                object.__setattr__(part, "text", part.text.removesuffix("."))
        return result

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return replay(
            await self.wrap_generate(do_generate=do_generate, do_stream=do_stream, params=params, model=model)
        )


class ChangesParts(Transforming):
    class Changing(PartTransform):
        def feed(self, part: StreamPart) -> StreamPart:
            if isinstance(part, TextDelta):
                object.__setattr__(part, "delta", part.delta.upper())
            return part

    transform = Changing


class SwallowsCancellation(Transforming):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        try:
            return await do_generate()
        except asyncio.CancelledError:
            return text("never mind")


class LosesMetadata(Middleware):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        return answer(*(await do_generate()).content)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return replay(answer(*(await collect(await do_stream())).content))


class SharesState(Transforming):
    """Keeps the text of the running call in the layer, where other calls see it."""

    def __init__(self) -> None:
        self.text = ""

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        self.text = model.model_id
        return (await do_stream()).through(self.signed)

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        return await collect(
            await self.wrap_stream(do_generate=do_generate, do_stream=do_stream, params=params, model=model)
        )

    async def signed(self, parts: AsyncIterator[StreamPart]) -> AsyncIterator[StreamPart]:
        async for part in parts:
            if isinstance(part, TextEnd):
                yield TextDelta(id=part.id, delta=self.text)
            yield part


class RemembersForOtherModels(Middleware):
    """A cache whose key does not name the model."""

    def __init__(self) -> None:
        self.answers: dict[str, GenerateResult] = {}

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        key = repr(params)
        if key not in self.answers:
            self.answers[key] = await do_generate()
        return self.answers[key]

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return replay(
            await self.wrap_generate(do_generate=do_generate, do_stream=do_stream, params=params, model=model)
        )


class HidesFailures(Transforming):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        try:
            return await do_generate()
        except OnionError:
            return text("all is well")


class ReplacesFailures(Transforming):
    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        try:
            return await do_generate()
        except APICallError:
            raise ZeroDivisionError from None


class Shapeless(Transforming):
    def __repr__(self) -> str:
        return object.__repr__(self)


@pytest.mark.parametrize(
    ("faulty", "rule"),
    [
        (DoublesText, "collect-equals-generate"),
        (SeesOnlyWholeDeltas, "collect-equals-generate"),
        (LeavesStreamsOpen, "early-close"),
        (ChangesParams, "params-unchanged"),
        (ChangesTheAnswer, "any-chunking"),
        (ChangesParts, "part-unchanged"),
        (SwallowsCancellation, "cancel-generate"),
        (LosesMetadata, "metadata-kept"),
        (SharesState, "shared-instance"),
        (RemembersForOtherModels, "shared-instance"),
        (HidesFailures, "failures-pass"),
        (Shapeless, "repr-shows-settings"),
    ],
    ids=lambda found: found if isinstance(found, str) else found.__name__,
)
async def test_a_planted_fault_is_caught_by_its_rule(faulty: Callable[[], Middleware], rule: str) -> None:
    answers = {"text": answer("An onion has layers."), "nothing": answer()}

    with pytest.raises(LintError) as caught:
        await check_middleware(faulty, MiddlewareCheckOptions(timeout=2.0, answers=answers))

    assert caught.value.rule == rule


async def test_a_layer_that_raises_something_else_is_shown_what_it_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await check_middleware(ReplacesFailures, MiddlewareCheckOptions(answers=SMALL))
