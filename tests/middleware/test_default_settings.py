from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError
from onion.middleware import DefaultSettings
from onion.middleware.default_settings import merged
from onion.spec import CallOptions, FunctionTool, JsonFormat, JsonValue, TextFormat, ToolChoice
from onion.testing import ScriptedModel, text
from tests.middleware.stacks import ASK, parts_of, under_test

TOOL = FunctionTool(name="t", input_schema={"type": "object"})


async def sent(params: CallOptions, *layers: DefaultSettings, mode: str = "generate") -> CallOptions:
    inner = ScriptedModel([text("ok")])
    model = under_test(inner, *layers)
    await (parts_of(model, params) if mode == "stream" else model.do_generate(params))
    return inner.params[0]


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_what_the_call_leaves_open_is_filled_in(mode: str) -> None:
    every = DefaultSettings(
        max_output_tokens=1,
        temperature=0.5,
        stop_sequences=("x",),
        top_p=0.1,
        top_k=2,
        presence_penalty=0.3,
        frequency_penalty=0.4,
        response_format=JsonFormat(),
        seed=3,
        tools=(TOOL,),
        tool_choice=ToolChoice(type="auto"),
        include_raw_chunks=False,
        headers={"a": "1"},
        reasoning="low",
        provider_options={"acme": {"a": 1}},
    )

    found = await sent(ASK, every, mode=mode)

    assert found == CallOptions(
        prompt=ASK.prompt,
        max_output_tokens=1,
        temperature=0.5,
        stop_sequences=("x",),
        top_p=0.1,
        top_k=2,
        presence_penalty=0.3,
        frequency_penalty=0.4,
        response_format=JsonFormat(),
        seed=3,
        tools=(TOOL,),
        tool_choice=ToolChoice(type="auto"),
        include_raw_chunks=False,
        headers={"a": "1"},
        reasoning="low",
        provider_options={"acme": {"a": 1}},
    )


async def test_the_call_wins_also_with_zero_and_empty() -> None:
    given_params = ASK.replace(
        temperature=0, stop_sequences=(), max_output_tokens=5, response_format=TextFormat(), tools=()
    )

    found = await sent(
        given_params,
        DefaultSettings(
            temperature=0.5, stop_sequences=("x",), max_output_tokens=1, response_format=JsonFormat(), tools=(TOOL,)
        ),
    )

    assert found == given_params


async def test_the_outer_of_two_wins() -> None:
    found = await sent(ASK, DefaultSettings(top_p=0.1, top_k=1), DefaultSettings(top_p=0.2, seed=2))

    assert (found.top_p, found.top_k, found.seed) == (0.1, 1, 2)


async def test_headers_are_merged_whatever_their_case() -> None:
    found = await sent(ASK.replace(headers={"X-A": "call"}), DefaultSettings(headers={"x-a": "default", "x-b": "b"}))

    assert found.headers == {"x-b": "b", "X-A": "call"}


async def test_provider_options_are_merged_member_by_member() -> None:
    defaults = DefaultSettings(provider_options={"acme": {"a": 1, "deep": {"x": 1, "y": [1]}}, "other": {"o": 1}})

    found = await sent(
        ASK.replace(provider_options={"acme": {"b": 2, "deep": {"y": [2], "z": 3}}, "mine": {"m": 1}}), defaults
    )

    assert found.provider_options == {
        "acme": {"a": 1, "deep": {"x": 1, "y": [2], "z": 3}, "b": 2},
        "other": {"o": 1},
        "mine": {"m": 1},
    }


objects = st.recursive(st.integers(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner), max_leaves=6)


@given(objects, objects)
def test_what_the_call_says_is_never_changed(default: JsonValue, given_value: JsonValue) -> None:
    assert merged(given_value, merged(default, given_value)) == merged(default, given_value)


@pytest.mark.parametrize("name", ["prompt", "run", "temprature"])
def test_a_name_that_is_no_setting_is_refused(name: str) -> None:
    settings = {name: None}

    with pytest.raises(InvalidArgumentError, match=f"'{name}' is no default setting: known are max_output_tokens, "):
        DefaultSettings(**settings)  # type: ignore[arg-type]  # that is the point


def test_it_shows_its_settings_without_what_may_be_secret() -> None:
    shown = repr(DefaultSettings(temperature=0, headers={"authorization": "sk-TESTKEY-123"}))

    assert shown == "DefaultSettings(temperature=0, headers=…)"
