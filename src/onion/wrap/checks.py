"""What is asked of models, layers and their hooks, and what is said when they do not give it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Awaitable, Iterable, Mapping
from types import CodeType
from typing import TYPE_CHECKING, TypeVar

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.spec.call import CallOptions
from onion.spec.result import GenerateResult
from onion.spec.stream import StreamResult
from onion.wrap.hooks import MODEL_HOOKS, MODES, Middleware, overridden_hooks, own_hooks

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel
    from onion.wrap.hooks import Mode

T = TypeVar("T")

_RESULTS: Mapping[Mode, type[object]] = {"generate": GenerateResult, "stream": StreamResult}
_AWAITED: Mapping[str, type[object]] = {
    "transform_params": CallOptions,
    "wrap_generate": GenerateResult,
    "wrap_stream": StreamResult,
    "do_generate": GenerateResult,
    "do_stream": StreamResult,
}


def checked(result: T, model: LanguageModel, mode: Mode) -> T:
    """The *result* of *model*.

    Raises:
        TypeValidationError: When it is none.
    """
    return verified(result, mode, model, f"do_{mode}")


def verified(result: T, mode: Mode, owner: object, hook: str) -> T:
    """The *result* of *hook* of *owner*.

    Raises:
        TypeValidationError: When it is not the one of *mode*.
    """
    if isinstance(result, _RESULTS[mode]):
        return result
    raise wrong_result_error(result, owner, hook)


def wrong_result_error(result: object, owner: object, hook: str) -> TypeValidationError:
    """That *hook* of *owner* returned something else than it must."""
    expected = _AWAITED[hook].__name__
    article = "" if expected == "CallOptions" else "a "
    msg = f"{hook} of {owner!r} must return {article}{expected}, it returned {type(result).__name__}"
    return TypeValidationError(msg, value=result)


def check_awaitable(returned: object, layer: Middleware, hook: str) -> None:
    """Refuse what cannot be awaited.

    Raises:
        TypeValidationError: When *returned*, by *hook* of *layer*, is not awaitable.
    """
    if isinstance(returned, Awaitable):
        return
    msg = f"{hook} of {layer!r} must be asynchronous, it returned {type(returned).__name__}: write async def {hook}"
    raise TypeValidationError(msg, value=returned)


def check_model(model: object) -> None:
    """Refuse what is no model.

    Raises:
        InvalidArgumentError: When *model* lacks the calls of one.
    """
    calls = getattr(model, "do_generate", None), getattr(model, "do_stream", None)
    if all(map(callable, calls)) and not isinstance(model, type):
        return
    advice = ""
    if isinstance(model, str):
        advice = f": onion.registry.resolve_model({model!r}) makes one of a string"
    elif issubclass(type(model), Middleware | list | tuple):
        advice = ": the model comes first, then its layers"
    msg = f"a model must be a LanguageModel, got {model!r}{advice}"
    raise InvalidArgumentError(msg, parameter="model", value=model)


def no_layers_error(given: object) -> InvalidArgumentError:
    """That *given* is neither a layer nor a list of them."""
    msg = f"middleware must be a Middleware object or a list of them, got {given!r}"
    return InvalidArgumentError(msg, parameter="middleware", value=given)


def check_layer(layer: object) -> None:
    """Refuse what is no layer, or would fail or do nothing around a model; warn of one that forgot a mode.

    Raises:
        InvalidArgumentError: When *layer* cannot be put around a model.
    """
    if not isinstance(layer, Middleware):
        msg = f"middleware must be made of Middleware objects, got {layer!r}: subclass Middleware or use onion.layer"
        raise InvalidArgumentError(msg, parameter="middleware", value=layer)
    if layer.modes is not MODES:
        check_modes(layer.modes, f"modes of {layer!r}")
    own = own_hooks(layer)
    if own.isdisjoint(MODEL_HOOKS):
        hooks = ", ".join(overridden_hooks(layer)) or "nothing at all"
        msg = (
            f"{layer!r} overrides no hook around a model ({hooks}): "
            "give it to middleware= of generate_text, stream_text or an agent instead"
        )
        raise InvalidArgumentError(msg, parameter="middleware", value=layer)
    _check_hooks(layer, own)
    if ("wrap_generate" in own) != ("wrap_stream" in own) and layer.modes == MODES:
        mode = MODES[0] if "wrap_generate" in own else MODES[1]
        warnings.warn(
            f"{layer!r} wraps only {mode} calls: write the other hook, or set modes = {(mode,)!r}",
            UserWarning,
            stacklevel=3,
        )


def check_modes(modes: Iterable[object], where: str) -> None:
    """Refuse *modes* that there are not.

    Raises:
        InvalidArgumentError: When *modes* is no collection of modes.
    """
    try:
        is_known = not isinstance(modes, str) and all(mode in MODES for mode in modes)
    except TypeError:
        is_known = False
    if is_known:
        return
    msg = f"{where} must be a tuple of 'generate', 'stream' or both, got {modes!r}"
    if modes in MODES:
        msg += f": write {(modes,)!r}"
    raise InvalidArgumentError(msg, parameter="modes", value=modes)


def _is_generator(hook: object) -> bool:
    code: object = getattr(hook, "__code__", None)
    return isinstance(code, CodeType) and bool(code.co_flags & inspect.CO_ASYNC_GENERATOR)


def _check_hooks(layer: Middleware, own: frozenset[str]) -> None:
    for name in own & _AWAITED.keys():
        if _is_generator(getattr(layer, name)):
            msg = (
                f"{name} of {layer!r} is an async generator (it has a yield): "
                f"write an async def that returns {_AWAITED[name].__name__}"
            )
            if name == "wrap_stream":
                msg += ", such as (await do_stream()).through(...), and do the yielding in a function of its own"
            raise InvalidArgumentError(msg, parameter="middleware", value=layer)
