"""check_language_model: good models pass, and each planted fault is named."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, Callable

import pytest

from onion.errors import OnionError
from onion.spec import (
    CallOptions,
    FinishPart,
    GenerateResult,
    LanguageModel,
    StreamPart,
    StreamResult,
    SupportedURLs,
    TextDelta,
    TextEnd,
    Usage,
)
from onion.streaming import collect, replay, replay_parts
from onion.testing import (
    LintError,
    ModelCheckOptions,
    Raise,
    ScriptedModel,
    ScriptItem,
    Wait,
    answer,
    call,
    check_language_model,
    parts,
    text,
)


def scripted_connections(model: LanguageModel) -> int:
    assert isinstance(model, ScriptedModel)
    return model.open_calls


async def pause() -> None:
    await asyncio.sleep(0)


class Honest:
    """A model that suspends, streams word by word and releases; the faulty ones override a piece of it."""

    provider = "test.honest"
    model_id = "honest"
    supported_urls: SupportedURLs = {}  # noqa: RUF012 - never changed
    words = ("one ", "two ", "three")

    def __init__(self) -> None:
        self.open = 0

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        del params
        await pause()
        return text("".join(self.words))

    async def do_stream(self, params: CallOptions) -> StreamResult:
        del params
        await pause()
        self.open += 1
        return StreamResult(self.stream(), close=self.close)

    async def stream(self) -> AsyncGenerator[StreamPart, None]:
        for part in replay_parts(text("")):
            if isinstance(part, TextEnd):
                for word in self.words:
                    await pause()
                    yield TextDelta(id=part.id, delta=word)
            yield part

    async def close(self) -> None:
        self.open -= 1


def open_connections(model: LanguageModel) -> int:
    assert isinstance(model, Honest)
    return model.open


OPTIONS = ModelCheckOptions(open_connections=open_connections, timeout=1.0)


async def test_a_model_that_keeps_the_contract_passes_everything() -> None:
    report = await check_language_model(Honest, OPTIONS)

    assert report.passed == [
        "generates",
        "streams",
        "collect-equals-generate",
        "two-at-once",
        "early-close",
        "early-break",
        "unread-drop",
        "cancel-generate",
        "cancel-stream",
    ]
    assert report.skipped == {}
    assert report.calls > 10


@pytest.mark.parametrize(
    "item", [answer("look", call("search", {"q": "onion"})), parts("a", Wait(pause), "b")], ids=["whole", "parts"]
)
async def test_a_scripted_model_passes_in_either_form(item: ScriptItem) -> None:
    async def make() -> LanguageModel:
        return ScriptedModel(itertools.repeat(item))

    report = await check_language_model(make, ModelCheckOptions(open_connections=scripted_connections, strict=True))

    assert "collect-equals-generate" in report.passed


async def test_what_cannot_be_checked_is_reported() -> None:
    script = (text(str(number)) for number in range(1000))
    model = ScriptedModel(script)

    report = await check_language_model(lambda: model, ModelCheckOptions(repeats=False))

    assert report.skipped.keys() == {
        "collect-equals-generate",
        "two-at-once",
        "connections-released",
        "cancel-generate",
        "cancel-stream",
    }


async def test_only_as_many_places_are_tried_as_asked() -> None:
    report = await check_language_model(Honest, ModelCheckOptions(places=1))

    assert "cancel-stream" in report.passed
    assert report.calls == 11


class LeavesOutTextEnd(Honest):
    async def stream(self) -> AsyncGenerator[StreamPart, None]:
        async for part in super().stream():
            if not isinstance(part, TextEnd):
                yield part


class DoublesText(Honest):
    async def stream(self) -> AsyncGenerator[StreamPart, None]:
        async for part in super().stream():
            yield part
            if isinstance(part, TextDelta):
                yield part


class LosesUsage(Honest):
    async def do_stream(self, params: CallOptions) -> StreamResult:
        whole = await self.do_generate(params)
        return replay(GenerateResult(content=whole.content, finish_reason=whole.finish_reason, usage=Usage()))


class ChangesParams(Honest):
    async def do_generate(self, params: CallOptions) -> GenerateResult:
        assert isinstance(params.headers, dict)
        params.headers["authorization"] = "mine"
        return await super().do_generate(params)


class NeverCloses(Honest):
    async def do_stream(self, params: CallOptions) -> StreamResult:
        del params
        self.open += 1
        return StreamResult(self.stream())


class ClosesOnlyAtTheEnd(Honest):
    async def do_stream(self, params: CallOptions) -> StreamResult:
        del params
        return StreamResult(self.stream())

    async def stream(self) -> AsyncGenerator[StreamPart, None]:
        self.open += 1
        async for part in super().stream():
            yield part
        self.open -= 1


class HoldsOnToStreams(Honest):
    def __init__(self) -> None:
        super().__init__()
        self.streams: list[StreamResult] = []

    async def do_stream(self, params: CallOptions) -> StreamResult:
        self.streams.append(await super().do_stream(params))
        return self.streams[-1]


class SwallowsCancellationInGenerate(Honest):
    async def do_generate(self, params: CallOptions) -> GenerateResult:
        try:
            return await super().do_generate(params)
        except asyncio.CancelledError:
            return text("".join(self.words))


class SwallowsCancellationInStream(Honest):
    async def stream(self) -> AsyncGenerator[StreamPart, None]:
        for part in replay_parts(text("".join(self.words))):
            with contextlib.suppress(asyncio.CancelledError):
                await pause()
            yield part


class TurnsCancellationIntoAnError(Honest):
    async def do_generate(self, params: CallOptions) -> GenerateResult:
        try:
            return await super().do_generate(params)
        except asyncio.CancelledError as error:
            msg = "cancelled"
            raise OnionError(msg) from error


class SharesState(Honest):
    def __init__(self) -> None:
        super().__init__()
        self.rest: list[StreamPart] = []

    async def stream(self) -> AsyncGenerator[StreamPart, None]:
        self.rest = list(replay_parts(text("".join(self.words))))
        while self.rest:
            await pause()
            yield self.rest.pop(0)


class LeavesTasks(Honest):
    def __init__(self) -> None:
        super().__init__()
        self.task: asyncio.Task[object] | None = None

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        self.task = asyncio.create_task(asyncio.Event().wait())
        return await super().do_generate(params)


class Hangs(Honest):
    async def do_generate(self, params: CallOptions) -> GenerateResult:
        del params
        await asyncio.Event().wait()
        raise AssertionError


class TimesOutByItself(Honest):
    async def do_generate(self, params: CallOptions) -> GenerateResult:
        del params
        raise TimeoutError


class FailsWithAForeignError(Honest):
    async def do_generate(self, params: CallOptions) -> GenerateResult:
        del params
        msg = "no key"
        raise KeyError(msg)


@pytest.mark.parametrize(
    ("faulty", "rule"),
    [
        (LeavesOutTextEnd, "blocks-end"),
        (DoublesText, "collect-equals-generate"),
        (LosesUsage, "collect-equals-generate"),
        (ChangesParams, "params-unchanged"),
        (NeverCloses, "streams"),
        (ClosesOnlyAtTheEnd, "early-close"),
        (HoldsOnToStreams, "early-break"),
        (SwallowsCancellationInGenerate, "cancel-generate"),
        (SwallowsCancellationInStream, "cancel-stream"),
        (TurnsCancellationIntoAnError, "cancel-generate"),
        (SharesState, "two-at-once"),
        (LeavesTasks, "generates"),
        (Hangs, "generates"),
        (FailsWithAForeignError, "error-class"),
    ],
    ids=lambda found: found if isinstance(found, str) else found.__name__,
)
async def test_a_planted_fault_is_caught_by_its_rule(faulty: Callable[[], Honest], rule: str) -> None:
    params = OPTIONS.params.replace(headers={"x-id": "1"})
    options = ModelCheckOptions(params=params, strict=True, open_connections=open_connections, timeout=1.0)

    with pytest.raises(LintError) as caught:
        await check_language_model(faulty, options)

    assert caught.value.rule == rule
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def test_a_stream_that_somebody_else_holds_is_noticed_when_it_is_dropped_unread() -> None:
    model = HoldsOnToStreams()

    with pytest.raises(LintError, match="something else holds on to it") as caught:
        await check_language_model(lambda: model, ModelCheckOptions())

    assert caught.value.rule == "unread-drop"
    for stream in model.streams:
        await stream.aclose()


async def test_a_timeout_of_the_model_itself_is_its_own_error() -> None:
    with pytest.raises(TimeoutError):
        await check_language_model(TimesOutByItself, OPTIONS)


async def test_a_failing_stream_is_no_fault_of_the_grammar() -> None:
    model = ScriptedModel([text("whole"), parts("a", Raise(OnionError("broken")))])

    with pytest.raises(OnionError, match="broken"):
        await check_language_model(lambda: model, ModelCheckOptions())

    assert model.open_calls == 0


async def test_the_finish_of_a_good_stream_is_its_last_part() -> None:
    stream = await Honest().do_stream(OPTIONS.params)

    seen = [part async for part in stream]

    assert isinstance(seen[-1], FinishPart)
    assert (await collect(await Honest().do_stream(OPTIONS.params))).text == "one two three"
