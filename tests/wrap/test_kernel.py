"""The kernel's laws: order, composition, transforms once, ownership, and hooks that cost nothing."""

import asyncio
import itertools
import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.spec import CallOptions, GenerateResult, LanguageModel, PartTransform, StreamResult, SupportedURLs
from onion.streaming import collect, replay
from onion.testing import ScriptedModel, parts, text
from onion.wrap import DoGenerate, DoStream, Middleware, WrappedModel, layer, unwrap, wrap_language_model
from tests.reading import read
from tests.wrap.traces import ASK, Trace, asked

names = st.lists(st.sampled_from("ABCDE"), max_size=5)


async def run_both(model: LanguageModel) -> None:
    """One call in each mode."""
    await model.do_generate(ASK)
    await read(await model.do_stream(ASK))


def endless() -> ScriptedModel:
    return ScriptedModel(itertools.repeat(text("hi")))


@settings(max_examples=50)
@given(names)
async def test_a_stack_unwinds_in_the_mirror_order(found: list[str]) -> None:
    log: list[str] = []
    model = endless()
    layers = [Trace(name, log) for name in found]

    await run_both(wrap_language_model(model, layers))

    one_call = [f"{name}>" for name in found] + [f"<{name}" for name in reversed(found)]
    assert log == one_call * 2
    assert [asked(params) for params in model.params] == ["x" + "".join(found)] * 2
    assert [trace.transformed for trace in layers] == [["generate", "stream"]] * len(found)


@settings(max_examples=50)
@given(names, st.integers(0, 5))
async def test_wrapping_twice_is_wrapping_once_with_both(found: list[str], cut: int) -> None:
    logs: tuple[list[str], list[str]] = ([], [])
    models = endless(), endless()
    once = wrap_language_model(models[0], [Trace(name, logs[0]) for name in found])
    inner = wrap_language_model(models[1], [Trace(name, logs[1]) for name in found[cut:]])
    twice = wrap_language_model(inner, [Trace(name, logs[1]) for name in found[:cut]])

    await run_both(once)
    await run_both(twice)

    assert logs[0] == logs[1]
    assert models[0].params == models[1].params
    assert once.model_id == twice.model_id
    assert repr(once) == repr(twice)


async def test_the_callers_list_and_params_stay_as_they_are() -> None:
    log: list[str] = []
    layers = [Trace("A", log), Trace("B", log)]
    before = list(layers)
    first, second = endless(), endless()

    await run_both(wrap_language_model(first, layers))
    await run_both(wrap_language_model(second, layers))

    assert layers == before
    assert asked(ASK) == "x"
    assert log == ["A>", "B>", "<B", "<A"] * 4
    assert [asked(params) for params in (*first.params, *second.params)] == ["xAB"] * 4


async def test_a_layer_that_does_not_call_on_keeps_what_is_inside_from_running() -> None:
    async def answer_alone(**_: object) -> GenerateResult:
        return text("mine")

    async def stream_alone(**_: object) -> StreamResult:
        return replay(text("mine"))

    log: list[str] = []
    model, inner = endless(), Trace("B", log)
    wrapped = wrap_language_model(model, [layer(wrap_generate=answer_alone, wrap_stream=stream_alone), inner])

    whole = await wrapped.do_generate(ASK)
    streamed = await collect(await wrapped.do_stream(ASK))

    assert whole == streamed == text("mine")
    assert (log, inner.transformed, model.calls) == ([], [], [])


class Crossed(Middleware):
    """Answers each mode with the other, twice, the second time with other params."""

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        await read(await do_stream())
        return await collect(await do_stream(params.replace(seed=1)))

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        await do_generate()
        return replay(await do_generate(params.replace(seed=2)))


async def test_a_wrap_hook_may_call_both_modes_again_and_with_other_params() -> None:
    model = endless()

    await run_both(wrap_language_model(model, [Crossed(), Trace("A", [])]))

    assert [(call.mode, call.params.seed) for call in model.calls] == [
        ("stream", None),
        ("stream", 1),
        ("generate", None),
        ("generate", 2),
    ]
    assert model.open_calls == 0


class Thrower(Middleware):
    """Gets streams, perhaps hands one on, and raises."""

    def __init__(self, *, piped: bool = False, error: type[BaseException] = ZeroDivisionError) -> None:
        self.piped = piped
        self.error = error

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        await self.wrap_stream(do_generate=do_generate, do_stream=do_stream, params=params, model=model)
        return await do_generate()

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        result, other = await do_stream(), await do_stream()
        outer = result.pipe(PartTransform) if self.piped else result
        await anext(aiter(outer))
        raise self.error(repr(other))


@pytest.mark.parametrize("piped", [False, True], ids=["as it is", "handed on"])
@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError])
async def test_a_hook_that_raises_leaves_no_inner_stream_open(piped: bool, error: type[BaseException]) -> None:  # noqa: FBT001 - a column of the table
    model = endless()
    wrapped = wrap_language_model(model, Thrower(piped=piped, error=error))

    with pytest.raises(error):
        await wrapped.do_stream(ASK)
    with pytest.raises(error):
        await wrapped.do_generate(ASK)

    assert len(model.calls) == 4
    assert model.open_streams == 0


async def test_a_release_that_fails_does_not_keep_the_others_open() -> None:
    async def broken() -> None:
        raise OSError

    class Broken(ScriptedModel):
        async def do_stream(self, params: CallOptions) -> StreamResult:
            if not self.calls:
                return await super().do_stream(params)
            return StreamResult(aiter(replay(text("hi"))), close=broken)

    model = Broken([parts("a")])

    with pytest.raises(OSError, match=r"^$"):
        await wrap_language_model(model, Thrower()).do_stream(ASK)

    assert model.open_streams == 0


