"""Histories that come back from a client with answers to approval requests, and what a run makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onion import is_step_count, tool
from onion.spec.base import JsonObject, JsonValue
from onion.testing import ScriptedModel, text
from tests.cases.behaviours import ANYTHING, Log
from tests.cases.runs import ran, result_ids

if TYPE_CHECKING:
    from onion import Tool, ToolOptions
    from onion.loop import RunOptions
    from onion.testing import ScriptItem
    from tests.cases.runs import Mode, Ran


@dataclass(slots=True)
class Desk:
    """A server's tools, which note what they do, and its model, which answers with a text.

    Attributes:
        schemas: By tool name what it takes.
        needs_approval: The tools that ask first.
    """

    schemas: Mapping[str, JsonObject]
    needs_approval: Sequence[str] = ()
    log: Log = field(default_factory=Log)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel([text("done")]))

    @classmethod
    def of(cls, *names: str, script: Sequence[ScriptItem] = ()) -> Desk:
        """A desk with tools that take anything and ask first."""
        desk = cls(dict.fromkeys(names, ANYTHING), names)
        if script:
            desk.model = ScriptedModel(script)
        return desk

    @property
    def executions(self) -> list[str]:
        """The tools whose functions were entered."""
        return [self.log.names[call_id] for call_id in self.log.entered]

    @property
    def results_sent(self) -> list[str]:
        """The ids of the results that the model saw last."""
        return result_ids(self.model.params[-1].prompt) if self.model.params else []

    def options(self, messages: Sequence[JsonObject]) -> RunOptions:
        """The arguments of a run."""
        return {
            "model": self.model,
            "messages": messages,
            "tools": [self._tool(name) for name in self.schemas],
            "stop_when": is_step_count(5),
            "max_retries": 0,
        }

    async def resume(self, messages: Sequence[JsonObject], mode: Mode) -> Ran:
        """Run *messages*."""
        return await ran(self.options(messages), mode)

    def _tool(self, name: str) -> Tool:
        async def run(given: JsonValue, options: ToolOptions[object]) -> str:
            self.log.enter(name, options.tool_call_id, given)
            return "done"

        return tool(name=name, input_schema=self.schemas[name], execute=run, needs_approval=name in self.needs_approval)


# --- messages in the JSON form, as a client keeps them ---------------------------------------------------------------


def user(said: str = "go") -> JsonObject:
    """A user message."""
    return {"role": "user", "content": said}


def assistant(*parts: JsonObject) -> JsonObject:
    """An assistant message."""
    return {"role": "assistant", "content": list(parts)}


def tool_message(*parts: JsonObject) -> JsonObject:
    """A tool message."""
    return {"role": "tool", "content": list(parts)}


def call(call_id: str, name: str, given: JsonValue) -> JsonObject:
    """A tool call."""
    return {"type": "tool-call", "toolCallId": call_id, "toolName": name, "input": given}


def request(approval_id: str, call_id: str) -> JsonObject:
    """A request for an approval."""
    return {"type": "tool-approval-request", "approvalId": approval_id, "toolCallId": call_id}


def response(approval_id: str, *, approved: bool = True) -> JsonObject:
    """The answer to it."""
    return {"type": "tool-approval-response", "approvalId": approval_id, "approved": approved}


def result(call_id: str, name: str) -> JsonObject:
    """The result of a call."""
    output: JsonObject = {"type": "text", "value": "done before"}
    return {"type": "tool-result", "toolCallId": call_id, "toolName": name, "output": output}


def parts_of(message: JsonObject) -> list[JsonObject]:
    """The content of a message that has parts."""
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def changed(message: JsonObject, kind: str, **changes: JsonValue) -> JsonObject:
    """*message* with members of its parts of that kind changed; None takes one away."""
    parts = [{**part, **(changes if part.get("type") == kind else {})} for part in parts_of(message)]
    kept = [{name: value for name, value in part.items() if value is not None} for part in parts]
    return {**message, "content": list[JsonValue](kept)}
