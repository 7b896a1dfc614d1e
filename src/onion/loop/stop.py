"""When a run stops: conditions over its finished steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from onion.spec.step import StepResult

StopCondition: TypeAlias = Callable[["tuple[StepResult, ...]"], bool | Awaitable[bool]]
"""Given the finished steps, at least one; True ends the run. May be async."""


def _is_whole(count: object) -> bool:
    return isinstance(count, int) and not isinstance(count, bool)


def is_step_count(count: int) -> StopCondition:
    """Stop once *count* steps are finished.

    Raises:
        InvalidArgumentError: For a count below 1, or that is no whole number.
    """
    if not _is_whole(count) or count < 1:
        msg = f"count must be a whole number and at least 1, got {count!r}"
        raise InvalidArgumentError(msg, parameter="count", value=count)

    def holds(steps: tuple[StepResult, ...]) -> bool:
        return len(steps) >= count

    return holds


def has_tool_call(*tool_names: str) -> StopCondition:
    """Stop after a step in which the model called one of the named tools."""

    def holds(steps: tuple[StepResult, ...]) -> bool:
        return any(call.tool_name in tool_names for call in steps[-1].tool_calls)

    return holds


def is_loop_finished() -> StopCondition:
    """Never stop early: the run ends when the model asks for nothing more."""
    return _never


def _never(_steps: tuple[StepResult, ...]) -> bool:
    return False


DEFAULT_STOP: tuple[StopCondition, ...] = (is_step_count(1),)


def read_conditions(
    given: StopCondition | Sequence[StopCondition] | None, default: tuple[StopCondition, ...]
) -> tuple[StopCondition, ...]:
    """What `stop_when=` means: one condition or several, of which any ends the run."""
    if given is None:
        return default
    return (given,) if callable(given) else tuple(given)


async def should_stop(conditions: Sequence[StopCondition], steps: tuple[StepResult, ...]) -> bool:
    """Whether any condition holds; all of them are asked."""
    stops = False
    for condition in conditions:
        verdict = condition(steps)
        stops |= verdict if isinstance(verdict, bool) else await verdict
    return stops
