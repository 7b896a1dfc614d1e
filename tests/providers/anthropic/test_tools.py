"""Anthropic's own tools, the caller's tools, and their names on either side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.loop.toolset import tool_set
from onion.providers._json import object_in, objects_in
from onion.providers.anthropic import ModelTraits, tools
from onion.providers.anthropic.schema import fit_schema
from onion.providers.anthropic.toolbox import Toolbox
from onion.spec.call import FunctionTool, ProviderTool, ToolChoice, ToolInputExample
from onion.spec.content import ToolCall, ToolResult
from onion.spec.prompt import AssistantMessage, ToolCallPart
from onion.spec.usage import UnsupportedWarning
from tests.providers.anthropic.bodies import HELLO, message, read, request

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

MARK: JsonObject = {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        (
            tools.web_search(max_uses=3, allowed_domains=["a.org"], settings={"allowedCallers": ["direct"]}),
            {
                "type": "web_search_20250305",
                "name": "web_search",
                "max_uses": 3,
                "allowed_domains": ["a.org"],
                "allowed_callers": ["direct"],
            },
        ),
        (
            tools.web_fetch(version="20260209", citations={"enabled": True}),
            {"type": "web_fetch_20260209", "name": "web_fetch", "citations": {"enabled": True}},
        ),
        (tools.code_execution(name="run"), {"type": "code_execution_20250825", "name": "code_execution"}),
        (tools.tool_search(), {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}),
        (
            tools.tool_search(variant="bm25"),
            {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        ),
        (tools.advisor(model="m"), {"type": "advisor_20260301", "name": "advisor", "model": "m"}),
        (tools.mcp_toolset(server_name="s"), {"type": "mcp_toolset", "mcp_server_name": "s"}),
        (tools.bash(), {"type": "bash_20250124", "name": "bash"}),
        (
            tools.text_editor(max_characters=9),
            {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 9},
        ),
        (
            tools.text_editor(version="20250124"),
            {"type": "text_editor_20250124", "name": "str_replace_editor"},
        ),
        (tools.memory(), {"type": "memory_20250818", "name": "memory"}),
        (
            tools.computer(display_width_px=8, display_height_px=6),
            {"type": "computer_20250124", "name": "computer", "display_width_px": 8, "display_height_px": 6},
        ),
        (
            tools.computer_toolset(configs={"zoom": {"enabled": False}}),
            {"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}},
        ),
        (tools.browser_toolset(), {"type": "browser_toolset_20260801"}),
        (
            ProviderTool(id="anthropic.tool_search_regex_20251119", name="x", args={"maxUses": None}),
            {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
        ),
    ],
)
def test_a_tool_of_anthropics_is_sent_by_type_and_name(tool: ProviderTool, sent: JsonObject) -> None:
    assert request(HELLO.replace(tools=(tool,))).body["tools"] == [sent]


def test_the_loop_takes_the_tools_as_they_are() -> None:
    taken = tool_set([tools.web_search(), tools.bash(execute=str), tools.memory()])

    assert [tool.is_provider_executed for tool in taken.values()] == [True, False, False]
    assert [tool.supports_deferred_results for tool in taken.values()] == [True, False, False]
    assert [tool.style for tool in taken.values()] == ["none", "sync", "none"]


def test_a_tool_of_the_callers_is_sent_with_all_that_it_says() -> None:
    tool = FunctionTool(
        name="look",
        description="Looks.",
        input_schema={"properties": {"n": {"type": "integer", "minimum": 1}}},
        strict=True,
        input_examples=(ToolInputExample(input={"n": 1}),),
        provider_options={"anthropic": {"deferLoading": True, "cacheControl": MARK}},
    )
    loose = FunctionTool(name="loose", input_schema={}, strict=False)

    sent = request(HELLO.replace(tools=(tool, loose))).body["tools"]

    assert sent == [
        {
            "name": "look",
            "description": "Looks.",
            "input_schema": {
                "properties": {"n": {"type": "integer", "description": "(minimum: 1)"}},
                "additionalProperties": False,
            },
            "strict": True,
            "input_examples": [{"n": 1}],
            "defer_loading": True,
            "cache_control": MARK,
        },
        {"name": "loose", "input_schema": {"type": "object"}, "strict": False},
    ]


def test_a_tool_of_another_provider_is_left_out_with_a_warning() -> None:
    sent = request(HELLO.replace(tools=(ProviderTool(id="openai.web_search", name="s", args={}),)))

    assert "tools" not in sent.body
    assert [warning.feature for warning in sent.warnings if isinstance(warning, UnsupportedWarning)] == [
        "provider tool openai.web_search"
    ]


def test_calls_and_results_bear_the_callers_names() -> None:
    own = HELLO.replace(tools=(tools.code_execution(name="run"), tools.tool_search(name="find"), tools.bash(name="sh")))
    found: JsonObject = {"type": "tool_search_tool_result", "tool_use_id": "s9", "content": {}}
    called: list[JsonObject] = [
        {"type": "server_tool_use", "id": "s1", "name": "bash_code_execution", "input": {}},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "s1", "content": {}},
        {"type": "tool_use", "id": "c1", "name": "bash", "input": {}},
        found,
    ]

    result = read(message(*called), own)

    names = [part.tool_name for part in result.content if isinstance(part, ToolCall | ToolResult)]
    assert names == ["run", "run", "sh", "find"]
    assert all(part.dynamic is None for part in result.content if isinstance(part, ToolCall | ToolResult))
    undeclared = read(message(*called[:2])).content[0]
    assert isinstance(undeclared, ToolCall)
    assert (undeclared.tool_name, undeclared.dynamic) == ("code_execution", True)
    assert undeclared.provider_metadata == {"anthropic": {"type": "server_tool_use", "name": "bash_code_execution"}}


def test_a_name_that_the_api_refuses_is_made_to_fit_and_translated_back() -> None:
    names = ["files.read", "files_read", "files:read", "plain"]
    params = HELLO.replace(
        tools=tuple(FunctionTool(name=name, input_schema={"type": "object"}) for name in names),
        tool_choice=ToolChoice(type="tool", tool_name="files:read"),
    )
    before = ToolCallPart(tool_call_id="c", tool_name="gone.tool", input={})
    asked = params.replace(prompt=(*HELLO.prompt, AssistantMessage(content=(before,))))

    sent = request(asked, traits=ModelTraits(takes_forced_choice=True)).body
    called: list[JsonObject] = [
        {"type": "tool_use", "id": name, "name": name, "input": {}} for name in ("files_read__", "files_read")
    ]
    result = read(message(*called), params)

    assert [tool["name"] for tool in objects_in(sent, "tools")] == [
        "files_read_",
        "files_read",
        "files_read__",
        "plain",
    ]
    assert object_in(sent, "tool_choice")["name"] == "files_read__"
    assert objects_in(objects_in(sent, "messages")[1], "content")[0]["name"] == "gone_tool"
    assert [part.tool_name for part in result.content if isinstance(part, ToolCall)] == ["files:read", "files_read"]


def test_a_result_that_comes_late_has_the_name_of_its_call() -> None:
    call = ToolCallPart(tool_call_id="s9", tool_name="mine", input={}, provider_executed=True)
    params = HELLO.replace(prompt=(*HELLO.prompt, AssistantMessage(content=(call,))))

    result = read(message({"type": "web_search_tool_result", "tool_use_id": "s9", "content": []}), params)

    assert isinstance(result.content[0], ToolResult)
    assert result.content[0].tool_name == "mine"


def test_a_toolbox_knows_what_is_in_it() -> None:
    box = Toolbox((tools.web_search(name="look_up"), FunctionTool(name="t", input_schema={})))

    assert (box.has_server_tools, box.types) == (True, ("web_search_20250305",))
    assert (box.knows("t"), box.knows("look_up"), box.knows("web_search")) == (True, True, False)
    assert (box.wire_name("look_up"), box.own_name("web_search"), box.own_name("t")) == ("web_search", "look_up", "t")
    assert not Toolbox(None).has_server_tools


def test_a_schema_is_fitted_to_what_the_api_takes() -> None:
    schema: JsonObject = {
        "type": "object",
        "description": "All.",
        "properties": {
            "maximum": {"type": "integer", "maximum": 9, "description": "Most."},
            "list": {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "string", "minLength": 1}},
            "one": {"type": "array", "minItems": 1},
            "any": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/inner"}]},
            "kind": {"enum": [{"minimum": 1}], "default": {"minimum": 1}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "$defs": {"inner": {"type": "object", "properties": {}}},
        "required": ["maximum"],
    }

    fitted = fit_schema(schema)

    assert fitted == {
        "type": "object",
        "description": "All.",
        "properties": {
            "maximum": {"type": "integer", "description": "Most. (maximum: 9)"},
            "list": {
                "type": "array",
                "items": {"type": "string", "description": "(minLength: 1)"},
                "description": "(minItems: 2, maxItems: 3)",
            },
            "one": {"type": "array", "minItems": 1},
            "any": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/inner"}]},
            "kind": {"enum": [{"minimum": 1}], "default": {"minimum": 1}},
            "map": {"type": "object", "additionalProperties": False},
        },
        "$defs": {"inner": {"type": "object", "properties": {}, "additionalProperties": False}},
        "required": ["maximum"],
        "additionalProperties": False,
    }
    assert fit_schema({"type": "object", "properties": True}) == {
        "type": "object",
        "properties": True,
        "additionalProperties": False,
    }
