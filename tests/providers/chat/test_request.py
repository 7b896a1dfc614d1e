"""The body of a request: settings, tools and formats, and a warning for everything that the API lacks."""

import pytest

from onion.providers._chat import SAMPLING, ChatDialect, ModelTraits, to_request
from onion.providers._tooling import fits_strict
from onion.spec.base import JsonObject, JsonValue
from onion.spec.call import (
    CallOptions,
    FunctionTool,
    JsonFormat,
    ProviderTool,
    TextFormat,
    ToolChoice,
    ToolInputExample,
)
from onion.spec.prompt import TextPart, UserMessage
from onion.spec.usage import CallWarning, CompatibilityWarning, UnsupportedWarning

COMMON = ChatDialect(name="vendor")
CALL = CallOptions(prompt=(UserMessage(content=(TextPart(text="hi"),)),))
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = FunctionTool(name="weather", input_schema=SCHEMA)


def body_of(params: CallOptions, dialect: ChatDialect = COMMON, *, is_stream: bool = False) -> dict[str, JsonValue]:
    """The body without model and messages."""
    body = dict(to_request("m-1", params, dialect, is_stream=is_stream).body)
    assert body.pop("model") == "m-1"
    assert body.pop("messages") == [{"role": "user", "content": "hi"}]
    return body


def warnings_of(params: CallOptions, dialect: ChatDialect = COMMON) -> tuple[CallWarning, ...]:
    """What the caller is warned of."""
    return to_request("m-1", params, dialect).warnings


def features(warnings: tuple[CallWarning, ...]) -> list[str]:
    """What the warnings are about."""
    return [warning.feature for warning in warnings if isinstance(warning, UnsupportedWarning)]


def test_a_call_without_settings_sends_none() -> None:
    assert body_of(CALL) == {}


def test_every_setting_that_the_api_knows_is_sent() -> None:
    params = CALL.replace(
        max_output_tokens=9,
        temperature=0.0,
        top_p=0.5,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        stop_sequences=("END",),
        seed=7,
        reasoning="low",
        response_format=TextFormat(),
    )

    assert body_of(params) == {
        "max_tokens": 9,
        "temperature": 0.0,
        "top_p": 0.5,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "stop": ["END"],
        "seed": 7,
        "reasoning_effort": "low",
    }
    assert warnings_of(params) == ()


def test_what_the_api_lacks_is_a_warning() -> None:
    params = CALL.replace(top_k=3)

    assert body_of(params) == {}
    assert features(warnings_of(params)) == ["top_k"]


def test_the_providers_default_of_reasoning_is_not_sent() -> None:
    assert body_of(CALL.replace(reasoning="provider-default", stop_sequences=())) == {}


def test_a_stream_asks_for_usage_unless_the_server_knows_no_such_thing() -> None:
    silent = ChatDialect(name="vendor", includes_usage=False)

    assert body_of(CALL, is_stream=True) == {"stream": True, "stream_options": {"include_usage": True}}
    assert body_of(CALL, silent, is_stream=True) == {"stream": True}


def test_the_limit_on_tokens_has_the_name_that_the_server_knows() -> None:
    new = ChatDialect(name="vendor", max_tokens_key="max_completion_tokens")

    assert body_of(CALL.replace(max_output_tokens=9), new) == {"max_completion_tokens": 9}


def test_a_models_traits_decide_what_it_refuses() -> None:
    dialect = ChatDialect(
        name="vendor",
        models=(
            ModelTraits(refuses=frozenset({"stop"})),
            ModelTraits(prefix="m", takes_effort=False, refuses=frozenset({"seed"})),
            ModelTraits(prefix="m-1", takes_effort=False, refuses=frozenset({"temperature", "stop"})),
        ),
    )
    params = CALL.replace(temperature=1.0, seed=1, stop_sequences=("x",), reasoning="high")

    assert body_of(params, dialect) == {"seed": 1}
    assert features(warnings_of(params, dialect)) == ["reasoning", "stop_sequences", "temperature"]
    assert ChatDialect(name="none", models=()).traits("m") == ModelTraits()


@pytest.mark.parametrize(
    "params",
    [CALL.replace(reasoning="none"), CALL.replace(provider_options={"vendor": {"reasoning_effort": "none"}})],
    ids=["as a setting", "as a provider option"],
)
def test_a_model_that_does_not_reason_for_once_takes_sampling_settings(params: CallOptions) -> None:
    dialect = ChatDialect(name="vendor", models=(ModelTraits(refuses_unless_effort_none=SAMPLING),))

    assert body_of(params.replace(temperature=0.5), dialect) == {"reasoning_effort": "none", "temperature": 0.5}
    assert body_of(CALL.replace(temperature=0.5), dialect) == {}


