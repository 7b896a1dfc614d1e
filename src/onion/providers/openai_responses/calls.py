"""Calls of one answer as stream parts: those that the caller answers, and those that the server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import text_in
from onion.providers.openai_responses import items as keys
from onion.providers.openai_responses import tool_items
from onion.providers.openai_responses.blocks import CallInput
from onion.providers.openai_responses.sources import files_of
from onion.spec.content import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.parts import StreamPart

IN_STRING = ('"', '"')
"""Around the free text that is the input of a custom tool."""


class Calls:
    """Collects the calls of one answer.

    Args:
        name: Key of the provider metadata.
        tool_names: By provider tool, the caller's name for it.
        generate_id: Gives ids to calls that come without.
    """

    def __init__(self, name: str, tool_names: Mapping[str, str], generate_id: Callable[[], str]) -> None:
        self.has_calls: bool = False
        """There are calls that the caller has to answer."""
        self._name = name
        self._tool_names = tool_names
        self._generate_id = generate_id
        self._ids: set[str] = set()
        self._waiting: dict[str, list[str]] = {}

    def begin(self, item: JsonObject, parts: list[StreamPart]) -> CallInput | None:
        """A call begins, if *item* is one whose input can be shown while it arrives."""
        kind, call_id = text_in(item, "type"), text_in(item, "call_id") or text_in(item, "id")
        tool = keys.SERVER_TOOLS.get(kind)
        if tool is not None:
            call = self._server_call(item, tool)
        elif kind == "custom_tool_call":
            call = CallInput(self._fresh(call_id), text_in(item, "name"), frame=IN_STRING)
        elif kind == "function_call" and call_id and text_in(item, "name"):
            call = CallInput(self._fresh(call_id), text_in(item, "name"))
        else:
            return None
        call.start(parts)
        if tool is not None and tool.is_early:
            self._run(item, call, "{}", parts)
        return call

    def show(self, call: CallInput, event: JsonObject, parts: list[StreamPart]) -> None:
        """A first version of what a tool makes."""
        image = text_in(event, "partial_image_b64")
        if image:
            result: JsonObject = {"result": image, "partial_image_index": event.get("partial_image_index")}
            parts.append(
                ToolResult(tool_call_id=call.call_id, tool_name=call.tool_name, result=result, preliminary=True)
            )

    def finish_function_call(
        self, call: CallInput | None, item: JsonObject, reasoning_id: str, parts: list[StreamPart]
    ) -> None:
        """A call of one of the caller's functions is whole."""
        if call is None:
            call = CallInput(self._fresh(text_in(item, "call_id") or text_in(item, "id")), text_in(item, "name"))
            call.start(parts)
        arguments = item.get("arguments")
        text = call.complete(tool_items.json_text(arguments) if arguments else "", parts)
        told = tool_items.identity(item, **_beside(item, reasoning_id))
        self.has_calls = True
        parts.append(
            ToolCall(
                tool_call_id=call.call_id,
                tool_name=call.tool_name,
                input=text if text.strip() else "{}",
                provider_metadata={self._name: told} if told else None,
            )
        )

    def finish_client_tool(
        self, call: CallInput | None, item: JsonObject, reasoning_id: str, parts: list[StreamPart]
    ) -> None:
        """A call of one of the `CLIENT_TOOLS` is whole."""
        kind = text_in(item, "type")
        is_server_run = keys.is_run_by_server(item)
        if call is None:
            call_id = self._fresh(text_in(item, "call_id") or text_in(item, "id"))
            call = CallInput(call_id, self._named(keys.CLIENT_TOOLS[kind].tool), is_server_run=is_server_run)
            call.start(parts)
        given = tool_items.client_input(item)
        call.complete(text_in(item, "input") if kind == "custom_tool_call" else given, parts)
        if is_server_run:
            self._waiting.setdefault(kind, []).append(call.call_id)
        self.has_calls = self.has_calls or not is_server_run
        told = tool_items.tool_identity(item, call.call_id, **_beside(item, reasoning_id))
        parts.append(
            ToolCall(
                tool_call_id=call.call_id,
                tool_name=call.tool_name,
                input=given,
                provider_executed=call.is_server_run,
                provider_metadata={self._name: told},
            )
        )

    def finish_output(self, item: JsonObject, parts: list[StreamPart]) -> None:
        """A result that is an item of its own; without a call id it belongs to the first call that waits."""
        kind = keys.OUTPUTS[text_in(item, "type")]
        waiting = self._waiting.get(kind, [])
        call_id = text_in(item, "call_id") or (waiting.pop(0) if waiting else text_in(item, "id"))
        parts.append(tool_items.output_result(item, call_id, self._named(keys.CLIENT_TOOLS[kind].tool), self._name))

    def finish_server_tool(self, call: CallInput, item: JsonObject, parts: list[StreamPart]) -> None:
        """A call of one of the `SERVER_TOOLS` is whole, with its result."""
        kind = text_in(item, "type")
        if not keys.SERVER_TOOLS[kind].is_early:
            given = tool_items.server_input(item)
            call.complete(text_in(item, "code") if kind == "code_interpreter_call" else given, parts)
            self._run(item, call, given, parts)
        parts.append(tool_items.server_result(item, call.call_id, call.tool_name, self._name))
        parts += files_of(item, self._name)

    def _named(self, tool: str) -> str:
        return self._tool_names.get(tool, tool)

    def _fresh(self, wanted: str) -> str:
        """An id that no other call of this answer has."""
        call_id = wanted if wanted and wanted not in self._ids else self._generate_id()
        self._ids.add(call_id)
        return call_id

    def _server_call(self, item: JsonObject, tool: keys.ServerTool) -> CallInput:
        is_mcp = tool.tool == "mcp"
        # A call that was approved is the one that approval was asked for.
        call_id = self._fresh((text_in(item, "approval_request_id") if is_mcp else "") or text_in(item, "id"))
        return CallInput(
            call_id,
            tool_items.mcp_name(item) if is_mcp else self._named(tool.tool),
            frame=_around_code(item) if tool.tool == "code_interpreter" else None,
            is_server_run=True,
            is_dynamic=is_mcp,
        )

    def _run(self, item: JsonObject, call: CallInput, given: str, parts: list[StreamPart]) -> None:
        """The server runs a call."""
        call.end(parts)
        parts.append(
            ToolCall(
                tool_call_id=call.call_id,
                tool_name=call.tool_name,
                input=given,
                provider_executed=True,
                dynamic=call.is_dynamic,
                provider_metadata={self._name: tool_items.tool_identity(item, call.call_id)},
            )
        )


def _beside(item: JsonObject, reasoning_id: str) -> dict[str, JsonValue]:
    """What a call carries back beside its input."""
    return {"namespace": item.get("namespace"), "caller": item.get("caller"), keys.REASONING_ID: reasoning_id}


def _around_code(item: JsonObject) -> tuple[str, str]:
    """What stands around the code in the input of the code interpreter."""
    container = tool_items.json_text({"container_id": item.get("container_id")})
    return '{"code":"', f'",{container[1:]}'
