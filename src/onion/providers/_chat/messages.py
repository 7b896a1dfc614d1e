"""The prompt as messages of the chat format."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from onion.errors import UnsupportedFunctionalityError
from onion.providers._chat.assistant import OWN_KEYS, assistant_message
from onion.providers._chat.files import file_part
from onion.providers._json import NOTHING
from onion.providers._tooling import output_text
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    CustomPart,
    FilePart,
    SystemMessage,
    TextPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CallWarning, CompatibilityWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.providers._chat.dialect import ChatDialect
    from onion.spec.base import JsonObject, JsonValue, ProviderOptions
    from onion.spec.prompt import Message, Prompt

_DENIED = "The tool did not run: it was not allowed to."


def to_messages(
    prompt: Prompt, dialect: ChatDialect, *, system_role: str = "system"
) -> tuple[list[JsonValue], list[CallWarning]]:
    """The messages for *prompt*, and warnings of what could not go along or went in another form.

    Args:
        prompt: System messages stay where they are: their place has a meaning.
        dialect: The server's form.
        system_role: ``system`` or ``developer``; ``remove`` leaves system messages out.

    Raises:
        UnsupportedFunctionalityError: When a user's part has no form here.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    return _Conversion(dialect, system_role).run(prompt)


class _Conversion:
    def __init__(self, dialect: ChatDialect, system_role: str) -> None:
        self._dialect = dialect
        self._system_role = system_role
        self._messages: list[JsonValue] = []
        self._warnings: list[CallWarning] = []
        self._shown_later: list[JsonValue] = []

    def run(self, prompt: Prompt) -> tuple[list[JsonValue], list[CallWarning]]:
        for message in prompt:
            if not isinstance(message, ToolMessage):
                self._show_files()
            self._add(message)
        self._show_files()
        return self._messages, self._warnings

    def _add(self, message: Message) -> None:
        match message:
            case SystemMessage():
                self._add_system(message)
            case UserMessage():
                self._add_user(message)
            case AssistantMessage():
                converted = assistant_message(message, self._dialect, self._warnings)
                if converted is not None:
                    self._messages.append(converted)
            case ToolMessage():
                for part in message.content:
                    if isinstance(part, ToolResultPart):
                        self._add_result(part)
            case _:
                assert_never(message)

    def _add_system(self, message: SystemMessage) -> None:
        if self._system_role == "remove":
            self._warnings.append(CompatibilityWarning(feature="system messages", details="left out, as asked"))
            return
        options = dict(self._options(message.provider_options))
        content: JsonValue = message.content
        if "cache_control" in options:  # belongs to a part, and so wants the content as a list
            content = [{"type": "text", "text": message.content, "cache_control": options.pop("cache_control")}]
        self._messages.append({"role": self._system_role, "content": content, **options})

    def _add_user(self, message: UserMessage) -> None:
        parts = [part for part in message.content if not (isinstance(part, TextPart) and part.text == "")]
        only = parts[0] if len(parts) == 1 else None
        content: JsonValue = self._content(parts) or ""
        if isinstance(only, TextPart) and not self._options(only.provider_options):
            content = only.text  # the form that every server knows
        self._messages.append({"role": "user", "content": content, **self._options(message.provider_options)})

    def _content(self, parts: Sequence[TextPart | FilePart]) -> list[JsonValue]:
        return [self._part(part, number) for number, part in enumerate(parts)]

    def _part(self, part: TextPart | FilePart, number: int) -> JsonValue:
        options = dict(self._options(part.provider_options))
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text, **options}
        converted = file_part(part, self._dialect, number=number)
        image = converted.get("image_url")
        detail = options.pop("image_detail", None)
        if detail is not None and isinstance(image, dict):
            image["detail"] = detail
        return {**converted, **options}

    def _add_result(self, part: ToolResultPart) -> None:
        output = part.output
        text = self._with_files(part, output) if isinstance(output, ContentOutput) else output_text(output)
        options = self._options(part.provider_options)
        own = {key: found for key, found in options.items() if key not in OWN_KEYS}  # those are of the call
        self._messages.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": text, **own})

    def _with_files(self, part: ToolResultPart, output: ContentOutput) -> str:
        """The texts of the result. Its files follow in a user message: a tool message takes text only."""
        lines: list[str] = []
        files: list[FilePart] = []
        for item in output.value:
            if isinstance(item, TextPart):
                lines.append(item.text)
            elif isinstance(item, FilePart):
                files.append(item)
                lines.append(f"[file {len(files)} of this result is in the next user message]")
            else:
                raise _unsupported(item, self._dialect)
        if files:
            feature = "files in tool results"
            details = "sent in a user message after the results"
            self._warnings.append(CompatibilityWarning(feature=feature, details=details))
            label = f"Files of the result of {part.tool_name} ({part.tool_call_id}):"
            self._shown_later += [{"type": "text", "text": label}, *self._content(files)]
        return "\n".join(lines)

    def _show_files(self) -> None:
        if self._shown_later:
            self._messages.append({"role": "user", "content": self._shown_later})
            self._shown_later = []

    def _options(self, options: ProviderOptions | None) -> JsonObject:
        return (options or {}).get(self._dialect.name, NOTHING)


def _unsupported(part: CustomPart, dialect: ChatDialect) -> UnsupportedFunctionalityError:
    return UnsupportedFunctionalityError.of(f"{part.kind} parts in tool results", provider=dialect.name)
