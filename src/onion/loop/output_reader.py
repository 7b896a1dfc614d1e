"""Reads the answers of one run: partial values and elements while they arrive, the output at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from onion.errors import JSONParseError, NoObjectGeneratedError, NoOutputGeneratedError, TypeValidationError
from onion.loop.allowance import Allowance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onion.loop.answers import Answer, Bounds
    from onion.spec.result import ResponseInfo
    from onion.spec.step import LanguageModelUsage, StepResult
    from onion.spec.usage import UnifiedFinishReason

OutputT_co = TypeVar("OutputT_co", covariant=True)


class OutputReader(Generic[OutputT_co]):
    """The state of reading one run. What a step shows is made of its first block of text only.

    Attributes:
        partial: The latest partial value that was handed out.
        element_error: Why there will be no more elements, if there are too many.
    """

    def __init__(self, answer: Callable[[], Answer[OutputT_co]], *, bounds: Bounds, is_lenient: bool) -> None:
        self._new_answer = answer
        self._bounds = bounds
        self._is_lenient = is_lenient
        self._result: tuple[OutputT_co] | NoObjectGeneratedError | NoOutputGeneratedError | None = None
        self.partial: object = None
        self.element_error: TypeValidationError | None = None
        self.start_step()

    def start_step(self) -> None:
        """A step begins, or begins again: its answer is read from the start."""
        self._answer = self._new_answer()
        self._shown = self._answer.shown
        self._allowance = Allowance()
        self._block: str | None = None
        self._is_due = False
        self._elements_taken = 0

    def feed(self, block_id: str, delta: str) -> bool:
        """Read more text of a block; whether `partial` is a new value to hand out."""
        if block_id != self._block:
            if self._block is not None:
                return False
            self._block = block_id
        shown, allowance = self._shown, self._allowance
        allowance.earn(len(delta))
        if shown.feed(delta):
            self._is_due = True
        if not self._is_due or not allowance.pay(shown.cost):
            return False
        self.partial = shown.value
        self._is_due = False
        return True

    def end_block(self, block_id: str) -> bool:
        """A block is whole; whether `partial` is a new value to hand out."""
        if block_id != self._block:
            return False
        if not self._shown.finish() and not self._is_due:
            return False
        self.partial = self._shown.value
        self._is_due = False
        return True

    def take_elements(self) -> Sequence[object]:
        """The elements that are new since the last call, as far as `max_items` allows; then see `element_error`."""
        found = self._answer.elements
        limit = len(found) if self._bounds.max_items is None else self._bounds.max_items
        taken = found[self._elements_taken : limit]
        self._elements_taken += len(taken)
        if len(found) > limit and self.element_error is None:
            self.element_error = self._bounds.too_many(found)
        return taken

    def finish(
        self,
        *,
        text: str,
        finish_reason: UnifiedFinishReason,
        usage: LanguageModelUsage,
        response: ResponseInfo,
        steps: Sequence[StepResult],
    ) -> OutputT_co:
        """The output of the run; the same object or error each time it is asked for.

        Args:
            text: The text of the last answer, or what the model gave apart from it for the output.
            finish_reason: Of the last step.
            usage: Of the run, for the error.
            response: Of the last step, for the error.
            steps: All, for the error.

        Raises:
            NoOutputGeneratedError: When the run ended where no answer is expected: on tool calls, or without text.
            NoObjectGeneratedError: When the text does not hold what was asked for; the cause says why.
        """
        if self._result is None:
            self._result = self._read(text, finish_reason)
            if isinstance(self._result, NoObjectGeneratedError):
                self._result.usage = usage
                self._result.response = response
            if isinstance(self._result, NoObjectGeneratedError | NoOutputGeneratedError):
                self._result.steps = tuple(steps)
        if isinstance(self._result, tuple):
            return self._result[0]
        raise self._result

    def _read(
        self, text: str, finish_reason: UnifiedFinishReason
    ) -> tuple[OutputT_co] | NoObjectGeneratedError | NoOutputGeneratedError:
        is_answer = finish_reason == "stop" or (finish_reason != "tool-calls" and bool(text))
        if not is_answer and not self._is_lenient:
            msg = (
                f"the run ended with {finish_reason!r} and no answer to read an output from: "
                "let it take more steps with stop_when, or read `steps`"
            )
            return NoOutputGeneratedError(msg)
        try:
            return (self._answer.parse(text),)
        except (JSONParseError, TypeValidationError) as cause:
            wrong = "is not JSON" if isinstance(cause, JSONParseError) else "does not have the shape asked for"
            cut = "; it was cut off by its limit of tokens" if finish_reason == "length" else ""
            error = NoObjectGeneratedError(f"the answer {wrong}{cut}: {cause}", text=text, finish_reason=finish_reason)
            error.__cause__ = cause
            return error
