"""What the loop has to know of the functions that users give it."""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from onion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from onion.loop.tool_value import Function, ToolStyle

OfTwo: TypeAlias = Callable[[object, object], object]
"""A function of a value and of what comes with it."""
GIVEN = 2
_WAITING = frozenset(("GET_AWAITABLE", "GET_AITER", "GET_ANEXT", "BEFORE_ASYNC_WITH", "SEND"))
"""What ``await``, ``async for`` and ``async with`` are compiled to."""


def written(function: object) -> object:
    """What was written with ``def``: it has the docstring and the namespace."""
    inner: object = function.func if isinstance(function, functools.partial) else function
    return inspect.unwrap(inner) if callable(inner) else inner


def style_of(function: Function, *, where: str) -> ToolStyle:
    """What a call of *function* gives.

    Raises:
        InvalidArgumentError: When it is a plain generator.
    """
    codes = (function, type(function).__call__)  # an object may have a method that makes it callable
    if any(map(inspect.isasyncgenfunction, codes)):
        return "generator"
    if any(map(inspect.iscoroutinefunction, codes)):
        return "async"
    if any(map(inspect.isgeneratorfunction, codes)):
        msg = f"execute of {where} is a plain generator: make it `async def`, and its values are preliminary outputs"
        raise InvalidArgumentError(msg, parameter="execute", value=function)
    return "sync"


def never_waits(function: Function) -> bool:
    """Whether *function* is async and cannot suspend, because no ``await`` was written in it."""
    if not isinstance(function, types.FunctionType) or not function.__code__.co_flags & inspect.CO_COROUTINE:
        return False
    return not any(step.opname in _WAITING for step in dis.get_instructions(function))


def of_two(function: object, *, parameter: str, where: str) -> OfTwo:
    """*function* as one that takes two arguments, of which it is given as many as it wants.

    Raises:
        InvalidArgumentError: When it wants more, or is none.
    """
    if not callable(function):
        msg = f"{parameter} of {where} is a {type(function).__name__}, not a function"
        raise InvalidArgumentError(msg, parameter=parameter, value=function)
    wanted = _wanted(function)
    if wanted > GIVEN:
        msg = f"{parameter} of {where} wants {wanted} arguments, but is given one or two"
        raise InvalidArgumentError(msg, parameter=parameter, value=function)

    def of_none(_first: object, _second: object) -> object:
        return function()

    def of_one(first: object, _second: object) -> object:
        return function(first)

    return (of_none, of_one, function)[wanted]


def of_keywords(function: Function, *, options_parameter: str | None) -> OfTwo:
    """*function* as one that takes its arguments by name in one mapping, and the ToolOptions."""

    def call(arguments: object, options: object) -> object:
        if not _is_by_name(arguments):
            msg = (
                f"{function!r} takes its arguments by name, not a {type(arguments).__name__}: validate the input first"
            )
            raise InvalidArgumentError(msg, parameter="value", value=arguments)
        if options_parameter is None:
            return function(**arguments)
        return function(**arguments, **{options_parameter: options})

    return call


def _is_by_name(arguments: object) -> TypeGuard[Mapping[str, object]]:
    return type(arguments) is dict or isinstance(arguments, Mapping)  # the abstract class takes longer to ask


def _wanted(function: Callable[..., object]) -> int:
    """How many arguments *function* insists on; one if it has a default for each, two of ``*args``."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some built-in functions
        return 1
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return GIVEN
    positional = [p for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}]
    insisted = sum(parameter.default is parameter.empty for parameter in positional)
    return insisted or min(1, len(positional))
