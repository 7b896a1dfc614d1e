from __future__ import annotations

import pytest

from onion.errors import CacheMissError, InvalidArgumentError
from onion.testing import text
from tests.middleware.stacks import ASK
from tests.middleware.test_caching import Mode, ask, both_modes, cached


@both_modes
async def test_a_call_can_go_past_the_cache(mode: Mode) -> None:
    inner, model = cached([text("one"), text("two"), text("three")])
    past = ASK.replace(provider_options={"onion": {"cache": "bypass"}})

    found = [(await ask(model, mode, params)).text for params in (past, ASK, past, ASK)]

    assert found == ["one", "two", "three", "two"]
    assert len(inner.calls) == 3


@both_modes
async def test_a_call_can_ask_for_a_new_answer_that_is_then_kept(mode: Mode) -> None:
    _, model = cached([text("old"), text("new")])
    again = ASK.replace(provider_options={"onion": {"cache": "refresh"}})

    found = [(await ask(model, mode, params)).text for params in (ASK, again, ASK)]

    assert found == ["old", "new", "new"]


@both_modes
async def test_a_call_can_ask_for_a_cached_answer_only(mode: Mode) -> None:
    inner, model = cached([text("hi")])
    only = ASK.replace(provider_options={"onion": {"cache": "only-if-cached"}})

    with pytest.raises(CacheMissError, match="the cache holds no answer to this call"):
        await ask(model, mode, only)
    await ask(model, mode)
    found = await ask(model, mode, only)

    assert found.text == "hi"
    assert len(inner.calls) == 1


@both_modes
async def test_an_unknown_word_of_control_is_refused(mode: Mode) -> None:
    _, model = cached([])

    with pytest.raises(InvalidArgumentError, match="must be one of bypass, refresh, only-if-cached, got 'never'"):
        await ask(model, mode, ASK.replace(provider_options={"onion": {"cache": "never"}}))


@both_modes
async def test_a_misspelt_name_of_control_is_refused(mode: Mode) -> None:
    inner, model = cached([text("hi")])

    with pytest.raises(InvalidArgumentError, match=r"may only hold \"cache\", got 'cahe'$") as caught:
        await ask(model, mode, ASK.replace(provider_options={"onion": {"cahe": "bypass"}}))

    assert caught.value.parameter == "provider_options"
    assert inner.calls == []


@both_modes
async def test_options_of_others_are_no_control(mode: Mode) -> None:
    inner, model = cached([text("hi")])
    params = ASK.replace(provider_options={"acme": {"x": 1}})

    await ask(model, mode, params)
    await ask(model, mode, params.replace(provider_options={"acme": {"x": 1}, "onion": {}}))

    assert len(inner.calls) == 1
