"""The kernel: how a list of layers and a model become a model.

`wrap_language_model(model, [a, b])` is one reduce over the reversed list: `a` is outermost, sees the params first and
the results last. No registry, no priorities, no change after building.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from onion.spec.call import CallOptions
from onion.wrap.checks import (
    check_awaitable,
    check_layer,
    check_model,
    checked,
    no_layers_error,
    verified,
    wrong_result_error,
)
from onion.wrap.hooks import Middleware, own_hooks

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel, SupportedURLs
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
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
        generate = _outer("generate", layer, transform, wrap_generate, generate, inner, both)
    if transform is not None or wrap_stream is not None:
        stream = _outer("stream", layer, transform, wrap_stream, stream, inner, both)
    return generate, stream


def _outer(
    mode: Mode,
    layer: Middleware,
    transform: Callable[..., Awaitable[object]] | None,
    wrap: _Wrap[T] | None,
    call: Call[T],
    inner: LanguageModel,
    both: tuple[Generate, Stream],
) -> Call[T]:
    """*call*, one of *both*, with the hooks of *layer* around it."""
    hook = f"wrap_{mode}"

    async def outer(params: CallOptions) -> T:
        if transform is not None:
            changing = transform(params=params, type=mode, model=inner)
            try:
                changed = await changing
            except TypeError:  # asked only then, so that a call costs nothing more
                check_awaitable(changing, layer, "transform_params")
                raise
            if not isinstance(changed, CallOptions):
                raise wrong_result_error(changed, layer, "transform_params")
            params = changed
        if wrap is None:
            return await call(params)
        calls = _Calls(params, both)
        try:
            answer = wrap(do_generate=calls.do_generate, do_stream=calls.do_stream, params=params, model=inner)
            try:
                result = await answer
            except TypeError:
                check_awaitable(answer, layer, hook)
                raise
            return verified(result, mode, layer, hook)
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
        InvalidArgumentError: For what is no model or no layer, a hook that cannot be awaited, modes that there are
            not, and a layer that overrides no model hook, so would do nothing here.
    """
    check_model(model)
    layers = _listed(middleware)
    for layer in layers:
        check_layer(layer)

    def wrap(inner: LanguageModel, layer: Middleware) -> LanguageModel:
        return WrappedModel(inner, layer, model_id=model_id, provider_id=provider_id)

    wrapped = functools.reduce(wrap, reversed(layers), model)
    if isinstance(wrapped, WrappedModel) and layers:
        return wrapped
    return WrappedModel(model, None, model_id=model_id, provider_id=provider_id)


def _listed(middleware: Middleware | Iterable[Middleware]) -> list[Middleware]:
    if isinstance(middleware, Middleware):
        return [middleware]
    try:
        layers = iter(middleware)
    except TypeError as error:
        raise no_layers_error(middleware) from error
    return list(layers)


def unwrap(model: LanguageModel) -> tuple[tuple[Middleware, ...], LanguageModel]:
    """The layers around *model*, outermost first, and what is inside of them all."""
    layers: list[Middleware] = []
    while isinstance(model, WrappedModel):
        if model.layer is not None:
            layers.append(model.layer)
        model = model.inner
    return tuple(layers), model
