"""What is said of models, layers and hooks that are not what they must be."""

import re
from collections.abc import AsyncIterator, Awaitable

import pytest

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.spec import CallOptions, GenerateResult, LanguageModel, StreamPart, StreamResult
from onion.testing import ScriptedModel, text
from onion.wrap import DoGenerate, DoStream, Middleware, Mode, explain, layer, wrap_language_model
from tests.reading import read
from tests.wrap.traces import ASK, Trace

both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])


def model() -> ScriptedModel:
    return ScriptedModel([text("hi"), text("hi")])


async def ask(asked: LanguageModel, mode: Mode) -> None:
    if mode == "generate":
        await asked.do_generate(ASK)
    else:
        await read(await asked.do_stream(ASK))


class Forgetful(Middleware):
    async def transform_params(  # type: ignore[override]  # the fault
        self, *, params: CallOptions, type: Mode, model: LanguageModel
    ) -> None:
        params.replace(seed=1)


@both_modes
async def test_a_transform_that_gives_no_params_is_named(mode: Mode) -> None:
    wrapped = wrap_language_model(model(), Forgetful())

    with pytest.raises(TypeValidationError) as caught:
        await ask(wrapped, mode)

    assert str(caught.value) == "transform_params of Forgetful() must return CallOptions, it returned NoneType"


class Plain(Middleware):
    """Its hooks are no async functions."""

    def wrap_generate(  # type: ignore[override]  # the fault
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> None:
        """Forgets to answer."""

    def wrap_stream(  # type: ignore[override]  # the fault
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> int:
        return 3


@pytest.mark.parametrize(("mode", "returned"), [("generate", "NoneType"), ("stream", "int")])
async def test_a_wrap_hook_that_is_not_asynchronous_is_named(mode: Mode, returned: str) -> None:
    wrapped = wrap_language_model(model(), Plain())

    with pytest.raises(TypeValidationError) as caught:
        await ask(wrapped, mode)

    hook = f"wrap_{mode}"
    assert str(caught.value) == (
        f"{hook} of Plain() must be asynchronous, it returned {returned}: write async def {hook}"
    )


@both_modes
async def test_a_transform_that_is_not_asynchronous_is_named(mode: Mode) -> None:
    def plain(*, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        del type, model
        return params

    wrapped = wrap_language_model(model(), layer(name="mine", transform_params=plain))  # type: ignore[arg-type]  # the fault

    with pytest.raises(
        TypeValidationError, match=r"transform_params of mine\(\) must be asynchronous, .* CallOptions:"
    ):
        await ask(wrapped, mode)


class Promised:
    """Awaitable, and no coroutine."""

    def __init__(self, found: Awaitable[GenerateResult]) -> None:
        self.found = found

    def __await__(self) -> object:
        return self.found.__await__()


async def test_a_plain_function_may_return_what_can_be_awaited() -> None:
    def plain(
        *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> Awaitable[GenerateResult]:
        del do_stream, params, model
        return Promised(do_generate())  # type: ignore[return-value]  # told by its __await__ only

    answer = await wrap_language_model(model(), layer(wrap_generate=plain, modes=("generate",))).do_generate(ASK)

    assert answer == text("hi")


class Yielding(Middleware):
    async def wrap_stream(  # type: ignore[override]  # the fault
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> AsyncIterator[StreamPart]:
        async for part in await do_stream():
            yield part


async def yielding(*, params: CallOptions, type: Mode, model: LanguageModel) -> AsyncIterator[CallOptions]:
    del type, model
    yield params


def test_a_hook_that_is_an_async_generator_is_refused_when_wrapping() -> None:
    with pytest.raises(InvalidArgumentError, match=r"wrap_stream of Yielding\(\) is an async generator.*StreamResult"):
        wrap_language_model(model(), Yielding())
    with pytest.raises(InvalidArgumentError, match=r"transform_params of t\(\) is an async generator.*CallOptions$"):
        wrap_language_model(model(), layer(name="t", transform_params=yielding))  # type: ignore[arg-type]  # the fault


WRONG_MODES: list[tuple[object, str]] = [
    (("generat",), ""),
    ("generate", r": write \('generate',\)"),
    ("generat", ""),
    (3, ""),
    (([],), ""),
]


@pytest.mark.parametrize(("modes", "advice"), WRONG_MODES)
def test_modes_that_there_are_not_are_refused(modes: object, advice: str) -> None:
    class Odd(Trace):
        def __init__(self) -> None:
            super().__init__("odd", [])
            self.modes = modes  # type: ignore[assignment]  # the fault

    words = f"must be a tuple of 'generate', 'stream' or both, got {re.escape(repr(modes))}{advice}$"
    with pytest.raises(InvalidArgumentError, match=rf"^modes of Trace\(odd\) {words}") as caught:
        wrap_language_model(model(), Odd())
    with pytest.raises(InvalidArgumentError, match=rf"^modes of layer\(\) {words}"):
        layer(transform_params=Odd().transform_params, modes=modes)  # type: ignore[arg-type]  # the fault

    assert caught.value.parameter == "modes"


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("local", r"resolve_model\('local'\) makes one of a string"),
        (3, "3$"),
        (ScriptedModel, "ScriptedModel'>$"),
        ([Trace("A", [])], "the model comes first, then its layers"),
        (Trace("A", []), "the model comes first, then its layers"),
    ],
)
def test_what_is_no_model_is_refused(given: object, advice: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^a model must be a LanguageModel, got .*{advice}") as caught:
        wrap_language_model(given, [Trace("A", [])])  # type: ignore[arg-type]  # the fault
    with pytest.raises(InvalidArgumentError, match=f"^a model must be a LanguageModel, got .*{advice}"):
        explain(given)  # type: ignore[arg-type]  # the fault

    assert caught.value.parameter == "model"


@pytest.mark.parametrize("given", [3, ScriptedModel([])], ids=["number", "model"])
def test_what_is_neither_a_layer_nor_a_list_is_refused(given: object) -> None:
    with pytest.raises(InvalidArgumentError, match="must be a Middleware object or a list of them, got") as caught:
        wrap_language_model(model(), given)  # type: ignore[arg-type]  # the fault

    assert caught.value.parameter == "middleware"


def test_a_hook_that_is_no_function_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^layer\(\) takes functions: wrap_generate must be one, got 3$"):
        layer(name="x", wrap_generate=3)  # type: ignore[arg-type]  # the fault


async def test_a_pipe_of_what_cannot_be_called_is_refused_and_leaves_the_stream_usable() -> None:
    stream: StreamResult = await model().do_stream(ASK)

    with pytest.raises(InvalidArgumentError, match=r"pipe\(\) takes what makes a transform .* got 3$"):
        stream.pipe(3)  # type: ignore[arg-type]  # the fault

    assert await read(stream)


@both_modes
async def test_a_type_error_inside_of_a_hook_is_passed_on(mode: Mode) -> None:
    async def broken(**_: object) -> CallOptions:
        raise TypeError(mode)

    async def broken_wrap(**_: object) -> GenerateResult:
        raise TypeError(mode)

    async def broken_stream(**_: object) -> StreamResult:
        raise TypeError(mode)

    with pytest.raises(TypeError, match=f"^{mode}$"):
        await ask(wrap_language_model(model(), layer(transform_params=broken)), mode)
    with pytest.raises(TypeError, match=f"^{mode}$"):
        await ask(wrap_language_model(model(), layer(wrap_generate=broken_wrap, wrap_stream=broken_stream)), mode)
