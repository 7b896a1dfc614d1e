"""The contract as a layer: it changes nothing, and raises as soon as one of its neighbours breaks a rule."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

from onion.spec.transform import Outcome, PartTransform
from onion.testing.rules import AnswerRules, CallRules, OwnerRules, StreamRules
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.wrap import DoGenerate, DoStream


class Lint(Middleware):
    """Checks both neighbours against `docs/protocol.md`; what passes is not changed.

    Put one on each side of a layer to see that it keeps the contract towards both. One instance serves many models
    and calls.

    Args:
        strict: Check also what Onion's own models promise beyond what a foreign one must.

    Attributes:
        open_streams: How many of the streams that were handed out have not ended and were not closed.

    Raises:
        LintError: Where a rule is broken: from the call, from reading, or from closing.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._is_strict = strict
        self.open_streams: int = 0

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Check params, call and answer."""
        place = f"do_generate of {_name(model)}"
        call = CallRules(place, strict=self._is_strict)
        call.before(model, params)
        cancellations = _cancellations()
        try:
            result = await do_generate()
        except BaseException as error:
            _check_failure(call, error)
            raise
        finally:
            call.after(params)
        call.answered(_cancellations() - cancellations)
        AnswerRules(place, strict=self._is_strict).check(result)
        return result

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Check params, call and every part."""
        place = f"do_stream of {_name(model)}"
        call = CallRules(place, strict=self._is_strict)
        call.before(model, params)
        cancellations = _cancellations()
        try:
            result = await do_stream()
        except BaseException as error:
            _check_failure(call, error)
            raise
        finally:
            call.after(params)
        call.answered(_cancellations() - cancellations)
        rules = StreamRules(place, strict=self._is_strict)
        rules.opened(result)
        watched = result.through(lambda parts: _watch(parts, params, call, rules))
        self.open_streams += 1
        return watched.pipe(lambda: _Closing(self))

    def check_closed(self) -> None:
        """Raise a LintError unless every stream that was handed out ended or was closed."""
        OwnerRules("who was given a stream", strict=self._is_strict).all_closed(self.open_streams)

    def __repr__(self) -> str:
        return f"Lint(strict={self._is_strict})"


class _Closing(PartTransform):
    def __init__(self, lint: Lint) -> None:
        self._lint = lint

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        del outcome, error
        self._lint.open_streams -= 1


async def _watch(
    parts: AsyncIterator[StreamPart], params: CallOptions, call: CallRules, rules: StreamRules
) -> AsyncGenerator[StreamPart, None]:
    try:
        while True:
            cancellations = _cancellations()
            try:
                part = await anext(parts)
            except StopAsyncIteration:
                break
            except Exception as error:
                if not isinstance(error, AssertionError):
                    rules.failed(error)
                raise
            call.answered(_cancellations() - cancellations)
            rules.feed(part)
            yield part
        rules.ended()
    finally:
        rules.unchanged()
        call.after(params)


def _check_failure(call: CallRules, error: BaseException) -> None:
    """An AssertionError is a rule that somebody further in saw broken; it must not hide behind another."""
    if not isinstance(error, AssertionError):
        call.failed(error)


def _cancellations() -> int:
    """How often the running task was asked to stop."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def _name(model: LanguageModel) -> str:
    return f"{model.provider}/{model.model_id}"
