"""The prompt as input items of the Responses API."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from onion.providers._json import NOTHING, text_in
from onion.providers.openai_responses.echo import Echo
from onion.providers.openai_responses.files import content_parts, own_options
from onion.providers.openai_responses.items import ITEM_ID
from onion.providers.openai_responses.outputs import output_item
from onion.spec.prompt import (
    AssistantMessage,
    SystemMessage,
    TextPart,
    ToolApprovalResponsePart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CallWarning, CompatibilityWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import Message, Prompt


def to_input(
    prompt: Prompt,
    name: str,
    *,
    system_role: str,
    is_stored: bool,
    is_continued: bool,
    call_types: Mapping[str, str],
    warnings: list[CallWarning],
) -> list[JsonValue]:
    """The input items for *prompt*.

    Args:
        prompt: System messages stay where they are: their place has a meaning.
        name: Key of the provider options.
        system_role: ``system`` or ``developer``; ``remove`` leaves system messages out.
        is_stored: The server keeps what it answered.
        is_continued: The server holds the conversation up to its own last answer: only what follows is sent.
        call_types: By name of a tool, the type of the items that call it, where that is not ``function_call``.
        warnings: Where it is said what could not go along, or went in another form.

    Raises:
        UnsupportedFunctionalityError: When a part has no form here.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    conversion = _Conversion(
        name, system_role, Echo(name, is_stored=is_stored, call_types=call_types, warnings=warnings)
    )
    known = len(warnings)
    for message in prompt:
        conversion.add(message)
        if is_continued and _is_of_server(message, name):
            conversion.items.clear()
            del warnings[known:]
    if conversion.is_system_removed:
        warnings.append(CompatibilityWarning(feature="system messages", details="left out, as asked"))
    return conversion.items


def _is_of_server(message: Message, name: str) -> bool:
    """Whether the server itself made the message."""
    return isinstance(message, AssistantMessage) and any(
        text_in((part.provider_options or {}).get(name, NOTHING), ITEM_ID) for part in message.content
    )


class _Conversion:
    def __init__(self, name: str, system_role: str, echo: Echo) -> None:
        self.items: list[JsonValue] = []
        self.is_system_removed = False
        self._name = name
        self._system_role = system_role
        self._echo = echo

    def add(self, message: Message) -> None:
        match message:
            case SystemMessage():
                self._add_system(message)
            case UserMessage():
                self._add_user(message)
            case AssistantMessage():
                self.items += self._echo.items(message)
            case ToolMessage():
                for part in message.content:
                    self.items.append(self._outcome(part))
            case _:
                assert_never(message)

    def _add_system(self, message: SystemMessage) -> None:
        if self._system_role == "remove":
            self.is_system_removed = True
            return
        options = own_options(message.provider_options, self._name)
        self.items.append({"role": self._system_role, "content": message.content, **options})

    def _add_user(self, message: UserMessage) -> None:
        parts = [part for part in message.content if not (isinstance(part, TextPart) and part.text == "")]
        only = parts[0] if len(parts) == 1 else None
        content: JsonValue = content_parts(parts, self._name) or ""
        if isinstance(only, TextPart) and not own_options(only.provider_options, self._name):
            content = only.text  # the form that every server knows
        options = own_options(message.provider_options, self._name)
        self.items.append({"role": "user", "content": content, **options})

    def _outcome(self, part: ToolResultPart | ToolApprovalResponsePart) -> JsonObject:
        if isinstance(part, ToolResultPart):
            return output_item(part, self._echo.types_of_calls.get(part.tool_call_id, "function_call"), self._name)
        answer: dict[str, JsonValue] = {
            "type": "mcp_approval_response",
            "approval_request_id": part.approval_id,
            "approve": part.approved,
        }
        return answer | {"reason": part.reason} if part.reason else answer
