"""Whether something is a well-behaved layer: a check for any test framework, or none."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from onion.errors import APICallError, RetryError
from onion.spec.base import value
from onion.spec.call import CallOptions
from onion.spec.json import to_json
from onion.spec.parts import ErrorPart
from onion.spec.result import GenerateResult
from onion.streaming import collect
from onion.testing.answers import answer, parts
from onion.testing.checks import CheckReport, Checks
from onion.testing.conformance import OURS, ModelCheckOptions, check_language_model
from onion.testing.differences import difference
from onion.testing.lint import Lint
from onion.testing.samples import ANSWERS, MARKED, MARKS, QUESTION, cuts, longest_text, stream_of
from onion.testing.scripted import Raise, ScriptedModel, ScriptItem
from onion.wrap import Middleware, unwrap, wrap_language_model

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel

LayerFactory: TypeAlias = Callable[[], Middleware | Awaitable[Middleware]]

_MODELS = 8


@value
class MiddlewareCheckOptions:
    """What `check_middleware` sends through a layer, and how closely it looks.

    Attributes:
        params: The call that is made again and again.
        answers: What the model answers, by a name for each: add those on which the layer acts.
        loses: Which of the marks on an answer (see `onion.testing.samples.MARKS`) the layer takes away on purpose.
        repeats: The layer does the same to the same answer each time.
        timeout: Seconds that it may take to check one thing with one answer.
    """

    params: CallOptions = QUESTION
    answers: Mapping[str, GenerateResult] = field(default_factory=lambda: ANSWERS)
    loses: Collection[str] = ()
    repeats: bool = True
    timeout: float = 10.0


async def check_middleware(make_layer: LayerFactory, options: MiddlewareCheckOptions | None = None) -> CheckReport:
    """Put a layer between `Lint` and `Lint` through everything that its neighbours may do.

    Args:
        make_layer: Makes the layer, anew for each check; may be async.
        options: What to send through it and how closely to look.

    Raises:
        LintError: For the first rule that is broken; it carries the rule's name.
    """
    options = options or MiddlewareCheckOptions()
    checks = _LayerChecks(make_layer, options)
    for rule, check in (
        ("repr-shows-settings", checks.shows_itself),
        ("model-contract", checks.model_contract),
        ("any-chunking", checks.any_chunking),
        ("metadata-kept", checks.metadata_kept),
        ("failures-pass", checks.failures_pass),
        ("shared-instance", checks.shared_instance),
    ):
        await checks.run(rule, check, times=10 * len(options.answers))
    return checks.report


class _LayerChecks(Checks):
    def __init__(self, make_layer: LayerFactory, options: MiddlewareCheckOptions) -> None:
        super().__init__(subject="the layer", timeout=options.timeout)
        self._make_layer = make_layer
        self._options = options

    async def shows_itself(self) -> None:
        """The layer's `repr` is its own."""
        shown = repr(await self._layer())
        if " object at 0x" in shown:
            self.fail(f"{shown} does not show its settings")

    async def model_contract(self) -> None:
        """With the layer around it, a model passes `check_language_model`, and nothing inside of it stays open."""
        for result in self._options.answers.values():
            script = stream_of(result)

            async def make_model(script: ScriptItem = script) -> LanguageModel:
                return self._stack(await self._layer(), script)

            options = ModelCheckOptions(
                params=self._options.params,
                volatile=OURS,
                repeats=self._options.repeats,
                open_connections=_open_calls,
                timeout=self._options.timeout,
            )
            report = await check_language_model(make_model, options)
            self.report.calls += report.calls

    async def any_chunking(self) -> str | None:
        """However an answer is cut, its stream collects to what the layer makes of the whole one."""
        if not self._options.repeats:
            return "the layer treats the same answer differently"
        for name, result in self._options.answers.items():
            before = to_json(result)
            async with self._model(result) as model:
                whole = await model.do_generate(self._options.params)
            for cut in cuts(longest_text(result)):
                async with self._model(stream_of(result, cut)) as model:
                    self._compare(whole, await self._collect(model), f"the answer {name!r}: ")
            if found := difference(before, to_json(result)):
                self.fail(f"it changed the answer {name!r} that it was given: {found}")
        return None

    async def metadata_kept(self) -> None:
        """What the model says beside its answer arrives: ids, warnings and provider metadata."""
        for script in (MARKED, stream_of(MARKED)):
            async with self._model(script) as model:
                self._look_for_marks(await model.do_generate(self._options.params), "a whole answer")
            async with self._model(script) as model:
                self._look_for_marks(await self._collect(model), "a stream")

    async def failures_pass(self) -> None:
        """A failure of the model reaches the caller, as it is or inside of another, and leaves nothing open."""
        error = APICallError("the checks let this call fail", status_code=400)
        for script in (
            error,
            parts("An on", ErrorPart(error=error), finish_reason="error"),
            parts("An on", Raise(error)),
        ):
            async with self._model(script) as model:
                await self._expect(error, model.do_generate(self._options.params))
            async with self._model(script) as model:
                await self._expect(error, self._collect(model))

    async def shared_instance(self) -> str | None:
        """One layer object serves many models and calls at once, and each gets what it would get alone."""
        if not self._options.repeats:
            return "the layer treats the same answer differently"
        scripts = [stream_of(answer(f"This is answer {number}.")) for number in range(_MODELS)]
        alone: list[GenerateResult] = []
        for number, script in enumerate(scripts):
            alone.append(await self._collect(self._stack(await self._layer(), script, number)))
        layer = await self._layer()
        models = [self._stack(layer, script, number) for number, script in enumerate(scripts)]
        for _ in range(2):  # the second time a layer may remember something
            works = [
                work for model in models for work in (self._collect(model), model.do_generate(self._options.params))
            ]
            for number, result in enumerate(await asyncio.gather(*works)):
                self._compare(alone[number // 2], result, f"model {number // 2}, alone and among others: ")
        return None

    async def _layer(self) -> Middleware:
        made = self._make_layer()
        return await made if inspect.isawaitable(made) else made

    def _stack(self, layer: Middleware, script: ScriptItem, number: int = 0) -> LanguageModel:
        self.report.calls += 1
        model = ScriptedModel(itertools.repeat(script), provider="check", model_id=f"model-{number}")
        return wrap_language_model(model, [Lint(), layer, Lint()])

    @asynccontextmanager
    async def _model(self, script: ScriptItem) -> AsyncGenerator[LanguageModel, None]:
        model = self._stack(await self._layer(), script)
        yield model
        await self.settle(lambda: _open_calls(model) == 0, "left calls of the model open")

    async def _collect(self, model: LanguageModel) -> GenerateResult:
        return await collect(await model.do_stream(self._options.params))

    def _compare(self, one: GenerateResult, other: GenerateResult, place: str) -> None:
        if found := difference(to_json(one), to_json(other), ignored=OURS):
            self.fail(place + found)

    def _look_for_marks(self, result: GenerateResult, place: str) -> None:
        shown = json.dumps(to_json(result))
        lost = [mark for mark in MARKS if f"mark-{mark}" not in shown and mark not in self._options.loses]
        if lost:
            self.fail(f"{place} has lost what the model said: {', '.join(lost)}")

    async def _expect(self, error: Exception, work: Awaitable[GenerateResult]) -> None:
        try:
            result = await work
        except Exception as raised:
            if error not in _chain(raised):
                raise
        else:
            self.fail(f"the model failed, and the caller was given {result.text!r}")


def _open_calls(model: LanguageModel) -> int:
    innermost = unwrap(model)[1]
    return innermost.open_calls if isinstance(innermost, ScriptedModel) else 0


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it carries or came from."""
    yield error
    carried = error.errors if isinstance(error, RetryError) else error.exceptions if _is_group(error) else ()
    for other in (*carried, error.__cause__):
        if other is not None:
            yield from _chain(other)


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)
