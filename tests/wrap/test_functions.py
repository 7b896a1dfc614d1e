"""Layers from plain functions."""

import pytest

from onion.errors import InvalidArgumentError
from onion.spec import CallOptions, GenerateResult, LanguageModel
from onion.spec.events import EndEvent
from onion.testing import ScriptedModel, text
from onion.wrap import DoGenerate, DoStream, Mode, has_model_hooks, layer, overridden_hooks, wrap_language_model
from tests.wrap.traces import ASK


async def seeded(*, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
    del type, model
    return params.replace(seed=1)


async def doubled(
    *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
) -> GenerateResult:
    del do_stream, params, model
    return text((await do_generate()).text * 2)


def told(event: EndEvent) -> None:
    del event


async def test_functions_are_its_hooks() -> None:
    model = ScriptedModel([text("ab")])
    made = layer(transform_params=seeded, wrap_generate=doubled, modes=("generate",))

    answer = await wrap_language_model(model, made).do_generate(ASK)

    assert answer.text == "abab"
    assert model.params[0].seed == 1
    assert made.modes == ("generate",)


def test_only_the_given_hooks_count_as_its_own() -> None:
    assert overridden_hooks(layer(wrap_generate=doubled, transform_params=seeded, on_end=told)) == (
        "transform_params",
        "wrap_generate",
        "on_end",
    )
    assert not has_model_hooks(layer(on_end=told))


def test_its_name_is_the_given_one_or_that_of_its_first_hook() -> None:
    assert repr(layer(name="seed", transform_params=seeded)) == "seed()"
    assert repr(layer(transform_params=seeded, on_end=told)) == "transform_params()"


def test_without_hooks_it_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"at least one of the hooks transform_params, .*; got none"):
        layer(name="empty")


def test_an_unknown_hook_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="got on_finish"):
        layer(on_finish=told)  # type: ignore[call-arg]  # the fault
