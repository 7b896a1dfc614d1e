from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from onion.errors import InvalidArgumentError
from onion.loop.functions import never_waits, of_keywords, of_two, style_of, written


def plain(first: object = "default", *, more: object = None) -> object:
    return (first, more)


async def waiting(first: object) -> object:
    return first


async def many(first: object) -> AsyncIterator[object]:
    yield first


def generator(first: object) -> Iterator[object]:
    yield first


def nothing() -> object:
    return "nothing"


def one(first: object) -> object:
    return [first]


def two(first: object, second: object) -> object:
    return [first, second]


def one_or_two(first: object, second: object = 0) -> object:
    return [first, second]


def three(first: object, second: object, third: object) -> object:
    return [first, second, third]


def all_of_them(*values: object) -> object:
    return values


class Plain:
    def __call__(self, first: object) -> object:
        return first


class Waiting:
    async def __call__(self, first: object) -> object:
        return first

    async def method(self, first: object) -> object:
        return first


@functools.wraps(plain)
def wrapping(*arguments: object) -> object:
    return plain(*arguments)


@pytest.mark.parametrize(
    ("function", "style"),
    [
        pytest.param(plain, "sync", id="function"),
        pytest.param(lambda: None, "sync", id="lambda"),
        pytest.param(len, "sync", id="built-in function"),
        pytest.param(dict, "sync", id="class"),
        pytest.param(Plain(), "sync", id="object"),
        pytest.param(waiting, "async", id="async function"),
        pytest.param(functools.partial(waiting, 1), "async", id="async function with arguments bound"),
        pytest.param(Waiting(), "async", id="object that is async"),
        pytest.param(Waiting().method, "async", id="async method"),
        pytest.param(many, "generator", id="async generator"),
        pytest.param(functools.partial(many, 1), "generator", id="async generator with arguments bound"),
    ],
)
def test_the_style_of_a_function_is_what_a_call_of_it_gives(function: Callable[..., object], style: str) -> None:
    assert style_of(function, where="tool 'x'") == style


def test_a_plain_generator_is_no_execute() -> None:
    with pytest.raises(InvalidArgumentError, match="execute of tool 'x' is a plain generator: make it `async def`"):
        style_of(generator, where="tool 'x'")


@pytest.mark.parametrize(
    ("function", "result"),
    [
        pytest.param(nothing, "nothing", id="none"),
        pytest.param(one, ["a"], id="one"),
        pytest.param(two, ["a", "b"], id="two"),
        pytest.param(one_or_two, ["a", 0], id="one and a default"),
        pytest.param(plain, ("a", None), id="one default"),
        pytest.param(all_of_them, ("a", "b"), id="any number"),
        pytest.param(dict[str, str].fromkeys, {"a": None}, id="built-in method"),
        pytest.param(str, "a", id="class without a signature"),
        pytest.param(functools.partial(two, "bound"), ["bound", "a"], id="one bound"),
    ],
)
def test_a_function_is_given_as_many_of_two_arguments_as_it_wants(
    function: Callable[..., object], result: object
) -> None:
    assert of_two(function, parameter="execute", where="tool 'x'")("a", "b") == result


@pytest.mark.parametrize(
    ("function", "message"),
    [
        pytest.param(three, "needs_approval of tool 'x' wants 3 arguments", id="three arguments"),
        pytest.param("yes", "needs_approval of tool 'x' is a str, not a function", id="no function"),
    ],
)
def test_a_function_that_wants_something_else_is_refused(function: object, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        of_two(function, parameter="needs_approval", where="tool 'x'")


def test_arguments_by_name_reach_their_parameters_and_the_options_theirs() -> None:
    without = of_keywords(plain, options_parameter=None)
    with_options = of_keywords(plain, options_parameter="more")

    assert without({"first": 1}, "options") == (1, None)
    assert with_options({"first": 1}, "options") == (1, "options")


def test_arguments_that_were_not_validated_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="by name, not a list: validate the input first"):
        of_keywords(plain, options_parameter=None)(["first"], "options")


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(plain, id="function"),
        pytest.param(wrapping, id="wrapped function"),
        pytest.param(functools.partial(plain, 1), id="bound arguments"),
    ],
)
def test_what_was_written_is_found_behind_wrappers(function: object) -> None:
    assert written(function) is plain


def test_what_is_no_function_was_written_by_nobody() -> None:
    assert written(3) == 3


class EveryWay:
    """Has every way to wait."""

    async def __aenter__(self) -> None:
        """Enter."""

    async def __aexit__(self, *_: object) -> None:
        """Exit."""

    async def awaits(self) -> None:
        await asyncio.sleep(0)

    async def enters(self) -> None:
        async with self:
            pass

    async def iterates(self, items: AsyncIterator[int]) -> int:
        return sum([item async for item in items])


async def at_once(number: int) -> int:
    """Wait for nothing."""
    return sum(item for item in range(number))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(at_once, True, id="async without await"),
        pytest.param(EveryWay.awaits, False, id="await"),
        pytest.param(EveryWay.enters, False, id="async with"),
        pytest.param(EveryWay.iterates, False, id="async for"),
        pytest.param(functools.partial(at_once, 3), False, id="no function of its own"),
        pytest.param(plain, False, id="not async"),
    ],
)
def test_an_async_function_without_await_is_known_to_wait_for_nothing(
    function: Callable[..., object],
    expected: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert never_waits(function) is expected
