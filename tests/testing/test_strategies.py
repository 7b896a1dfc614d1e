"""The strategies build what keeps the contract."""

from collections.abc import Mapping, Sequence
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onion.spec import CallOptions, GenerateResult, Message, ProviderMetadata, StreamPart
from onion.spec.step import StepResult
from onion.streaming import replay
from onion.testing import Lint, ScriptedModel
from onion.testing.fitting import misfit
from onion.testing.strategies import answers, params, streams, values_of
from onion.wrap import wrap_language_model
from tests.reading import read


@pytest.mark.parametrize(
    "kind",
    [
        Message,
        StepResult,
        ProviderMetadata,
        Literal["a", "b"],
        tuple[int, ...],
        Mapping[str, float],
        bytes | None,
        object,
    ],
    ids=repr,
)
@settings(max_examples=10)
@given(data=st.data())
def test_values_have_their_declared_types(kind: object, data: st.DataObject) -> None:
    assert misfit(data.draw(values_of(kind)), kind, "it") == ""


@settings(max_examples=30)
@given(params(), answers(), streams())
async def test_calls_answers_and_streams_keep_the_contract(
    asked: CallOptions, answer: GenerateResult, parts: Sequence[StreamPart]
) -> None:
    lint = Lint(strict=True)
    model = wrap_language_model(ScriptedModel([answer, answer, parts]), lint)

    whole = await model.do_generate(asked)
    replayed = await read(await model.do_stream(asked))
    streamed = await read(await model.do_stream(asked))

    assert whole == answer
    assert replayed == await read(replay(answer))
    assert streamed == list(parts)
    lint.check_closed()
