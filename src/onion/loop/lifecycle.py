"""Who is told what a run does: the lifecycle hooks of layers, and the caller's callbacks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypedDict, TypeGuard, TypeVar

from onion.wrap import own_hooks

if TYPE_CHECKING:
    from onion.loop.interrupt import Control
    from onion.spec.events import (
        AbortEvent,
        ChunkEvent,
        EndEvent,
        ErrorEvent,
        LanguageModelCallEndEvent,
        LanguageModelCallStartEvent,
        LifecycleEvent,
        StartEvent,
        StepEndEvent,
        StepErrorEvent,
        StepStartEvent,
        ToolExecutionEndEvent,
        ToolExecutionStartEvent,
    )
    from onion.wrap import Middleware

logger: logging.Logger = logging.getLogger("onion")

EventT = TypeVar("EventT")
Callback: TypeAlias = Callable[[EventT], object]
"""Told of an event; what it returns is awaited if it can be, and not looked at."""
Listeners: TypeAlias = tuple[Callable[..., object], ...]


class Callbacks(TypedDict, total=False):
    """The lifecycle callbacks of a run, plain or async; each is given one event of `onion.spec.events`."""

    on_start: Callback[StartEvent] | None
    on_step_start: Callback[StepStartEvent] | None
    on_language_model_call_start: Callback[LanguageModelCallStartEvent] | None
    on_language_model_call_end: Callback[LanguageModelCallEndEvent] | None
    on_chunk: Callback[ChunkEvent] | None
    on_tool_execution_start: Callback[ToolExecutionStartEvent] | None
    on_tool_execution_end: Callback[ToolExecutionEndEvent] | None
    on_step_end: Callback[StepEndEvent] | None
    on_step_error: Callback[StepErrorEvent] | None
    on_end: Callback[EndEvent] | None
    on_error: Callback[ErrorEvent] | None
    on_abort: Callback[AbortEvent] | None


HOOKS = tuple(Callbacks.__annotations__)
HOOK_NAMES = frozenset(HOOKS)


async def resolve(outcome: object) -> object:
    """What user code gave back, awaited if it is awaitable."""
    return await outcome if is_awaitable(outcome) else outcome


def is_awaitable(outcome: object) -> TypeGuard[Awaitable[object]]:
    """Whether user code that may be plain or async was async."""
    return isinstance(outcome, Awaitable)


def _is_callback(given: object) -> TypeGuard[Callable[..., object]]:
    return callable(given)


class Lifecycle:
    """The listeners of one run, by event; outermost layers first, then callbacks, each once.

    Where an event has no listeners, nobody need make it. A listener that raises is logged once, its errors are kept,
    and the run goes on.

    Attributes:
        errors: What listeners raised, in order.
    """

    on_start: Listeners = ()
    on_step_start: Listeners = ()
    on_language_model_call_start: Listeners = ()
    on_language_model_call_end: Listeners = ()
    on_chunk: Listeners = ()
    on_tool_execution_start: Listeners = ()
    on_tool_execution_end: Listeners = ()
    on_step_end: Listeners = ()
    on_step_error: Listeners = ()
    on_end: Listeners = ()
    on_error: Listeners = ()
    on_abort: Listeners = ()

    def __init__(
        self, layers: Sequence[Middleware], callbacks: Sequence[Mapping[str, object]], control: Control
    ) -> None:
        heard: dict[str, list[Callable[..., object]]] = {}
        for layer in layers:
            for hook in own_hooks(layer) & HOOK_NAMES:
                heard.setdefault(hook, []).append(getattr(layer, hook))
        once: set[tuple[str, Callable[..., object]]] = set()
        for given in callbacks:
            if HOOK_NAMES.isdisjoint(given):
                continue
            for hook in HOOK_NAMES & given.keys():
                callback = given[hook]
                if _is_callback(callback) and (hook, callback) not in once:
                    once.add((hook, callback))
                    heard.setdefault(hook, []).append(callback)
        for hook, listeners in heard.items():
            setattr(self, hook, tuple(listeners))
        self.errors: list[Exception] = []
        self._control = control
        self._logged: set[Callable[..., object]] = set()

    async def tell(self, listeners: Listeners, event: LifecycleEvent) -> None:
        """Tell each of *listeners*, one after another.

        Raises:
            CancelledError: When the run is to stop, even if the listener swallowed the cancellation.
        """
        for listener in listeners:
            await self.call(listener, event)

    async def call(self, listener: Callable[..., object], *arguments: object) -> None:
        """Call one listener, or a hook of a tool; what it raises is noted.

        Raises:
            CancelledError: When the run is to stop, even if the listener swallowed the cancellation.
        """
        try:
            await resolve(listener(*arguments))
        except Exception as error:  # noqa: BLE001 - who watches a run must not end it
            self._note(listener, error)
        except asyncio.CancelledError as error:
            if self._control.is_stopping:
                raise
            self._note(listener, RuntimeError(f"the callback raised {error!r}, though nobody cancelled it"))
        self._control.check()

    def _note(self, listener: Callable[..., object], error: Exception) -> None:
        self.errors.append(error)
        if listener not in self._logged:
            self._logged.add(listener)
            name = getattr(listener, "__qualname__", repr(listener))
            logger.warning("%s raised %s: the run goes on", name, type(error).__name__, exc_info=error)
