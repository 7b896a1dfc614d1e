import dataclasses

import pytest

from onion.errors import InvalidArgumentError
from onion.providers.local.convert import Request, to_request
from onion.spec.base import JsonObject, is_array, is_object
from onion.spec.call import CallOptions, JsonFormat, ProviderTool, TextFormat, ToolChoice
from onion.spec.usage import UnsupportedWarning
from tests.providers.local.engines import ADD, HELLO

NOW = dataclasses.replace(ADD, name="now")
REQUIRED = ToolChoice(type="required")


def shown(schema: JsonObject) -> str:
    """A grammar that shows which tools it allows."""
    calls = schema.get("anyOf")
    return str(schema) if not is_array(calls) else " or ".join(str(call) for call in calls)


def convert(params: CallOptions) -> Request:
    return to_request(params, shown)


def messages(request: Request) -> list[str]:
    """The texts of the messages."""
    found = request.body["messages"]
    assert is_array(found)
    return [str(message["content"]) for message in found if is_object(message)]


def grammar(request: Request) -> str:
    return str(request.body["grammar"])


def test_a_plain_call_streams_with_usage_and_progress_at_a_low_temperature() -> None:
    request = convert(HELLO)

    assert request.body == {
        "messages": [{"role": "user", "content": "Say hello."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,
        "temperature": 0.2,
    }
    assert request.mode == "no tools"
    assert request.warnings == ()


def test_all_settings_have_their_place() -> None:
    request = convert(
        HELLO.replace(
            max_output_tokens=9, temperature=0.7, top_p=0.5, top_k=3, presence_penalty=0.1, frequency_penalty=0.0,
            seed=0, stop_sequences=("END",), reasoning="none",
        )
    )  # fmt: skip

    assert {name: found for name, found in request.body.items() if name not in convert(HELLO).body} == {
        "max_tokens": 9,
        "top_p": 0.5,
        "top_k": 3,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.0,
        "seed": 0,
        "stop": ["END"],
    }
    assert request.body["temperature"] == 0.7
    assert request.warnings == ()


def test_the_engines_own_settings_pass_through() -> None:
    request = convert(HELLO.replace(provider_options={"local": {"min_p": 0.1}, "openai": {"user": "x"}}))

    assert request.body["min_p"] == 0.1
    assert "user" not in request.body


def test_levels_of_reasoning_are_warned_of() -> None:
    assert convert(HELLO.replace(reasoning="high")).warnings == (
        UnsupportedWarning(feature="reasoning", details="the local model has no levels of reasoning"),
    )


def test_tools_are_told_and_may_be_called() -> None:
    request = convert(HELLO.replace(tools=(ADD, NOW)))

    assert request.mode == "may call"
    assert "- add(" in messages(request)[0]
    assert "- now(" in messages(request)[0]
    assert "grammar" not in request.body
    assert "stop" not in request.body


def test_without_choice_of_tools_the_model_is_not_told_of_them() -> None:
    request = convert(HELLO.replace(tools=(ADD,), tool_choice=ToolChoice(type="none")))

    assert request.mode == "no tools"
    assert messages(request) == ["Say hello."]


def test_a_required_call_is_begun_for_the_model_and_held_to_the_schemas() -> None:
    request = convert(HELLO.replace(tools=(ADD, NOW), tool_choice=REQUIRED, stop_sequences=("END",)))

    assert request.mode == "must call"
    assert messages(request)[-1] == "<tool_call>\n"
    assert request.body["stop"] == ["END", "</tool_call>"]
    assert request.body["temperature"] == 0.0
    assert "'add'" in grammar(request)
    assert "'now'" in grammar(request)


def test_a_named_tool_is_the_only_one_that_can_be_called_though_all_are_listed() -> None:
    request = convert(HELLO.replace(tools=(ADD, NOW), tool_choice=ToolChoice(type="tool", tool_name="now")))

    assert request.mode == "must call"
    assert "- add(" in messages(request)[0]
    assert "'add'" not in grammar(request)
    assert "'now'" in grammar(request)


def test_a_named_tool_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match=r"names the tool 'when', but the call has \['add'\]"):
        convert(HELLO.replace(tools=(ADD,), tool_choice=ToolChoice(type="tool", tool_name="when")))


def test_a_required_call_without_tools_is_plain_text() -> None:
    assert convert(HELLO.replace(tool_choice=REQUIRED)).mode == "no tools"


def test_tools_of_other_providers_are_warned_of() -> None:
    request = convert(HELLO.replace(tools=(ProviderTool(id="acme.search", name="search", args={}),)))

    assert request.mode == "no tools"
    assert [warning.feature for warning in request.warnings if isinstance(warning, UnsupportedWarning)] == [
        "provider tool acme.search"
    ]


def test_json_is_told_to_the_model_and_held_to_its_schema() -> None:
    wanted = JsonFormat(schema={"type": "object", "title": "A"}, name="person", description="Somebody.")
    request = convert(HELLO.replace(response_format=wanted))

    assert messages(request)[0] == (
        "Answer with JSON only.\nperson: Somebody.\n"
        'It must fit this JSON schema: {"type":"object","title":"A"}'
    )  # fmt: skip
    assert "'title': 'A'" in grammar(request)
    assert request.body["temperature"] == 0.0


def test_json_without_schema_is_any_object() -> None:
    request = convert(HELLO.replace(response_format=JsonFormat()))

    assert messages(request)[0] == "Answer with JSON only."
    assert "'type': 'object'" in grammar(request)


def test_plain_text_as_format_changes_nothing() -> None:
    assert convert(HELLO.replace(response_format=TextFormat())) == convert(HELLO)


def test_a_call_that_must_be_made_comes_before_json() -> None:
    request = convert(HELLO.replace(tools=(ADD,), tool_choice=REQUIRED, response_format=JsonFormat()))

    assert request.mode == "must call"
    assert "'add'" in grammar(request)
