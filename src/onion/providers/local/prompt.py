"""Messages as the local model understands them: text in three roles, tool calls and results written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from onion.errors import UnsupportedFunctionalityError
from onion.providers._json import dump_json
from onion.providers.local.tools import write_call
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FileData,
    FilePart,
    FileText,
    JsonOutput,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.spec.usage import CallWarning, UnsupportedWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec.base import JsonObject
    from onion.spec.prompt import AssistantPart, Prompt, ToolResultOutput

PROVIDER = "local"


def to_messages(
    prompt: Prompt, *, system: Sequence[str], prefill: str, warnings: list[CallWarning]
) -> list[JsonObject]:
    """The messages for the engine's chat template.

    Args:
        prompt: What the caller gave.
        system: What goes behind the system messages, as paragraphs.
        prefill: How the answer begins; the model goes on from there.
        warnings: Takes what had to be left out.

    Raises:
        UnsupportedFunctionalityError: For a file that is no text.
    """
    told = [message.content for message in prompt if isinstance(message, SystemMessage)]
    turns = _Turns()
    paragraphs = [paragraph for paragraph in (*told, *system) if paragraph]
    if paragraphs:
        turns.add("system", "\n\n".join(paragraphs))
    for message in prompt:
        match message:
            case SystemMessage():
                pass
            case UserMessage():
                turns.add("user", "\n".join(_said(part) for part in message.content))
            case AssistantMessage():
                turns.add("assistant", "\n".join(_assistant_texts(message.content, warnings)))
            case ToolMessage():
                for part in message.content:
                    if isinstance(part, ToolResultPart):
                        turns.add("user", write_result(part))
            case _:
                assert_never(message)
    if prefill:
        turns.add("assistant", prefill)
    return turns.messages()


def write_result(part: ToolResultPart) -> str:
    """A tool result as the user would tell it: a message of the role ``tool`` the model only repeats."""
    return f"The tool {part.tool_name} answered:\n{_output(part.output)}"


class _Turns:
    """Messages whose roles alternate, which many chat templates insist on."""

    def __init__(self) -> None:
        self._turns: list[tuple[str, list[str]]] = []

    def add(self, role: Literal["system", "user", "assistant"], text: str) -> None:
        if not text:
            return
        if self._turns and self._turns[-1][0] == role:
            self._turns[-1][1].append(text)
        else:
            self._turns.append((role, [text]))

    def messages(self) -> list[JsonObject]:
        return [{"role": role, "content": "\n".join(texts)} for role, texts in self._turns]


def _said(part: TextPart | FilePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part.data, FileText):
        return part.data.text
    if part.media_type.startswith("text/") and isinstance(part.data, FileData) and isinstance(part.data.data, bytes):
        return part.data.data.decode("utf-8", "replace")
    raise UnsupportedFunctionalityError.of(f"files of type {part.media_type}", provider=PROVIDER)


def _assistant_texts(parts: Sequence[AssistantPart], warnings: list[CallWarning]) -> list[str]:
    texts: list[str] = []
    for part in parts:
        match part:
            case TextPart():
                texts.append(part.text)
            case ToolCallPart() if not part.provider_executed:
                texts.append(write_call(part.tool_name, part.input))
            case _:
                warning = UnsupportedWarning(
                    feature=f"{part.type} parts of the assistant", details="the local model cannot read them; left out"
                )
                if warning not in warnings:
                    warnings.append(warning)
    return texts


def _output(output: ToolResultOutput) -> str:
    match output:
        case TextOutput():
            return output.value
        case ErrorTextOutput():
            return f"Error: {output.value}"
        case JsonOutput():
            return dump_json(output.value).decode()
        case ErrorJsonOutput():
            return f"Error: {dump_json(output.value).decode()}"
        case ExecutionDenied():
            return f"The tool was not allowed to run. {output.reason or ''}".rstrip()
        case ContentOutput():
            return "\n".join(_content(part) for part in output.value)
        case _:
            assert_never(output)


def _content(part: object) -> str:
    if isinstance(part, TextPart | FilePart):
        return _said(part)
    raise UnsupportedFunctionalityError.of("custom content of tool results", provider=PROVIDER)
