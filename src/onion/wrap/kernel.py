"""The kernel: how a list of layers and a model become a model.

`wrap_language_model(model, [a, b])` is one reduce over the reversed list: `a` is outermost, sees the params first and
the results last. No registry, no priorities, no change after building.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from types import MethodType
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.spec.result import GenerateResult
from onion.spec.stream import StreamResult
from onion.wrap.hooks import MODEL_HOOKS, MODES, Middleware, overridden_hooks, own_hooks

if TYPE_CHECKING:
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel, SupportedURLs
    from onion.wrap.functions import TransformParams
    from onion.wrap.hooks import DoGenerate, DoStream, Mode

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Call: TypeAlias = Callable[["CallOptions"], Awaitable[T]]
Generate: TypeAlias = Call["GenerateResult"]
Stream: TypeAlias = Call["StreamResult"]


class _Wrap(Protocol[T_co]):
    def __call__(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> Awaitable[T_co]: ...


def _around(layer: Middleware, inner: LanguageModel, both: tuple[Generate, Stream]) -> tuple[Generate, Stream]:
    """*both* calls of *inner*, with *layer* around them; a call in which the layer has no part stays as it is."""
    hooks = own_hooks(layer)
    transform = layer.transform_params if "transform_params" in hooks else None
    wrap_generate = layer.wrap_generate if "wrap_generate" in hooks else None
    wrap_stream = layer.wrap_stream if "wrap_stream" in hooks else None
    if wrap_generate is not None or wrap_stream is not None:
        both = _honest(unwrap(inner)[1], both)
    generate, stream = both
    if transform is not None or wrap_generate is not None:
        generate = _outer("generate", transform, wrap_generate, generate, inner, both)
    if transform is not None or wrap_stream is not None:
        stream = _outer("stream", transform, wrap_stream, stream, inner, both)
    return generate, stream


def _outer(
    mode: Mode,
    transform: TransformParams | None,
    wrap: _Wrap[T] | None,
    call: Call[T],
    inner: LanguageModel,
    both: tuple[Generate, Stream],
) -> Call[T]:
    """*call*, one of *both*, with the hooks of a layer around it."""

    async def outer(params: CallOptions) -> T:
        if transform is not None:
            params = await transform(params=params, type=mode, model=inner)
        if wrap is None:
            return await call(params)
        calls = _Calls(params, both)
        try:
            result = await wrap(do_generate=calls.do_generate, do_stream=calls.do_stream, params=params, model=inner)
            return _verified(result, mode, wrap)
        except BaseException:
            await calls.release()
            raise

    return outer


def _honest(model: LanguageModel, both: tuple[Generate, Stream]) -> tuple[Generate, Stream]:
    """*both* calls; those of *model* itself give results only, or a layer would get the blame."""
    if both != (model.do_generate, model.do_stream):
        return both

    async def generate(params: CallOptions) -> GenerateResult:
        return checked(await model.do_generate(params), model, "generate")

    async def stream(params: CallOptions) -> StreamResult:
        return checked(await model.do_stream(params), model, "stream")

    return generate, stream


def checked(result: T, model: LanguageModel, mode: Mode) -> T:
    """The *result* of *model*.

    Raises:
        TypeValidationError: When it is none.
    """
    return _verified(result, mode, model.do_generate if mode == "generate" else model.do_stream)


def _verified(result: T, mode: Mode, method: object) -> T:
    if isinstance(result, _RESULTS[mode]):
        return result
    owner, name = (method.__self__, method.__name__) if isinstance(method, MethodType) else (method, mode)
    msg = f"{name} of {owner!r} must return a {_RESULTS[mode].__name__}, it returned {type(result).__name__}"
    raise TypeValidationError(msg, value=result)


_RESULTS: Mapping[Mode, type[object]] = {"generate": GenerateResult, "stream": StreamResult}


class _Calls:
    """Both calls one step in, as one run of a wrap hook is given them."""

    __slots__ = ("_generate", "_opened", "_params", "_stream")

    def __init__(self, params: CallOptions, both: tuple[Generate, Stream]) -> None:
        self._params = params
        self._generate, self._stream = both
        self._opened: list[StreamResult] = []

    def do_generate(self, params: CallOptions | None = None, /) -> Awaitable[GenerateResult]:
        return self._generate(self._params if params is None else params)

    async def do_stream(self, params: CallOptions | None = None, /) -> StreamResult:
        result = await self._stream(self._params if params is None else params)
        self._opened.append(result)
        return result

    async def release(self) -> None:
        """Close what the hook opened and, having raised, can no longer close."""
        async with AsyncExitStack() as stack:  # one that fails does not keep the others open
            for result in self._opened:
                stack.push_async_callback(result.release)


class WrappedModel:
    """A model with one layer, or none but given ids, around it; itself a model."""

    def __init__(
        self, inner: LanguageModel, layer: Middleware | None, *, model_id: str | None, provider_id: str | None
    ) -> None:
        self.inner = inner
        self.layer = layer
        self._model_id = model_id
        self._provider_id = provider_id
        both = inner.calls if isinstance(inner, WrappedModel) else (inner.do_generate, inner.do_stream)
        self.calls: tuple[Generate, Stream] = both if layer is None else _around(layer, inner, both)

    @property
    def provider(self) -> str:
        """The given provider id, else what the layer makes of the inner model's."""
        if self._provider_id is not None:
            return self._provider_id
        return self.inner.provider if self.layer is None else self.layer.override_provider(model=self.inner)

    @property
    def model_id(self) -> str:
        """The given model id, else what the layer makes of the inner model's."""
        if self._model_id is not None:
            return self._model_id
        return self.inner.model_id if self.layer is None else self.layer.override_model_id(model=self.inner)

    @property
    def supported_urls(self) -> SupportedURLs:
        """What the layer makes of the inner model's."""
        return self.inner.supported_urls if self.layer is None else self.layer.override_supported_urls(model=self.inner)

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        """Answer whole, through all layers."""
        return await self.calls[0](params)

    async def do_stream(self, params: CallOptions) -> StreamResult:
        """Answer as a stream, through all layers."""
        return await self.calls[1](params)

    def __repr__(self) -> str:
        layers, model = unwrap(self)
        return " > ".join([*map(repr, layers), f"{model.provider}/{model.model_id}"])


