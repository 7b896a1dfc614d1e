"""Refuses what a cache cannot be made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from onion.errors import InvalidArgumentError
from onion.middleware.caching.key import Scope
from onion.spec.usage import UnifiedFinishReason

_METHODS = ("get", "set", "delete")
_REASONS: tuple[str, ...] = get_args(UnifiedFinishReason)


def check_settings(*, store: object, scope: object, key: object, finish_reasons: Iterable[object]) -> None:
    """Refuse settings of `Cache` that would fail at each call, or silently keep nothing.

    Raises:
        InvalidArgumentError: Naming the setting.
    """
    if isinstance(store, type) or not all(callable(getattr(store, method, None)) for method in _METHODS):
        got = f"the class {store.__name__}" if isinstance(store, type) else type(store).__name__  # a URL has secrets
        msg = f"store must be an object with the methods {', '.join(_METHODS)}, such as MemoryStore(), got {got}"
        raise InvalidArgumentError(msg, parameter="store", value=got)
    if not (isinstance(scope, str | Scope) or callable(scope)):
        msg = f"scope must be the name of a tenant, a function that gives it, or SHARED, got {scope!r}"
        raise InvalidArgumentError(msg, parameter="scope", value=scope)
    if scope == "":
        msg = "scope must name a tenant, got an empty text: write SHARED if everybody may share"
        raise InvalidArgumentError(msg, parameter="scope", value=scope)
    if not (key is None or callable(key)):
        msg = f"key must be a function of the params, got {key!r}"
        raise InvalidArgumentError(msg, parameter="key", value=key)
    if isinstance(finish_reasons, str) or not all(reason in _REASONS for reason in _listed(finish_reasons)):
        raise _reasons_error(finish_reasons)


def _listed(finish_reasons: Iterable[object]) -> list[object]:
    try:
        return list(finish_reasons)
    except TypeError as error:
        raise _reasons_error(finish_reasons) from error


def _reasons_error(given: object) -> InvalidArgumentError:
    msg = f"finish_reasons must be a collection of {', '.join(_REASONS)}, got {given!r}"
    return InvalidArgumentError(msg, parameter="finish_reasons", value=given)
