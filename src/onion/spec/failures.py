"""Errors as JSON and back: class name, message and the fields that the class declares."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TypeAlias

from onion.errors import OnionError, StreamProviderError, is_retryable_status
from onion.spec.base import is_array, is_object
from onion.spec.naming import camel
from onion.spec.step import LanguageModelUsage

Decoders: TypeAlias = Callable[[object], Callable[[object, str], object]]
"""By type, what reads the JSON form of its values, given the data and the name of their place."""


def error_to_json(error: BaseException) -> dict[str, object]:
    """Name, message, fields and the cause's name of *error*; nested errors stay exceptions."""
    name = "Error" if type(error) is Exception else type(error).__name__
    data: dict[str, object] = {"name": name, "message": str(error)}
    if isinstance(error, OnionError):
        data |= {field: found for field in error.fields if (found := getattr(error, field)) is not None}
    if error.__cause__ is not None:
        data["cause"] = {"name": type(error.__cause__).__name__}
    return {camel(key): member for key, member in data.items()}


def error_from_json(data: Mapping[str, object], decoders: Decoders) -> BaseException:
    """The error of that JSON form: the class of that name in the tree, else an Exception class named so.

    Raises:
        TypeValidationError: When a value of the contract in it has another shape.
    """
    name = str(data.get("name", "Error"))
    message = str(data.get("message", ""))
    kind = _classes().get(name)
    error = _class_named(name)(message) if kind is None else _of_tree(kind, message, data, decoders)
    if is_object(cause := data.get("cause")):
        error.__cause__ = error_from_json(cause, decoders)
    return error


def _of_tree(kind: type[OnionError], message: str, data: Mapping[str, object], decoders: Decoders) -> OnionError:
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.message = message
    for field in kind.fields:
        setattr(error, field, _revive(field, data.get(camel(field)), decoders))
    if isinstance(errors := getattr(error, "errors", None), tuple) and errors:
        error.__dict__["last_error"] = errors[-1]
    return error


def _class_named(name: str) -> type[Exception]:
    try:
        return Exception if name == "Error" else type(name, (Exception,), {})
    except ValueError:  # NUL, or half of a surrogate pair
        return Exception


def _revive(field: str, member: object, decoders: Decoders) -> object:
    if is_array(member):
        return tuple(_revive(field, item, decoders) for item in member)
    if not is_object(member):
        return member
    if is_object(inner := member.get("$error")):
        return error_from_json(inner, decoders)
    return decoders(LanguageModelUsage)(member, f"error.{field}") if field == "usage" else member


@functools.cache
def _classes() -> dict[str, type[OnionError]]:
    found = {OnionError.__name__: OnionError}
    waiting = [OnionError]
    while waiting:
        children = waiting.pop().__subclasses__()
        found |= {child.__name__: child for child in children if child.__module__ == OnionError.__module__}
        waiting += children
    return found


_STATUS = {"rate_limit_error": 429, "api_error": 500, "server_error": 500, "overloaded_error": 503}
"""The HTTP status that a failure would have had, by the type that providers give it inside a stream."""


def reported_error(reported: object) -> StreamProviderError:
    """The error for what a foreign provider sent in an error part: an object with a message, or anything else."""
    fields = _fields(reported)
    inner = _fields(fields.get("error")) or fields
    message, kind, code = (inner.get(name) for name in ("message", "type", "code"))
    if not isinstance(message, str):
        return StreamProviderError(f"the provider reported a failure inside the stream: {reported!r}"[:300])
    status = _STATUS.get(kind) if isinstance(kind, str) else None
    return StreamProviderError(
        message,
        type=kind if isinstance(kind, str) else None,
        code=code if isinstance(code, str | int) else None,
        status_code=status,
        is_retryable=status is not None and is_retryable_status(status),
    )


def _fields(data: object) -> Mapping[str, object]:
    return data if is_object(data) else {}
