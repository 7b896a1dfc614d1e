"""What a layer is: the hooks of `Middleware`, and what they are given.

Every wrap hook is given both calls one step in, so a layer keeps no reference to what it wraps, and one instance
serves many models and many calls at once.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.events import (
        AbortEvent,
        ChunkEvent,
        EndEvent,
        ErrorEvent,
        LanguageModelCallEndEvent,
        LanguageModelCallStartEvent,
        StartEvent,
        StepEndEvent,
        StepErrorEvent,
        StepStartEvent,
        ToolExecutionEndEvent,
        ToolExecutionStartEvent,
    )
    from onion.spec.model import LanguageModel, SupportedURLs
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.spec.tools import TypedToolCall

Mode: TypeAlias = Literal["generate", "stream"]
MODES: tuple[Mode, Mode] = ("generate", "stream")


class DoGenerate(Protocol):
    """The whole-answer call one step in."""

    def __call__(self, params: CallOptions | None = None, /) -> Awaitable[GenerateResult]:
        """Call with *params*; None means the params that the hook was given."""
        ...


class DoStream(Protocol):
    """The streaming call one step in. Whoever calls it owns the stream."""

    def __call__(self, params: CallOptions | None = None, /) -> Awaitable[StreamResult]:
        """Call with *params*; None means the params that the hook was given."""
        ...


class Execute(Protocol):
    """One execution of a client tool."""

    def __call__(self, *, input: JsonValue = ...) -> Awaitable[object]:
        """Run the tool; an *input* that is given takes the place of the call's and is validated again."""
        ...


class Middleware:
    """A layer. Override the hooks you need; one that you do not override costs nothing at run time.

    Attributes:
        modes: Which calls the layer is meant for. A layer that overrides only one of the two wrap hooks says so here,
            otherwise wrapping warns.
    """

    modes: tuple[Mode, ...] = MODES

    def is_idle(self) -> bool:
        """Whether the layer has nothing to do for now. A run of the loop asks once, and goes without it then."""
        return False

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        """The params that the call goes on with. Runs once per call of the layer, before the wrap hook."""
        return params

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole: by calling on, by calling otherwise, or without calling."""
        return await do_generate()

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Answer as a stream. If this raises after it got an inner stream, the kernel closes that stream."""
        return await do_stream()

    def override_provider(self, *, model: LanguageModel) -> str:
        """The provider name of the wrapped model."""
        return model.provider

    def override_model_id(self, *, model: LanguageModel) -> str:
        """The model id of the wrapped model."""
        return model.model_id

    def override_supported_urls(self, *, model: LanguageModel) -> SupportedURLs:
        """The URLs that the wrapped model takes."""
        return model.supported_urls

    async def wrap_tool(self, *, execute: Execute, tool_call: TypedToolCall, tool: object, options: object) -> object:
        """Around one execution of a client tool: `await execute()` gives the final output."""
        return await execute()

    def on_start(self, event: StartEvent) -> Awaitable[None] | None:
        """A run begins."""

    def on_step_start(self, event: StepStartEvent) -> Awaitable[None] | None:
        """A step begins."""

    def on_language_model_call_start(self, event: LanguageModelCallStartEvent) -> Awaitable[None] | None:
        """The model of a step is about to be called."""

    def on_language_model_call_end(self, event: LanguageModelCallEndEvent) -> Awaitable[None] | None:
        """The model of a step has answered."""

    def on_chunk(self, event: ChunkEvent) -> Awaitable[None] | None:
        """A part of the full stream is passed on."""

    def on_tool_execution_start(self, event: ToolExecutionStartEvent) -> Awaitable[None] | None:
        """A client tool is about to run."""

    def on_tool_execution_end(self, event: ToolExecutionEndEvent) -> Awaitable[None] | None:
        """A client tool has run."""

    def on_step_end(self, event: StepEndEvent) -> Awaitable[None] | None:
        """A step is finished."""

    def on_step_error(self, event: StepErrorEvent) -> Awaitable[None] | None:
        """A step failed."""

    def on_end(self, event: EndEvent) -> Awaitable[None] | None:
        """The run ended well."""

    def on_error(self, event: ErrorEvent) -> Awaitable[None] | None:
        """The run failed."""

    def on_abort(self, event: AbortEvent) -> Awaitable[None] | None:
        """The run was aborted or cancelled."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


MODEL_HOOKS = (
    "transform_params",
    "wrap_generate",
    "wrap_stream",
    "override_provider",
    "override_model_id",
    "override_supported_urls",
)
RUN_HOOKS = (
    "wrap_tool",
    "on_start",
    "on_step_start",
    "on_language_model_call_start",
    "on_language_model_call_end",
    "on_chunk",
    "on_tool_execution_start",
    "on_tool_execution_end",
    "on_step_end",
    "on_step_error",
    "on_end",
    "on_error",
    "on_abort",
)


HOOKS = (*MODEL_HOOKS, *RUN_HOOKS)
_ALL = frozenset(HOOKS)


@functools.lru_cache(maxsize=1024)  # asked for each layer of each run; bounded, because classes may be made on the fly
def _hooks_of_class(kind: type) -> frozenset[str]:
    return frozenset(name for name in HOOKS if getattr(kind, name) is not getattr(Middleware, name))


def own_hooks(layer: Middleware) -> frozenset[str]:
    """The names of the hooks that *layer* overrides: in its class, as that was when first asked, or as attributes."""
    kind: type = type(layer)
    in_class = _hooks_of_class(kind)
    given = vars(layer)
    if _ALL.isdisjoint(given):
        return in_class
    return in_class.union(name for name in _ALL & given.keys() if _is_own(given[name], name))


def _is_own(hook: object, name: str) -> bool:
    return getattr(hook, "__func__", None) is not getattr(Middleware, name)


def overridden_hooks(layer: Middleware) -> tuple[str, ...]:
    """The names of the hooks that *layer* overrides, in kernel order."""
    own = own_hooks(layer)
    return tuple(name for name in HOOKS if name in own)


def has_model_hooks(layer: Middleware) -> bool:
    """Whether *layer* does anything around a model."""
    return not own_hooks(layer).isdisjoint(MODEL_HOOKS)


def is_overridden(layer: Middleware, name: str) -> bool:
    """Whether *layer* has a hook *name* of its own."""
    return name in own_hooks(layer)