async def test_a_model_that_gives_no_stream_is_named_and_the_layers_are_not() -> None:
    class Odd(ScriptedModel):
        async def do_stream(self, params: CallOptions) -> StreamResult:
            return []  # type: ignore[return-value]  # the fault

    with pytest.raises(TypeValidationError, match=r"do_stream of .* must return a StreamResult, it returned list"):
        await wrap_language_model(Odd([]), [Thrower()]).do_stream(ASK)


class OnlyParams(Middleware):
    async def transform_params(self, *, params: CallOptions, type: str, model: LanguageModel) -> CallOptions:
        del type, model
        return params.replace(seed=7)


class OnlyNames(Middleware):
    def override_provider(self, *, model: LanguageModel) -> str:
        return f"my-{model.provider}"

    def override_supported_urls(self, *, model: LanguageModel) -> SupportedURLs:
        return {**model.supported_urls, "image/*": [re.compile("https://")]}


def test_a_hook_that_is_not_overridden_is_not_there() -> None:
    model = endless()

    names_only = wrap_language_model(model, [OnlyNames(), OnlyNames()])
    no_layers = wrap_language_model(model, [])

    assert names_only.calls == no_layers.calls == (model.do_generate, model.do_stream)


async def test_params_alone_are_transformed_in_both_modes() -> None:
    model = endless()

    await run_both(wrap_language_model(model, OnlyParams()))

    assert [params.seed for params in model.params] == [7, 7]


async def test_one_wrap_hook_alone_leaves_the_other_mode_as_it_is() -> None:
    async def hot_generate(
        *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        del do_stream, model
        return await do_generate(params.replace(temperature=1.0))

    model = endless()

    await run_both(wrap_language_model(model, layer(wrap_generate=hot_generate, modes=("generate",))))

    assert [params.temperature for params in model.params] == [1.0, None]


def test_names_and_urls_are_those_of_the_model_unless_a_layer_overrides_them() -> None:
    model = ScriptedModel([], provider="acme.chat", model_id="m")

    plain = wrap_language_model(model, OnlyParams())
    renamed = wrap_language_model(plain, [OnlyNames(), Trace("A", [])])

    assert (plain.provider, plain.model_id, plain.supported_urls) == ("acme.chat", "m", {})
    assert (renamed.provider, renamed.model_id) == ("my-acme.chat", "A(m)")
    assert list(renamed.supported_urls) == ["image/*"]


@pytest.mark.parametrize("layers", [[], [OnlyParams()], [OnlyNames(), OnlyParams()]], ids=["none", "one", "two"])
def test_names_that_are_given_win(layers: list[Middleware]) -> None:
    wrapped = wrap_language_model(ScriptedModel([]), layers, model_id="mine", provider_id="me")

    assert (wrapped.provider, wrapped.model_id) == ("me", "mine")


def test_no_layers_and_no_names_change_nothing() -> None:
    model = ScriptedModel([], provider="acme.chat", model_id="m")

    wrapped = wrap_language_model(model, [])

    assert (wrapped.provider, wrapped.model_id, wrapped.supported_urls) == ("acme.chat", "m", {})
    assert repr(wrapped) == "acme.chat/m"
    assert unwrap(wrapped) == ((), model)


def test_unwrapping_gives_the_layers_from_outside_and_the_model() -> None:
    model = endless()
    layers = [OnlyNames(), OnlyParams(), Trace("A", [])]

    wrapped = wrap_language_model(wrap_language_model(model, layers[2]), layers[:2])

    assert unwrap(wrapped) == (tuple(layers), model)
    assert unwrap(model) == ((), model)


def test_what_is_no_middleware_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="subclass Middleware or use onion") as caught:
        wrap_language_model(endless(), [print])  # type: ignore[list-item]  # the fault

    assert caught.value.parameter == "middleware"


class Nothing(Middleware):
    """Overrides nothing."""


class OnlyTold(Middleware):
    """Overrides a hook of the loop only."""

    def on_end(self, event: object) -> None:
        """Nothing to do."""


@pytest.mark.parametrize(
    ("useless", "words"), [(Nothing(), "nothing at all"), (OnlyTold(), r"\(on_end\)")], ids=["none", "the loop's"]
)
def test_a_layer_that_would_do_nothing_here_is_refused(useless: Middleware, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"overrides no hook around a model .*{words}.* give it to"):
        wrap_language_model(endless(), useless)


async def generate_only(**_: object) -> GenerateResult:
    return text("mine")


def test_a_layer_for_one_mode_warns_unless_it_says_so() -> None:
    with pytest.warns(UserWarning, match=r"wraps only generate calls.*set modes = \('generate',\)") as caught:
        wrap_language_model(endless(), layer(wrap_generate=generate_only))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrap_language_model(endless(), layer(wrap_generate=generate_only, modes=("generate",)))

    assert caught[0].filename == __file__


async def test_one_layer_object_serves_many_models_and_calls_at_once() -> None:
    log: list[str] = []
    shared = Trace("A", log)
    models = [ScriptedModel(itertools.repeat(text(str(number)))) for number in range(20)]
    wrapped: list[WrappedModel] = [wrap_language_model(model, [shared, Crossed()]) for model in models]

    answers = await asyncio.gather(*(model.do_generate(ASK) for model in wrapped for _ in range(5)))

    assert [answer.text for answer in answers] == [str(number) for number in range(20) for _ in range(5)]
    assert len(log) == 200
