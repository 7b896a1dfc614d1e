"""Whether something is a `LanguageModel`: a check for any test framework, or none."""

from __future__ import annotations

import asyncio
import gc
import inspect
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

from onion.spec.base import value
from onion.spec.call import CallOptions
from onion.spec.json import to_json
from onion.spec.model import LanguageModel
from onion.spec.prompt import TextPart, UserMessage
from onion.streaming import collect
from onion.testing.checks import CheckReport, Checks
from onion.testing.differences import difference
from onion.testing.lint import Lint
from onion.testing.suspensions import CancelledAt
from onion.wrap import wrap_language_model

if TYPE_CHECKING:
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult

HELLO = CallOptions(prompt=(UserMessage(content=(TextPart(text="Say hello."),)),))

OURS = ("onion",)
"""The part of the metadata in which our own layers say what they did to one call."""

ModelFactory: TypeAlias = "Callable[[], LanguageModel | Awaitable[LanguageModel]]"


@value
class ModelCheckOptions:
    """What `check_language_model` asks, and how closely it looks.

    Attributes:
        params: The call that is made again and again.
        strict: Check also what Onion's own models promise beyond what a foreign one must.
        repeats: The same call gets the same answer, so that a collected stream can be compared with a whole answer.
        volatile: JSON keys that may differ between two answers to the same call.
        open_connections: How many connections, slots or streams of that model are open; without it nobody can see
            from outside whether it closes them.
        places: After how many parts, from the first, a stream is closed in turn, and at how many suspensions a call is
            cancelled.
        timeout: Seconds that one check may take.
    """

    params: CallOptions = HELLO
    strict: bool = False
    repeats: bool = True
    volatile: Collection[str] = ("request", "response", *OURS)
    open_connections: Callable[[LanguageModel], int] | None = None
    places: int = 20
    timeout: float = 10.0


async def check_language_model(make_model: ModelFactory, options: ModelCheckOptions | None = None) -> CheckReport:
    """Put a model through everything that a caller may do with one.

    Args:
        make_model: Makes the model, anew for each check; may be async.
        options: What to ask and how closely to look.

    Raises:
        LintError: For the first rule that is broken; it carries the rule's name.
    """
    checks = _Checks(make_model, options or ModelCheckOptions())
    for rule, check in (
        ("generates", checks.generate),
        ("streams", checks.stream),
        ("collect-equals-generate", checks.collect),
        ("two-at-once", checks.two_at_once),
        ("early-close", checks.early_close),
        ("early-break", checks.early_break),
        ("unread-drop", checks.unread_drop),
        ("cancel-generate", checks.cancel_generate),
        ("cancel-stream", checks.cancel_stream),
    ):
        await checks.run(rule, check)
    return checks.report


class _Checks(Checks):
    def __init__(self, make_model: ModelFactory, options: ModelCheckOptions) -> None:
        super().__init__(subject="the model", timeout=options.timeout)
        self._make_model = make_model
        self._options = options

    async def generate(self) -> None:
        """A whole answer keeps the rules of `Lint`, and leaves nothing open."""
        async with self._model() as model:
            lint = Lint(strict=self._options.strict)
            await wrap_language_model(model, lint).do_generate(self._options.params)

    async def stream(self) -> None:
        """A stream that is read to its end keeps the rules of `Lint`, and leaves nothing open."""
        async with self._model() as model:
            lint = Lint(strict=self._options.strict)
            async with await wrap_language_model(model, lint).do_stream(self._options.params) as stream:
                async for _ in stream:
                    pass
            lint.check_closed()

    async def collect(self) -> str | None:
        """A stream, collected, is the whole answer."""
        if not self._options.repeats:
            return "the model answers the same call differently"
        async with self._model() as model:
            whole = await model.do_generate(self._options.params)
        async with self._model() as model:
            self._compare(whole, await self._collect(model))
        return None

    async def two_at_once(self) -> str | None:
        """Two streams and a whole answer at the same time are what each would be alone."""
        params = self._options.params
        async with self._model() as model:
            works = self._collect(model), model.do_generate(params), self._collect(model)
            answers = await asyncio.gather(*works, return_exceptions=True)
        whole = [self._answered(answer) for answer in answers]
        if not self._options.repeats:
            return "the answers came, but the model answers the same call differently"
        for answer in whole[1:]:
            self._compare(whole[0], answer)
        return None

    async def early_close(self) -> None:
        """Closing a stream after any of its parts, or before the first, releases what it held."""
        for wanted in range(self._options.places + 1):
            async with self._model() as model:
                stream = await model.do_stream(self._options.params)
                read = await _read(stream, wanted)
                await stream.aclose()
                await stream.aclose()
            if read < wanted:
                return

    async def early_break(self) -> None:
        """Leaving a stream in the middle and dropping it releases what it held."""
        async with self._model() as model:
            await _read(await model.do_stream(self._options.params), 1)
            gc.collect()

    async def unread_drop(self) -> None:
        """Dropping a stream unread warns and releases what it held."""
        async with self._model() as model:
            stream = await model.do_stream(self._options.params)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                del stream
                gc.collect()
            if not any(issubclass(warning.category, ResourceWarning) for warning in caught):
                self.fail("dropped a stream unread, and no ResourceWarning came: something else holds on to it")

    async def cancel_generate(self) -> str | None:
        """Cancelling a whole call wherever it waits ends it and releases what it held."""
        return await self._cancel_everywhere(lambda model: model.do_generate(self._options.params))

    async def cancel_stream(self) -> str | None:
        """Cancelling a stream wherever it waits ends it and releases what it held."""
        return await self._cancel_everywhere(self._collect)

    async def _cancel_everywhere(
        self, work: Callable[[LanguageModel], Coroutine[object, object, object]]
    ) -> str | None:
        for position in range(1, self._options.places + 1):
            async with self._model() as model:
                cancelled = CancelledAt(work(model), position)
                task = asyncio.ensure_future(_awaited(cancelled))
                await asyncio.wait([task])
            if cancelled.is_over:
                task.result()
                return None if position > 1 else "the call never waits"
            if not task.cancelled():
                self.fail(f"cancelled while it waited for the time number {position}, but ended with {_outcome(task)}")
        return None

    @asynccontextmanager
    async def _model(self) -> AsyncGenerator[LanguageModel, None]:
        made = self._make_model()
        model = await made if inspect.isawaitable(made) else made
        self.report.calls += 1
        yield model
        count = self._options.open_connections
        if count is None:
            self.report.skipped["connections-released"] = "open_connections was not given"
        else:
            await self.settle(lambda: count(model) == 0, "left connections open")

    async def _collect(self, model: LanguageModel) -> GenerateResult:
        return await collect(await model.do_stream(self._options.params))

    def _answered(self, answer: GenerateResult | BaseException) -> GenerateResult:
        if isinstance(answer, BaseException):
            self.fail(f"alone it answered, with others it raised {answer!r}")
        return answer

    def _compare(self, one: GenerateResult, other: GenerateResult) -> None:
        if found := difference(to_json(one), to_json(other), ignored=self._options.volatile):
            self.fail(found)


async def _read(stream: StreamResult, wanted: int) -> int:
    """How many parts came, when no more than *wanted* are asked for."""
    read = 0
    if wanted:
        async for _ in stream:
            read += 1
            if read == wanted:
                break
    return read


async def _awaited(work: Awaitable[None]) -> None:
    await work


def _outcome(task: asyncio.Future[None]) -> str:
    return "an answer" if task.exception() is None else repr(task.exception())
