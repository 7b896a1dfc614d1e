"""Requests: settings, reasoning, form of the answer, provider options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers._json import object_in
from onion.providers.google import ModelTraits, tools
from onion.providers.google.request import path_of
from onion.providers.google.schema import fit_schema
from onion.providers.google.traits import traits_of
from onion.spec.call import FunctionTool, JsonFormat, TextFormat
from tests.providers.google.bodies import HELLO, request

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions, ReasoningEffort

SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
WAVE = FunctionTool(name="wave", input_schema={})


def body_of(params: CallOptions, model_id: str = "gemini-x") -> JsonObject:
    """The body for a call."""
    return request(params, model_id, traits_of(model_id)).body


def config_of(params: CallOptions, model_id: str = "gemini-x") -> JsonObject:
    """The generation config for a call."""
    return object_in(body_of(params, model_id), "generationConfig")


def warned(params: CallOptions, model_id: str = "gemini-x") -> list[str]:
    """What is warned of."""
    return [str(warning) for warning in request(params, model_id, traits_of(model_id)).warnings]


def test_a_plain_call_has_contents_alone() -> None:
    assert body_of(HELLO) == {"contents": [{"role": "user", "parts": [{"text": "Say hello."}]}]}


@pytest.mark.parametrize(
    ("model_id", "is_stream", "path"),
    [
        ("gemini-x", False, "/models/gemini-x:generateContent"),
        ("gemini-x", True, "/models/gemini-x:streamGenerateContent?alt=sse"),
        ("tunedModels/mine", False, "/tunedModels/mine:generateContent"),
        ("a?key=b#c", False, "/models/a%3Fkey%3Db%23c:generateContent"),
    ],
)
def test_the_model_is_named_in_the_path(model_id: str, path: str, *, is_stream: bool) -> None:
    assert path_of(model_id, is_stream=is_stream) == path


def test_every_setting_has_a_member() -> None:
    params = HELLO.replace(
        max_output_tokens=5,
        temperature=0.0,
        top_p=0.5,
        top_k=3,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        stop_sequences=("END",),
        seed=0,
    )

    assert config_of(params) == {
        "maxOutputTokens": 5,
        "temperature": 0.0,
        "topP": 0.5,
        "topK": 3,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "stopSequences": ["END"],
        "seed": 0,
    }
    assert warned(params) == []


@pytest.mark.parametrize(
    ("model_id", "wanted", "config", "is_warned"),
    [
        ("gemini-next", "low", {"includeThoughts": True, "thinkingLevel": "low"}, False),
        ("gemini-next", "xhigh", {"includeThoughts": True, "thinkingLevel": "high"}, True),
        ("gemini-next", "none", {"thinkingLevel": "low"}, True),
        ("gemini-3.5-flash", "none", {"thinkingLevel": "minimal"}, True),
        ("gemini-3-flash-preview", "minimal", {"includeThoughts": True, "thinkingLevel": "minimal"}, False),
        ("gemini-3.8-flash", "minimal", {"includeThoughts": True, "thinkingLevel": "low"}, True),
        ("models/gemini-3-pro-preview", "minimal", {"includeThoughts": True, "thinkingLevel": "low"}, True),
        ("gemini-3.1-pro-preview", "medium", {"includeThoughts": True, "thinkingLevel": "medium"}, False),
        ("gemini-3-pro-image", "high", None, True),
        ("gemini-2.5-pro", "minimal", {"includeThoughts": True, "thinkingBudget": 1310}, False),
        ("gemini-2.5-pro", "xhigh", {"includeThoughts": True, "thinkingBudget": 32_768}, False),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128}, True),
        ("gemini-2.5-flash", "high", {"includeThoughts": True, "thinkingBudget": 24_576}, False),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}, False),
        ("gemini-2.0-flash", "low", None, True),
        ("gemini-2.0-flash", "none", None, False),
        ("gemini-next", "provider-default", None, False),
    ],
)
def test_reasoning_is_a_level_or_a_budget(
    model_id: str,
    wanted: ReasoningEffort,
    config: JsonValue,
    is_warned: bool,  # noqa: FBT001 - from the table
) -> None:
    params = HELLO.replace(reasoning=wanted)

    assert config_of(params, model_id).get("thinkingConfig") == config
    assert bool(warned(params, model_id)) is is_warned


def test_what_the_table_lacks_can_be_said() -> None:
    mine = ModelTraits(prefix="gemini-x", thinking="none")

    assert traits_of("gemini-x1", (mine,)) is mine
    assert traits_of("other", (mine,)) == ModelTraits()


def test_the_callers_thinking_config_wins_and_is_never_both_level_and_budget() -> None:
    params = HELLO.replace(reasoning="low", provider_options={"google": {"thinkingConfig": {"thinkingBudget": 7}}})
    quiet = HELLO.replace(reasoning="low", provider_options={"google": {"thinking_config": {"includeThoughts": False}}})
    none = HELLO.replace(reasoning="low", provider_options={"google": {"thinkingConfig": None}})

    assert config_of(params)["thinkingConfig"] == {"includeThoughts": True, "thinkingBudget": 7}
    assert config_of(quiet)["thinkingConfig"] == {"includeThoughts": False, "thinkingLevel": "low"}
    assert config_of(none) == {}


def test_provider_options_go_where_the_api_has_them_and_are_the_last_word() -> None:
    safety: JsonValue = [{"category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "BLOCK_NONE"}]
    options: JsonObject = {
        "cached_content": "cachedContents/1",
        "safetySettings": safety,
        "responseModalities": ["TEXT", "IMAGE"],
        "imageConfig": {"aspectRatio": "1:1"},
        "generationConfig": {"temperature": 1, "novelty": True},
        "contents": None,
    }

    body = body_of(HELLO.replace(temperature=0.5, provider_options={"google": options, "other": {"x": 1}}))

    assert body == {
        "cachedContent": "cachedContents/1",
        "safetySettings": safety,
        "generationConfig": {
            "temperature": 1,
            "novelty": True,
            "responseModalities": ["TEXT", "IMAGE"],
            "imageConfig": {"aspectRatio": "1:1"},
        },
    }


@pytest.mark.parametrize(
    ("wanted", "options", "config"),
    [
        (TextFormat(), {}, {}),
        (JsonFormat(), {}, {"responseMimeType": "application/json"}),
        (JsonFormat(schema=SCHEMA), {}, {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}),
        (JsonFormat(schema=SCHEMA), {"structuredOutputs": False}, {"responseMimeType": "application/json"}),
    ],
)
def test_a_form_of_the_answer_is_a_type_and_a_schema(
    wanted: JsonFormat | TextFormat, options: JsonObject, config: JsonObject
) -> None:
    params = HELLO.replace(response_format=wanted, provider_options={"google": options})

    assert config_of(params) == config


@pytest.mark.parametrize(
    ("wanted", "words"), [(JsonFormat(), "JSON and nothing else."), (JsonFormat(schema=SCHEMA), "integer")]
)
def test_older_models_are_told_the_form_where_they_have_tools(wanted: JsonFormat, words: str) -> None:
    params = HELLO.replace(response_format=wanted, tools=(WAVE,))

    old, new = body_of(params, "gemini-2.5-flash"), body_of(params)

    assert "generationConfig" not in old
    assert words in str(old["systemInstruction"])
    assert "instructions" in warned(params, "gemini-2.5-flash")[0]
    assert object_in(new, "generationConfig")["responseMimeType"] == "application/json"
    assert "generationConfig" not in body_of(params.replace(tools=(tools.url_context(),)), "gemini-2.5-flash")


@pytest.mark.parametrize(
    ("schema", "fitted"),
    [
        ({"type": "string", "$schema": "x", "default": "d", "examples": ["e"]}, {"type": "string"}),
        ({"const": 3}, {"enum": [3]}),
        ({"oneOf": [{"const": 1}, {"type": "null"}]}, {"anyOf": [{"enum": [1]}, {"type": "null"}]}),
        ({"allOf": [{"type": "string", "title": "A"}], "title": "B"}, {"type": "string", "title": "B"}),
        (
            {"type": "string", "description": "A word.", "pattern": "^a", "minLength": 2},
            {"type": "string", "description": 'A word. (pattern: "^a", minLength: 2)'},
        ),
        ({"allOf": [{"type": "a"}, {"type": "b"}]}, {"description": '(allOf: [{"type":"a"},{"type":"b"}])'}),
        (
            {
                "definitions": {"A": {"type": "integer", "minimum": 1}},
                "properties": {"default": {"$ref": "#/definitions/A"}, "l": {"prefixItems": [{"const": 1}, True]}},
                "additionalProperties": False,
                "required": ["default"],
            },
            {
                "$defs": {"A": {"type": "integer", "minimum": 1}},
                "properties": {"default": {"$ref": "#/$defs/A"}, "l": {"prefixItems": [{"enum": [1]}, True]}},
                "additionalProperties": False,
                "required": ["default"],
            },
        ),
        ({"allOf": [True]}, {}),
    ],
)
def test_a_schema_is_fitted_to_what_the_api_takes(schema: JsonObject, fitted: JsonObject) -> None:
    assert fit_schema(schema) == fitted


@pytest.mark.parametrize(("count", "times"), [(1, 0), (2, 1)])
def test_candidates_beside_the_first_are_warned_of(count: int, times: int) -> None:
    params = HELLO.replace(provider_options={"google": {"candidateCount": count}})

    assert config_of(params)["candidateCount"] == count
    assert [("only the first is read" in said) for said in warned(params)] == [True] * times
