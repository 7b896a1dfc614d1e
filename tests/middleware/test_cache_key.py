from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import InvalidArgumentError
from onion.middleware import SHARED
from onion.middleware.caching.key import CacheScope, cache_key, canonical, scope_of
from onion.spec import (
    AssistantMessage,
    CallOptions,
    ContentOutput,
    FileData,
    FilePart,
    FunctionTool,
    JsonFormat,
    Message,
    ProviderOptions,
    RunInfo,
    SystemMessage,
    TextFormat,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolChoice,
    ToolInputExample,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.testing import ScriptedModel
from tests.middleware.stacks import ASK

BASE = ASK.replace(max_output_tokens=16, temperature=0, seed=1)
MODEL = ScriptedModel([])
OURS: ProviderOptions = {"onion": {"cache": "refresh"}}


def tool(description: str) -> FunctionTool:
    return FunctionTool(name="t", description=description, input_schema={"type": "object"}, validate=lambda _: None)


def schema(description: str) -> JsonFormat:
    return JsonFormat(schema={"type": "object", "properties": {"a": {"type": "string", "description": description}}})


def key(params: CallOptions, *, tenant: str | None = None) -> str:
    return cache_key(MODEL, params, tenant, None)


OTHERS = {
    "seed": BASE.replace(seed=2),
    "temperature left out": BASE.replace(temperature=None),
    "max tokens": BASE.replace(max_output_tokens=17),
    "stop sequences": BASE.replace(stop_sequences=("a",)),
    "more stop sequences": BASE.replace(stop_sequences=("a", "b")),
    "json": BASE.replace(response_format=JsonFormat()),
    "schema": BASE.replace(response_format=schema("d1")),
    "description in a schema": BASE.replace(response_format=schema("d2")),
    "tool": BASE.replace(tools=(tool("x"),)),
    "description of a tool": BASE.replace(tools=(tool("y"),)),
    "examples of a tool": BASE.replace(
        tools=(dataclasses.replace(tool("x"), input_examples=(ToolInputExample(input={"a": 1}),)),)
    ),
    "tool choice": BASE.replace(tools=(tool("x"),), tool_choice=ToolChoice(type="required")),
    "reasoning effort": BASE.replace(reasoning="high"),
    "provider options": BASE.replace(provider_options={"openai": {"user": "x"}}),
    "options of another provider": BASE.replace(provider_options={"other": {"x": 1}}),
    "prompt": BASE.replace(prompt=(UserMessage(content=(TextPart(text="bye"),)),)),
    "role": BASE.replace(prompt=(SystemMessage(content="hello"),)),
    "options in the prompt": BASE.replace(
        prompt=(UserMessage(content=(TextPart(text="hello", provider_options={"anthropic": {"cacheControl": 1}}),)),)
    ),
    "top p": BASE.replace(top_p=0.5),
    "top k": BASE.replace(top_k=1),
    "presence penalty": BASE.replace(presence_penalty=0.5),
    "frequency penalty": BASE.replace(frequency_penalty=0.5),
}
SAME = {
    "headers": BASE.replace(headers={"traceparent": "00-1-1-01"}),
    "raw chunks": BASE.replace(include_raw_chunks=True),
    "another run": BASE.replace(run=RunInfo(run_id="2")),
    "a whole number as a float": BASE.replace(temperature=0.0),
    "a text format": BASE.replace(response_format=TextFormat()),
    "no tools": BASE.replace(tools=()),
    "our options": BASE.replace(provider_options=OURS),
    "empty options": BASE.replace(provider_options={"openai": {}}),
    "our options in the prompt": BASE.replace(
        prompt=(UserMessage(content=(TextPart(text="hello", provider_options=OURS),), provider_options=OURS),)
    ),
}


def test_everything_that_changes_the_answer_changes_the_key() -> None:
    keys = {name: key(params) for name, params in {"base": BASE, **OTHERS}.items()}

    assert len(set(keys.values())) == len(keys)


@pytest.mark.parametrize("params", SAME.values(), ids=SAME.keys())
def test_what_does_not_change_the_answer_does_not_change_the_key(params: CallOptions) -> None:
    assert key(params) == key(BASE)


def test_an_equal_tool_with_another_function_has_the_same_key() -> None:
    assert key(BASE.replace(tools=(tool("x"),))) == key(BASE.replace(tools=(tool("x"),)))


def test_bytes_and_their_base64_are_the_same_file() -> None:
    def asked(data: bytes | str) -> CallOptions:
        return BASE.replace(
            prompt=(UserMessage(content=(FilePart(media_type="image/png", data=FileData(data=data)),)),)
        )

    assert key(asked(b"abc")) == key(asked("YWJj"))
    assert key(asked(b"abc")) != key(asked(b"abd"))


def test_the_text_of_a_result_counts() -> None:
    def asked(found: str) -> CallOptions:
        result = ToolResultPart(tool_call_id="1", tool_name="t", output=TextOutput(value=found))
        return BASE.replace(prompt=(ToolMessage(content=(result,)),))

    assert key(asked("9")) != key(asked("8"))


def test_our_options_are_taken_out_of_results_and_tools_but_not_out_of_inputs() -> None:
    def asked(options: ProviderOptions | None) -> CallOptions:
        item = TextPart(text="9", provider_options=options)
        result = ToolResultPart(
            tool_call_id="1", tool_name="t", output=ContentOutput(value=(item,)), provider_options=options
        )
        call = ToolCallPart(tool_call_id="1", tool_name="t", input={"providerOptions": {"onion": {"x": 1}}})
        prompt: tuple[Message, ...] = (AssistantMessage(content=(call,)), ToolMessage(content=(result,)))
        return BASE.replace(prompt=prompt, tools=(dataclasses.replace(tool("x"), provider_options=options),))

    assert key(asked(OURS)) == key(asked(None))
    assert '"onion"' in json.dumps(canonical(asked(OURS)))
    assert key(asked({"openai": {"x": 1}})) != key(asked(None))


def test_model_and_provider_belong_to_the_key() -> None:
    keys = {
        cache_key(ScriptedModel([], provider=provider, model_id=model_id), BASE, None, None)
        for provider in ("a", "b")
        for model_id in ("1", "2")
    }

    assert len(keys) == 4


def test_a_tenants_key_is_his_own_and_does_not_show_him() -> None:
    keys = {key(BASE, tenant=tenant) for tenant in ("sk-TESTKEY-123", "b", None)}

    assert len(keys) == 3
    assert not any("sk-TESTKEY-123" in found for found in keys)


def test_a_function_may_say_what_counts() -> None:
    def only_prompt(params: CallOptions) -> str:
        return repr(params.prompt)

    assert cache_key(MODEL, BASE, None, only_prompt) == cache_key(MODEL, OTHERS["seed"], None, only_prompt)
    assert cache_key(MODEL, BASE, None, only_prompt) != cache_key(MODEL, OTHERS["prompt"], None, only_prompt)
    assert cache_key(MODEL, BASE, None, only_prompt) != cache_key(MODEL, BASE, "a", only_prompt)


def tenant_of(params: CallOptions) -> str:
    return f"t{params.seed}"


def nobody(_: CallOptions) -> str:
    return ""


@pytest.mark.parametrize(
    ("scope", "tenant"),
    [(SHARED, None), ("acme", "acme"), (tenant_of, "t1")],
    ids=["shared", "text", "function"],
)
def test_a_scope_is_a_text_a_function_or_everybody(scope: CacheScope, tenant: str | None) -> None:
    assert scope_of(scope, BASE) == tenant


def test_everybody_is_shown_as_a_word() -> None:
    assert repr(SHARED) == "SHARED"


def test_a_function_that_names_no_tenant_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="write SHARED if everybody may share"):
        scope_of(nobody, BASE)


@given(
    settings=st.fixed_dictionaries({"temperature": st.floats(0, 2), "seed": st.integers(), "top_p": st.floats(0, 1)})
)
def test_equal_calls_have_equal_keys(settings: dict[str, float]) -> None:
    first = BASE.replace(temperature=settings["temperature"], seed=int(settings["seed"]), top_p=settings["top_p"])
    second = BASE.replace(top_p=settings["top_p"], seed=int(settings["seed"]), temperature=settings["temperature"])

    assert key(first) == key(second)


def test_the_key_is_the_same_in_every_process() -> None:
    stored = "onion-2108bfdacf17c6f5f5174c587fecf48a72b2ae771d3ebcac69a2d86b05c836d0"

    assert key(OTHERS["description in a schema"], tenant="acme") == stored
