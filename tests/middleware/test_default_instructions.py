from __future__ import annotations

import pytest

from onion.errors import InvalidArgumentError
from onion.middleware import DefaultInstructions
from onion.spec import CallOptions, SystemMessage
from onion.testing import ScriptedModel, text
from tests.middleware.stacks import ASK, parts_of, under_test


async def sent(params: CallOptions, layer: DefaultInstructions, mode: str) -> CallOptions:
    inner = ScriptedModel([text("ok")])
    model = under_test(inner, layer)
    await (parts_of(model, params) if mode == "stream" else model.do_generate(params))
    return inner.params[0]


both_modes = pytest.mark.parametrize("mode", ["generate", "stream"])
RULE = SystemMessage(content="rule", provider_options={"acme": {"cache": True}})


@both_modes
@pytest.mark.parametrize(("given", "message"), [("rule", SystemMessage(content="rule")), (RULE, RULE)])
async def test_a_prompt_without_instructions_gets_them(
    mode: str, given: str | SystemMessage, message: SystemMessage
) -> None:
    found = await sent(ASK, DefaultInstructions(given), mode)

    assert found.prompt == (message, *ASK.prompt)


@both_modes
async def test_a_prompt_with_instructions_keeps_them(mode: str) -> None:
    params = ASK.replace(prompt=(SystemMessage(content="own rule"), *ASK.prompt))

    found = await sent(params, DefaultInstructions("rule"), mode)

    assert found == params


def test_empty_instructions_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="instructions must not be empty"):
        DefaultInstructions("")


def test_it_shows_itself_without_the_text() -> None:
    assert repr(DefaultInstructions("secret plan")) == "DefaultInstructions()"
