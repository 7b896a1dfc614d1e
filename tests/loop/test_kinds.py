"""What an argument must be is said where it was given, before anything is sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from onion import Middleware, generate_text, is_step_count, stream_text
from onion.errors import InvalidArgumentError, OnionError
from onion.loop.kinds import check_kind
from onion.spec import SystemMessage
from onion.testing import ScriptedModel, answers

if TYPE_CHECKING:
    from collections.abc import Mapping

WRONG: list[tuple[str, object, str]] = [
    ("active_tools", 3, "must be a list of texts, got 3"),
    ("active_tools", [3], "must be a list of texts"),
    ("download", 3, "must be a function"),
    ("headers", 3, "must be a mapping from names to texts"),
    ("headers", {"x-count": 3}, "must be a mapping from names to texts"),
    ("include", 3, "must be a mapping such as"),
    ("instructions", 3, "must be a text, a system message or a list"),
    ("middleware", 3, "must be a Middleware object or a list"),
    ("prepare_step", 3, "must be a function"),
    ("provider_options", 3, "must be a mapping from names of providers"),
    ("provider_options", {"acme": 3}, "must be a mapping from names of providers"),
    ("reasoning", "hard", "must be one of 'provider-default', 'none'"),
    ("reasoning", ["high"], "must be one of 'provider-default', 'none'"),
    ("refine_tool_input", {"add": 3}, "must be a mapping from names of tools to functions"),
    ("repair_tool_call", 3, "must be a function"),
    ("stop_sequences", 3, "must be a list of texts"),
    ("stop_when", 3, "must be a stop condition"),
    ("stop_sequences", iter(["END"]), "must be a list of texts"),
    ("stop_when", [3], "must be a stop condition"),
    ("tool_approval", 3, "must be a mapping from names of tools to statuses"),
    ("tool_approval_secret", 3, "must be a text or bytes"),
    ("tool_choice", 3, "must be 'auto', 'none', 'required' or"),
    ("tool_order", 3, "must be a list of texts"),
    ("tools", 3, "must be a list of tools"),
    ("tools_context", 3, "must be a mapping from names of tools"),
]


@pytest.mark.parametrize(("name", "given", "wanted"), WRONG)
def test_an_argument_of_another_kind_is_refused_by_name(name: str, given: object, wanted: str) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(f"{name} {wanted}")) as caught:
        check_kind(name, given)

    assert caught.value.parameter == name
    assert caught.value.value == ("***" if name in {"headers", "tool_approval_secret"} else given)


RIGHT: list[tuple[str, object]] = [
    ("active_tools", ("add",)),
    ("active_tools", {"add": 1}.keys()),
    ("headers", {"x-count": "3"}),
    ("instructions", SystemMessage(content="Be brief.")),
    ("instructions", "Be brief."),
    ("middleware", Middleware()),
    ("middleware", iter([Middleware()])),
    ("provider_options", {"acme": {"b": 2}}),
    ("reasoning", "xhigh"),
    ("stop_when", is_step_count(2)),
    ("stop_when", [is_step_count(2)]),
    ("tool_approval", {"add": "approved"}),
    ("tool_approval", print),
    ("tool_approval_secret", b"secret"),
    ("tool_choice", {"type": "tool", "tool_name": "add"}),
    ("tools", {}),
    ("context", 3),
]


@pytest.mark.parametrize(("name", "given"), RIGHT)
def test_an_argument_of_the_right_kind_passes(name: str, given: object) -> None:
    try:
        check_kind(name, given)
    except InvalidArgumentError as error:
        pytest.fail(str(error))


@pytest.mark.parametrize("model", [5, ScriptedModel, object(), ["openai:gpt-5"]])
def test_what_is_no_model_is_refused_as_one(model: object) -> None:
    options: Mapping[str, object] = {"model": model, "prompt": "Hi"}

    with pytest.raises(InvalidArgumentError, match=r"a model must be a LanguageModel or a string such as") as caught:
        stream_text(**options)  # type: ignore[call-overload]  # as an untyped program may

    assert caught.value.value is model


async def test_a_setting_of_prepare_step_is_checked_as_one_of_the_run() -> None:
    model = ScriptedModel([answers.text("hi")])

    with pytest.raises(OnionError, match="headers must be a mapping from names to texts, got a value of type int"):
        await generate_text(model=model, prompt="Hi", prepare_step=lambda _: {"headers": 3})  # type: ignore[arg-type,return-value]  # as an untyped program may

    assert not model.calls


def test_what_may_be_a_credential_is_not_shown_in_the_refusal() -> None:
    wrong: Mapping[str, object] = {"authorization": "Bearer sk-planted", "x-tenant": None}

    with pytest.raises(InvalidArgumentError, match=r"\{'authorization': str, 'x-tenant': NoneType\}") as headers:
        check_kind("headers", wrong)
    with pytest.raises(InvalidArgumentError, match="got a value of type bytearray") as secret:
        check_kind("tool_approval_secret", bytearray(b"sk-planted"))

    for error in (headers.value, secret.value):
        assert "sk-planted" not in f"{error} {error!r} {vars(error)}"


def test_a_long_argument_is_shown_in_part() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        check_kind("download", "x" * 10_000)

    assert len(str(caught.value)) < 400