def wrap_language_model(
    model: LanguageModel,
    middleware: Middleware | Sequence[Middleware],
    *,
    model_id: str | None = None,
    provider_id: str | None = None,
) -> WrappedModel:
    """*model* with layers around it; the first in the list is outermost.

    Args:
        model: What answers in the end.
        middleware: One layer or a list of them; the list is not changed.
        model_id: Shown as the model id instead of the model's own.
        provider_id: Shown as the provider instead of the model's own.

    Raises:
        InvalidArgumentError: For a layer that overrides no model hook, so would do nothing here.
    """
    layers = [middleware] if isinstance(middleware, Middleware) else list(middleware)
    for layer in layers:
        _check(layer)

    def wrap(inner: LanguageModel, layer: Middleware) -> LanguageModel:
        return WrappedModel(inner, layer, model_id=model_id, provider_id=provider_id)

    wrapped = functools.reduce(wrap, reversed(layers), model)
    if isinstance(wrapped, WrappedModel) and layers:
        return wrapped
    return WrappedModel(model, None, model_id=model_id, provider_id=provider_id)


def unwrap(model: LanguageModel) -> tuple[tuple[Middleware, ...], LanguageModel]:
    """The layers around *model*, outermost first, and what is inside of them all."""
    layers: list[Middleware] = []
    while isinstance(model, WrappedModel):
        if model.layer is not None:
            layers.append(model.layer)
        model = model.inner
    return tuple(layers), model


def _check(layer: object) -> None:
    if not isinstance(layer, Middleware):
        msg = f"middleware must be made of Middleware objects, got {layer!r}: subclass Middleware or use onion.layer"
        raise InvalidArgumentError(msg, parameter="middleware", value=layer)
    own = own_hooks(layer)
    if own.isdisjoint(MODEL_HOOKS):
        hooks = ", ".join(overridden_hooks(layer)) or "nothing at all"
        msg = (
            f"{layer!r} overrides no hook around a model ({hooks}): "
            "give it to middleware= of generate_text, stream_text or an agent instead"
        )
        raise InvalidArgumentError(msg, parameter="middleware", value=layer)
    if ("wrap_generate" in own) != ("wrap_stream" in own) and layer.modes == MODES:
        mode = MODES[0] if "wrap_generate" in own else MODES[1]
        warnings.warn(
            f"{layer!r} wraps only {mode} calls: write the other hook, or set modes = {(mode,)!r}",
            UserWarning,
            stacklevel=3,
        )
