"""Layers from plain functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeVar

from onion.errors import InvalidArgumentError
from onion.wrap.checks import check_modes
from onion.wrap.hooks import MODEL_HOOKS, MODES, RUN_HOOKS, Middleware

if TYPE_CHECKING:
    from typing import Unpack

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
    from onion.wrap.hooks import DoGenerate, DoStream, Execute, Mode


T_co = TypeVar("T_co", covariant=True)


class TransformParams(Protocol):
    """`Middleware.transform_params` as a function."""

    def __call__(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> Awaitable[CallOptions]:
        """The params that the call goes on with."""
        ...


class WrapGenerate(Protocol):
    """`Middleware.wrap_generate` as a function."""

    def __call__(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> Awaitable[GenerateResult]:
        """Answer whole."""
        ...


class WrapStream(Protocol):
    """`Middleware.wrap_stream` as a function."""

    def __call__(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> Awaitable[StreamResult]:
        """Answer as a stream."""
        ...


class WrapTool(Protocol):
    """`Middleware.wrap_tool` as a function."""

    def __call__(
        self, *, execute: Execute, tool_call: TypedToolCall, tool: object, options: object
    ) -> Awaitable[object]:
        """Run the tool."""
        ...


class Override(Protocol[T_co]):
    """One of the override hooks of `Middleware` as a function."""

    def __call__(self, *, model: LanguageModel) -> T_co:
        """What is shown instead of the inner model's."""
        ...


class Hooks(TypedDict, total=False):
    """The hooks of `Middleware` by name."""

    transform_params: TransformParams
    wrap_generate: WrapGenerate
    wrap_stream: WrapStream
    override_provider: Override[str]
    override_model_id: Override[str]
    override_supported_urls: Override[SupportedURLs]
    wrap_tool: WrapTool
    on_start: Callable[[StartEvent], Awaitable[None] | None]
    on_step_start: Callable[[StepStartEvent], Awaitable[None] | None]
    on_language_model_call_start: Callable[[LanguageModelCallStartEvent], Awaitable[None] | None]
    on_language_model_call_end: Callable[[LanguageModelCallEndEvent], Awaitable[None] | None]
    on_chunk: Callable[[ChunkEvent], Awaitable[None] | None]
    on_tool_execution_start: Callable[[ToolExecutionStartEvent], Awaitable[None] | None]
    on_tool_execution_end: Callable[[ToolExecutionEndEvent], Awaitable[None] | None]
    on_step_end: Callable[[StepEndEvent], Awaitable[None] | None]
    on_step_error: Callable[[StepErrorEvent], Awaitable[None] | None]
    on_end: Callable[[EndEvent], Awaitable[None] | None]
    on_error: Callable[[ErrorEvent], Awaitable[None] | None]
    on_abort: Callable[[AbortEvent], Awaitable[None] | None]


class _FunctionLayer(Middleware):
    def __init__(self, name: str, modes: tuple[Mode, ...], hooks: Hooks) -> None:
        self.modes = modes
        self._name = name
        for hook, function in hooks.items():
            setattr(self, hook, function)

    def __repr__(self) -> str:
        return f"{self._name}()"


def layer(*, name: str | None = None, modes: tuple[Mode, ...] = MODES, **hooks: Unpack[Hooks]) -> Middleware:
    """A layer whose hooks are the given functions.

    Args:
        name: Shown in `repr` and `explain`; without it, the name of the first hook.
        modes: Say here that the layer is meant for one of the two calls only.
        hooks: Functions with the signatures of the hooks of `Middleware`.

    Raises:
        InvalidArgumentError: When no function, one for an unknown hook, or what is no function is given, and for modes
            that there are not.
    """
    unknown = hooks.keys() - {*MODEL_HOOKS, *RUN_HOOKS}
    if unknown or not hooks:
        known = ", ".join((*MODEL_HOOKS, *RUN_HOOKS))
        msg = f"layer() takes at least one of the hooks {known}; got {', '.join(sorted(unknown)) or 'none'}"
        raise InvalidArgumentError(msg, parameter="hooks", value=sorted(unknown))
    for hook, function in hooks.items():
        if not callable(function):
            msg = f"layer() takes functions: {hook} must be one, got {function!r}"
            raise InvalidArgumentError(msg, parameter=hook, value=function)
    check_modes(modes, "modes of layer()")
    return _FunctionLayer(name or next(iter(hooks)), modes, hooks)
