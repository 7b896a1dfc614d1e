"""Tools in requests: the caller's, Google's, both at once, and which of them must be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers.google import tools
from onion.providers.google.traits import traits_of
from onion.spec.call import FunctionTool, ProviderTool, ToolChoice
from tests.providers.google.bodies import HELLO, request

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import Tool

PLACE: JsonObject = {"type": "object", "properties": {"place": {"type": "string"}}}
WEATHER = FunctionTool(name="weather", description="Tells it.", input_schema=PLACE)
STRICT = FunctionTool(name="weather", input_schema=PLACE, strict=True)
SEARCH = tools.google_search()
DECLARED: JsonObject = {"name": "weather", "description": "Tells it.", "parametersJsonSchema": PLACE}


def tooling(
    *given: Tool, choice: ToolChoice | None = None, model_id: str = "gemini-x", config: JsonObject | None = None
) -> tuple[JsonValue, JsonValue, list[str]]:
    """The members ``tools`` and ``toolConfig``, and what is warned of."""
    options = {"google": {"toolConfig": config or {}}}
    params = HELLO.replace(tools=given, tool_choice=choice, provider_options=options)
    made = request(params, model_id, traits_of(model_id))
    return made.body.get("tools"), made.body.get("toolConfig"), [str(warning) for warning in made.warnings]


@pytest.mark.parametrize(
    ("tool", "block"),
    [
        (tools.google_search(), {"googleSearch": {}}),
        (
            tools.google_search(time_range={"startTime": "a", "endTime": "b"}, settings={"search_types": {}}),
            {"googleSearch": {"timeRangeFilter": {"startTime": "a", "endTime": "b"}, "searchTypes": {}}},
        ),
        (tools.url_context(), {"urlContext": {}}),
        (tools.code_execution(), {"codeExecution": {}}),
        (
            tools.file_search(file_search_store_names=["fileSearchStores/s"], top_k=3),
            {"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/s"], "topK": 3}},
        ),
        (tools.google_maps(enable_widget=True), {"googleMaps": {"enableWidget": True}}),
        (tools.enterprise_web_search(), {"enterpriseWebSearch": {}}),
        (
            tools.vertex_rag_store(rag_corpus="c", top_k=2),
            {"retrieval": {"vertexRagStore": {"ragResources": [{"ragCorpus": "c"}], "similarityTopK": 2}}},
        ),
        (
            tools.vertex_ai_search(datastore="d", settings={"filter": "f"}),
            {"retrieval": {"vertexAiSearch": {"datastore": "d", "filter": "f"}}},
        ),
        (tools.computer_use(), {"computerUse": {"environment": "ENVIRONMENT_BROWSER"}}),
        (
            tools.computer_use(environment="mobile", excluded_predefined_functions=["drag_and_drop"]),
            {"computerUse": {"environment": "ENVIRONMENT_MOBILE", "excludedPredefinedFunctions": ["drag_and_drop"]}},
        ),
        (ProviderTool(id="google.novel_thing", name="n", args={"some_setting": 1, "not_given": None}), None),
    ],
)
def test_a_tool_of_googles_is_sent_under_its_name(tool: ProviderTool, block: JsonValue) -> None:
    assert tooling(tool) == ([block or {"novelThing": {"someSetting": 1}}], None, [])


def test_tools_of_the_caller_are_declared_with_their_schemas() -> None:
    bare: JsonObject = {"name": "wave", "description": "", "parametersJsonSchema": {"type": "object"}}

    found = tooling(WEATHER, FunctionTool(name="wave", input_schema={}))

    assert found == ([{"functionDeclarations": [DECLARED, bare]}], None, [])


@pytest.mark.parametrize(
    ("tool", "choice", "calling"),
    [
        (WEATHER, ToolChoice(type="auto"), {"mode": "AUTO"}),
        (WEATHER, ToolChoice(type="none"), {"mode": "NONE"}),
        (WEATHER, ToolChoice(type="required"), {"mode": "ANY"}),
        (WEATHER, ToolChoice(type="tool", tool_name="weather"), {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
        (STRICT, ToolChoice(type="auto"), {"mode": "VALIDATED"}),
        (STRICT, None, {"mode": "VALIDATED"}),
        (STRICT, ToolChoice(type="required"), {"mode": "ANY"}),
    ],
)
def test_a_choice_is_a_mode(tool: Tool, choice: ToolChoice | None, calling: JsonObject) -> None:
    assert tooling(tool, choice=choice)[1:] == ({"functionCallingConfig": calling}, [])


def test_googles_and_the_callers_tools_go_together_on_newer_models() -> None:
    mixed: JsonObject = {"includeServerSideToolInvocations": True}

    assert tooling(SEARCH, WEATHER, choice=ToolChoice(type="auto")) == (
        [{"googleSearch": {}}, {"functionDeclarations": [DECLARED]}],
        mixed,
        [],
    )
    required = tooling(SEARCH, WEATHER, choice=ToolChoice(type="required"))
    assert required[1] == {**mixed, "functionCallingConfig": {"mode": "ANY"}}


@pytest.mark.parametrize("model_id", ["gemini-x", "gemini-2.5-computer-use-preview-10-2025"])
def test_the_tool_for_computers_goes_beside_the_callers_own_on_all_models(model_id: str) -> None:
    found, config, warnings = tooling(tools.computer_use(), WEATHER, model_id=model_id)

    assert found == [{"computerUse": {"environment": "ENVIRONMENT_BROWSER"}}, {"functionDeclarations": [DECLARED]}]
    assert (config, warnings) == (None, [])


def test_older_models_get_googles_tools_alone_with_a_warning() -> None:
    found, config, warnings = tooling(SEARCH, WEATHER, model_id="gemini-2.5-flash")

    assert (found, config) == ([{"googleSearch": {}}], None)
    assert "left out" in warnings[0]


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        ((SEARCH,), ToolChoice(type="required")),
        ((SEARCH,), ToolChoice(type="tool", tool_name="google_search")),
        ((SEARCH, WEATHER), ToolChoice(type="tool", tool_name="google_search")),
    ],
)
def test_a_tool_of_googles_cannot_be_demanded(given: tuple[Tool, ...], choice: ToolChoice) -> None:
    _, config, warnings = tooling(*given, choice=choice)

    assert "functionCallingConfig" not in str(config)
    assert "left to the model" in warnings[0]


def test_tools_of_other_providers_are_left_out_with_a_warning() -> None:
    found, _, warnings = tooling(ProviderTool(id="openai.web_search", name="w", args={}))

    assert found is None
    assert "openai.web_search" in warnings[0]


def test_options_have_the_last_word_about_tools() -> None:
    config: JsonObject = {
        "functionCallingConfig": {"streamFunctionCallArguments": True},
        "retrievalConfig": {"languageCode": "de"},
    }

    found = tooling(WEATHER, choice=ToolChoice(type="required"), config=config)

    assert found[1] == {
        "functionCallingConfig": {"mode": "ANY", "streamFunctionCallArguments": True},
        "retrievalConfig": {"languageCode": "de"},
    }