def test_tools_and_the_choice_among_them_are_sent() -> None:
    tool = FunctionTool(
        name="time",
        description="tells",
        input_schema={},
        strict=True,
        provider_options={"vendor": {"cache_control": 1}},
    )

    body = body_of(CALL.replace(tools=(TOOL, tool), tool_choice=ToolChoice(type="tool", tool_name="time")))

    assert body == {
        "tools": [
            {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}},
            {
                "type": "function",
                "function": {"name": "time", "description": "tells", "parameters": {}, "strict": True},
                "cache_control": 1,
            },
        ],
        "tool_choice": {"type": "function", "function": {"name": "time"}},
    }


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_a_plain_tool_choice_is_sent_as_it_is(choice: str) -> None:
    kinds = {"auto": ToolChoice(type="auto"), "none": ToolChoice(type="none"), "required": ToolChoice(type="required")}

    assert body_of(CALL.replace(tools=(TOOL,), tool_choice=kinds[choice]))["tool_choice"] == choice


def test_no_choice_is_sent_without_tools() -> None:
    assert body_of(CALL.replace(tools=(), tool_choice=ToolChoice(type="required"))) == {}


def test_tools_of_a_provider_and_input_examples_are_left_out_with_a_warning() -> None:
    shown = FunctionTool(name="f", input_schema={}, input_examples=(ToolInputExample(input={"a": 1}),))
    params = CALL.replace(tools=(ProviderTool(id="vendor.search", name="search", args={}), shown))

    assert body_of(params)["tools"] == [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert features(warnings_of(params)) == ["provider tool vendor.search", "input examples of tool f"]


def test_json_without_a_schema_is_json_of_any_shape() -> None:
    assert body_of(CALL.replace(response_format=JsonFormat())) == {"response_format": {"type": "json_object"}}


def test_a_schema_is_sent_as_strict_if_servers_would_accept_it_so() -> None:
    loose: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}

    strict = body_of(CALL.replace(response_format=JsonFormat(schema=SCHEMA, name="City", description="where")))
    lax = body_of(CALL.replace(response_format=JsonFormat(schema=loose)))

    assert strict["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "City", "description": "where", "schema": SCHEMA, "strict": True},
    }
    assert lax["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": loose, "strict": False},
    }


def test_the_caller_may_say_whether_a_schema_is_strict() -> None:
    params = CALL.replace(
        response_format=JsonFormat(schema=SCHEMA), provider_options={"vendor": {"strict_json_schema": False}}
    )

    assert body_of(params)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": SCHEMA, "strict": False},
    }


@pytest.mark.parametrize(("wanted", "warned"), [(1, []), (2, ["n"]), (None, [])])
def test_answers_beside_the_first_are_warned_of(wanted: JsonValue, warned: list[str]) -> None:
    params = CALL.replace(provider_options={"vendor": {"n": wanted}})

    assert [warning.feature for warning in warnings_of(params) if isinstance(warning, CompatibilityWarning)] == warned


def test_a_server_without_schemas_is_asked_for_any_json_with_a_warning() -> None:
    params = CALL.replace(response_format=JsonFormat(schema=SCHEMA))
    dialect = ChatDialect(name="vendor", takes_json_schema=False)

    assert body_of(params, dialect) == {"response_format": {"type": "json_object"}}
    assert features(warnings_of(params, dialect)) == ["response_format schema"]


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        (SCHEMA, True),
        ({"type": "string"}, True),
        ({"anyOf": [SCHEMA, {"type": "null"}]}, True),
        ({**SCHEMA, "$defs": {"X": {"type": "object", "properties": {}}}}, False),
        ({**SCHEMA, "required": []}, False),
        ({**SCHEMA, "required": None}, False),
        ({"properties": {}, "additionalProperties": True, "required": []}, False),
        ({"anyOf": [SCHEMA, {"type": "object"}]}, False),
    ],
)
def test_a_schema_fits_strict_mode_if_all_its_objects_are_closed_and_complete(schema: JsonValue, fits: bool) -> None:  # noqa: FBT001 - from the table
    assert fits_strict(schema) is fits


def test_provider_options_go_into_the_body_and_have_the_last_word() -> None:
    params = CALL.replace(
        temperature=0.5,
        seed=1,
        provider_options={
            "vendor": {"temperature": 0.7, "seed": None, "store": True, "text_verbosity": "low", "logprobs": 3},
            "other": {"never": True},
            "onion": {"never": True},
        },
    )

    assert body_of(params) == {
        "temperature": 0.7,
        "store": True,
        "verbosity": "low",
        "logprobs": True,
        "top_logprobs": 3,
    }


def test_logprobs_may_be_asked_for_without_a_number() -> None:
    assert body_of(CALL.replace(provider_options={"vendor": {"logprobs": True}})) == {"logprobs": True}
