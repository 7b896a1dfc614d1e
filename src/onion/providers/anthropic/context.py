"""What reading an answer needs to know of the call: names of tools, calls that still wait for results, documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers.anthropic.request import uses_json_tool
from onion.providers.anthropic.sources import Document, documents_in
from onion.providers.anthropic.toolbox import JSON_TOOL, Toolbox
from onion.spec.base import value
from onion.spec.prompt import AssistantMessage, ToolCallPart

if TYPE_CHECKING:
    from onion.providers.anthropic.traits import ModelTraits
    from onion.spec.call import CallOptions


@value
class AnswerContext:
    """What is known of a call when its answer comes.

    Attributes:
        call_names: The caller's names of the tools that the provider executed before, by the ids of the calls.
        is_json_tool: The input of the tool for JSON is the answer.
    """

    toolbox: Toolbox
    call_names: dict[str, str]
    documents: tuple[Document, ...]
    is_json_tool: bool


def context_of(params: CallOptions, traits: ModelTraits) -> AnswerContext:
    """The context of the answer to the call *params*."""
    toolbox = Toolbox(params.tools)
    calls = [
        part
        for message in params.prompt
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolCallPart) and part.provider_executed
    ]
    return AnswerContext(
        toolbox=toolbox,
        call_names={part.tool_call_id: part.tool_name for part in calls},
        documents=documents_in(params.prompt),
        is_json_tool=uses_json_tool(params, traits) and not toolbox.knows(JSON_TOOL),
    )
