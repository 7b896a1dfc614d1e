"""Models and layers that do not keep the contract are named, and errors keep the run that they ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import pytest

from onion import Middleware, generate_text, is_step_count, stream_text, tool, wrap_language_model
from onion.errors import APICallError, InvalidStreamPartError, TypeValidationError
from onion.spec import FinishPart, FinishReason, StreamResult, Usage
from onion.testing import ScriptedModel, answers

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from onion.spec import CallOptions, LanguageModel, StreamPart
    from onion.spec.model import SupportedURLs
    from onion.wrap import DoGenerate, DoStream


class Broken:
    """A model that gives what is no result."""

    provider = "broken"
    model_id = "broken-1"
    supported_urls: ClassVar[SupportedURLs] = {}

    def __repr__(self) -> str:
        return "Broken()"

    async def do_generate(self, params: CallOptions) -> None:
        """Give nothing."""

    async def do_stream(self, params: CallOptions) -> str:
        """Give a text."""
        return "hi"


class Forgetful(Middleware):
    """A layer whose hooks forget to return."""

    def __repr__(self) -> str:
        return "Forgetful()"

    async def wrap_generate(  # type: ignore[override]  # what is tested
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> None:
        await do_generate()

    async def wrap_stream(  # type: ignore[override]  # what is tested
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> None:
        await do_stream()


@pytest.mark.parametrize("max_retries", [0, 2], ids=["bare", "in a layer"])
async def test_a_model_that_gives_no_result_is_named(max_retries: int) -> None:
    model: LanguageModel = Broken()  # type: ignore[assignment]  # what is tested

    with pytest.raises(TypeValidationError, match=r"do_generate of Broken\(\) must return a GenerateResult.*NoneType"):
        await generate_text(model=model, prompt="Hi", max_retries=max_retries)
    with pytest.raises(TypeValidationError, match=r"do_stream of Broken\(\) must return a StreamResult.* str"):
        await stream_text(model=model, prompt="Hi", max_retries=max_retries).text


async def test_a_layer_that_gives_no_result_is_named() -> None:
    model = ScriptedModel([answers.text("a"), answers.text("b")])
    wrapped = wrap_language_model(model, [Forgetful()])

    with pytest.raises(TypeValidationError, match=r"wrap_generate of Forgetful\(\) must return a GenerateResult"):
        await generate_text(model=wrapped, prompt="Hi")
    with pytest.raises(TypeValidationError, match=r"wrap_stream of Forgetful\(\) must return a StreamResult"):
        await stream_text(model=wrapped, prompt="Hi").text


async def test_a_stream_of_something_else_than_parts_fails() -> None:
    class Chatty(ScriptedModel):
        async def do_stream(self, params: CallOptions) -> StreamResult:
            async def parts() -> AsyncGenerator[StreamPart, None]:
                yield {"type": "text-delta", "delta": "hi"}  # type: ignore[misc]  # what is tested
                yield FinishPart(finish_reason=FinishReason(unified="stop"), usage=Usage())

            return StreamResult(parts())

    with pytest.raises(InvalidStreamPartError, match=r"made of the parts of onion\.spec; this one gave a dict"):
        await stream_text(model=Chatty([]), prompt="Hi").text


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_one_error_that_ends_two_runs_keeps_the_steps_of_each() -> None:
    error = APICallError("down", url="http://localhost/", is_retryable=False)
    error.__cause__ = OSError("no route")
    alone = ScriptedModel([error])
    later = ScriptedModel([answers.tool_call("add", {"a": 1, "b": 2}), error])

    with pytest.raises(APICallError) as first:
        await generate_text(model=alone, prompt="Hi")
    with pytest.raises(APICallError) as second:
        await generate_text(model=later, prompt="Hi", tools=[add], stop_when=is_step_count(5))

    assert first.value is error
    assert first.value.steps == ()
    assert len(second.value.steps) == 1
    assert second.value.message == "down"
    assert second.value.__cause__ is error.__cause__


class Keyed(Exception):  # noqa: N818  # what it is called does not matter
    """Cannot be made of its own `args`."""

    def __init__(self, code: int, *, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


class Looked(Exception):  # noqa: N818  # as above
    """As above, in another way."""

    def __init__(self, code: int) -> None:
        super().__init__({404: "not found"}[code])


class Single(Exception):  # noqa: N818  # as above
    """There is one of it."""

    def __new__(cls, *args: object) -> Self:
        if args == ("again",):
            raise RuntimeError("there is one of it")
        return super().__new__(cls, *args)

    def __init__(self, *_args: object) -> None:
        super().__init__("again")


@pytest.mark.parametrize(
    "error", [Keyed(3, reason="no"), Looked(404), KeyError("k"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why")]
)
async def test_an_error_is_copied_whatever_it_was_made_of(error: Exception) -> None:
    caught: list[Exception] = []
    for _ in range(2):
        with pytest.raises(type(error)) as raised:
            await generate_text(model=ScriptedModel([error]), prompt="Hi")
        caught.append(raised.value)

    first, second = caught
    assert first is error
    assert second is not error
    assert str(second) == str(error)
    assert vars(second).keys() == vars(error).keys()


async def test_an_error_that_cannot_be_copied_is_shared() -> None:
    error = Single()

    for _ in range(2):
        with pytest.raises(Single) as caught:
            await generate_text(model=ScriptedModel([error]), prompt="Hi")

        assert caught.value is error
