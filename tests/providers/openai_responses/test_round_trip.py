"""Every kind of item: as content, in a history stored as JSON, and back in the next request as it came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion import generate_text, tool
from onion.providers.openai_responses import OPENAI, tools
from onion.providers.openai_responses.request import to_request
from onion.spec.call import CallOptions
from onion.spec.json import from_json, to_json
from onion.spec.prompt import Prompt
from onion.testing import ScriptedModel
from tests.providers.openai_responses.bodies import CALL, MESSAGE, REASONING, both, message

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

CITED: JsonObject = {"type": "url_citation", "url": "http://a", "title": "A", "start_index": 0, "end_index": 1}
REFUSAL: JsonObject = {**MESSAGE, "content": [{"type": "refusal", "refusal": "no"}]}
SEARCH: JsonObject = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "q", "sources": [{"type": "url", "url": "http://a"}]},
}
FILES: JsonObject = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"], "results": None}
CODE: JsonObject = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "status": "completed",
    "code": 'print("ü")\n',
    "container_id": "cntr_1",
    "outputs": [{"type": "logs", "logs": "ü"}, {"type": "image", "url": "data:image/png;base64,iVBORw0KGgo="}],
}
IMAGE: JsonObject = {
    "type": "image_generation_call",
    "id": "ig_1",
    "status": "generating",
    "output_format": "webp",
    "result": "UklGRuIWGQBXRUJQ",
}
MCP_LIST: JsonObject = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": [{"name": "t"}]}
MCP_ASKED: JsonObject = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "s",
    "name": "t",
    "arguments": '{ "a":1}',
}
MCP: JsonObject = {
    "type": "mcp_call",
    "id": "mcp_1",
    "approval_request_id": "mcpr_1",
    "server_label": "s",
    "name": "t",
    "arguments": '{ "a":1}',
    "output": "ok",
    "error": None,
    "status": "completed",
}
FAILED_MCP: JsonObject = {**MCP, "approval_request_id": None, "output": None, "error": {"code": 500, "message": "down"}}
FOUND: JsonObject = {
    "type": "tool_search_output",
    "id": "tso_1",
    "call_id": None,
    "execution": "server",
    "status": "completed",
    "tools": [{"type": "function", "name": "t"}],
}
SOUGHT: JsonObject = {
    "type": "tool_search_call",
    "id": "tsc_1",
    "call_id": None,
    "execution": "server",
    "status": "completed",
    "arguments": {"paths": ["t"]},
}
PROGRAM: JsonObject = {"type": "program", "id": "cm_1", "call_id": "c9", "code": "await tools.wave({n: 2})"}
BY_PROGRAM: JsonObject = {**CALL, "caller": {"type": "program", "caller_id": "c9"}, "namespace": "n"}
PROGRAM_OUTPUT: JsonObject = {
    "type": "program_output",
    "id": "cmo_1",
    "call_id": "c9",
    "status": "completed",
    "result": "42",
}
HOSTED_SHELL: JsonObject = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "c3",
    "status": "completed",
    "action": {"commands": ["ls"]},
    "environment": {"type": "container_reference", "container_id": "cntr_1"},
}
SHELL_OUTPUT: JsonObject = {
    "type": "shell_call_output",
    "id": "sho_1",
    "call_id": "c3",
    "status": "completed",
    "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
}
LOCAL_SHELL: JsonObject = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "c4",
    "status": "completed",
    "action": {"type": "exec", "command": ["ls"]},
}
PATCH: JsonObject = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "c5",
    "status": "completed",
    "operation": {"type": "delete_file", "path": "a"},
}
COMPUTER: JsonObject = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "c6",
    "status": "completed",
    "action": {"type": "screenshot"},
    "pending_safety_checks": [],
}
SQL: JsonObject = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c7", "name": "sql", "input": 'SELECT "a"\n'}
COMPACTION: JsonObject = {"type": "compaction", "id": "cmp_1", "encrypted_content": "E"}
NOVELTY: JsonObject = {"type": "x_search_call", "id": "x_1", "call_id": "", "name": "x_search", "arguments": "{}"}

OFFERED = (
    tool(name="wave", input_schema={}),
    tools.local_shell(),
    tools.shell(),
    tools.apply_patch(),
    tools.computer(),
    tools.custom(name="sql"),
)
"""Tools that run nowhere: their calls are handed back."""

TURNS: dict[str, tuple[JsonObject, ...]] = {
    "text": (MESSAGE,),
    "empty text": (message(""),),
    "phases": (message("a", phase="commentary"), message("b", id="msg_2", phase="final_answer")),
    "citations": ({**MESSAGE, "content": [{"type": "output_text", "text": "a", "annotations": [CITED]}]},),
    "refusal": (REFUSAL,),
    "reasoning": (REASONING, MESSAGE),
    "reasoning without summary": ({**REASONING, "summary": []}, MESSAGE),
    "reasoning text": ({**REASONING, "content": [{"type": "reasoning_text", "text": "raw"}]}, MESSAGE),
    "interleaved": (REASONING, SEARCH, {**REASONING, "id": "rs_2"}, CALL),
    "parallel calls": (REASONING, CALL, {**CALL, "id": "fc_2", "call_id": "c2"}),
    "web search": (SEARCH, MESSAGE),
    "file search": (FILES, MESSAGE),
    "code interpreter": (CODE, MESSAGE),
    "image generation": (IMAGE, message("")),
    "MCP": (MCP_LIST, MCP, MESSAGE),
    "failed MCP": (FAILED_MCP, MESSAGE),
    "MCP approval": (MCP_LIST, MCP_ASKED),
    "tool search": (SOUGHT, FOUND, BY_PROGRAM),
    "program": (PROGRAM, BY_PROGRAM),
    "program output": (PROGRAM, PROGRAM_OUTPUT, MESSAGE),
    "shell of the server": (HOSTED_SHELL, SHELL_OUTPUT, MESSAGE),
    "local shell": (LOCAL_SHELL,),
    "shell of the caller": ({**HOSTED_SHELL, "environment": None},),
    "patch": (PATCH,),
    "computer": (COMPUTER,),
    "custom tool": (SQL,),
    "compaction": (COMPACTION, MESSAGE),
    "unknown": (NOVELTY, MESSAGE),
}


@pytest.mark.parametrize("items", TURNS.values(), ids=TURNS)
async def test_a_turn_goes_back_as_it_came(items: tuple[JsonObject, ...]) -> None:
    result = await generate_text(model=ScriptedModel([both(*items)]), prompt="go", tools=OFFERED)
    stored = from_json(Prompt, to_json(result.response_messages))
    assert isinstance(stored, tuple)
    params = CallOptions(prompt=stored, provider_options={"openai": {"store": False}})

    request = to_request("gpt-5", params, OPENAI)

    assert request.body["input"] == [_as_sent(item) for item in items]
    assert request.warnings == ()


def _as_sent(item: JsonObject) -> dict[str, JsonValue]:
    """The item as it goes back: without probabilities of tokens, and with citations even where there are none."""
    kept = {key: found for key, found in item.items() if key != "logprobs"}
    content = item.get("content")
    if item.get("type") == "message" and isinstance(content, list):
        kept["content"] = [
            {key: found for key, found in part.items() if key != "logprobs"}
            for part in content
            if isinstance(part, dict)
        ]
    if item.get("type") in ("function_call", "custom_tool_call"):
        kept.pop("status", None)
    return kept
