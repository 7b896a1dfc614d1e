"""The prompt: messages with their content parts, as a model is given them and as a history keeps them."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from onion.spec.base import JsonValue, ProviderOptions, value


@value
class FileData:
    """File content carried inline: raw bytes, or base64 text."""

    type: ClassVar[Literal["data"]] = "data"
    data: bytes | str


@value
class FileURL:
    """File content that lies behind a URL."""

    type: ClassVar[Literal["url"]] = "url"
    url: str


@value
class FileText:
    """File content as plain text."""

    type: ClassVar[Literal["text"]] = "text"
    text: str


@value
class FileReference:
    """A file that was uploaded before: the provider's own id for it, by provider name."""

    type: ClassVar[Literal["reference"]] = "reference"
    reference: JsonValue


FileContent: TypeAlias = FileData | FileURL | FileText | FileReference


@value
class TextPart:
    """Text in a message."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    provider_options: ProviderOptions | None = None


@value
class FilePart:
    """A file in a message; `media_type` may be a wildcard such as ``image/*``."""

    type: ClassVar[Literal["file"]] = "file"
    media_type: str
    data: FileContent
    filename: str | None = None
    provider_options: ProviderOptions | None = None


@value
class ReasoningPart:
    """Reasoning that goes back to the model that wrote it; its signature lies in the provider options."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str
    provider_options: ProviderOptions | None = None


@value
class ReasoningFilePart:
    """A file that a model made while it reasoned."""

    type: ClassVar[Literal["reasoning-file"]] = "reasoning-file"
    media_type: str
    data: FileContent
    provider_options: ProviderOptions | None = None


@value
class CustomPart:
    """Content that only one provider knows; `kind` is ``provider.kind``."""

    type: ClassVar[Literal["custom"]] = "custom"
    kind: str
    provider_options: ProviderOptions | None = None


@value
class ToolCallPart:
    """A tool call that a model made; `input` is the parsed value."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call_id: str
    tool_name: str
    input: JsonValue
    provider_executed: bool | None = None
    provider_options: ProviderOptions | None = None


@value
class TextOutput:
    """A tool result as text."""

    type: ClassVar[Literal["text"]] = "text"
    value: str
    provider_options: ProviderOptions | None = None


@value
class JsonOutput:
    """A tool result as JSON."""

    type: ClassVar[Literal["json"]] = "json"
    value: JsonValue
    provider_options: ProviderOptions | None = None


@value
class ExecutionDenied:
    """The tool did not run because it was not allowed to."""

    type: ClassVar[Literal["execution-denied"]] = "execution-denied"
    reason: str | None = None
    provider_options: ProviderOptions | None = None


@value
class ErrorTextOutput:
    """The tool failed; the text says how."""

    type: ClassVar[Literal["error-text"]] = "error-text"
    value: str
    provider_options: ProviderOptions | None = None


@value
class ErrorJsonOutput:
    """The tool failed; the value says how."""

    type: ClassVar[Literal["error-json"]] = "error-json"
    value: JsonValue
    provider_options: ProviderOptions | None = None


@value
class ContentOutput:
    """A tool result as content parts."""

    type: ClassVar[Literal["content"]] = "content"
    value: tuple[TextPart | FilePart | CustomPart, ...]


ToolResultOutput: TypeAlias = (
    TextOutput | JsonOutput | ExecutionDenied | ErrorTextOutput | ErrorJsonOutput | ContentOutput
)


@value
class ToolResultPart:
    """What a tool gave back for the call of the same id."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    tool_call_id: str
    tool_name: str
    output: ToolResultOutput
    provider_options: ProviderOptions | None = None


@value
class ToolApprovalRequestPart:
    """A question whether a call may run. Part of a history; the loop takes it out before a model is called."""

    type: ClassVar[Literal["tool-approval-request"]] = "tool-approval-request"
    approval_id: str
    tool_call_id: str
    is_automatic: bool | None = None
    reason: str | None = None
    signature: str | None = None
    provider_options: ProviderOptions | None = None


@value
class ToolApprovalResponsePart:
    """The answer to an approval request. A model sees it only for calls that the provider executes."""

    type: ClassVar[Literal["tool-approval-response"]] = "tool-approval-response"
    approval_id: str
    approved: bool
    reason: str | None = None
    provider_executed: bool | None = None
    provider_options: ProviderOptions | None = None


UserPart: TypeAlias = TextPart | FilePart
AssistantPart: TypeAlias = (
    TextPart
    | FilePart
    | ReasoningPart
    | ReasoningFilePart
    | CustomPart
    | ToolCallPart
    | ToolResultPart
    | ToolApprovalRequestPart
)
ToolMessagePart: TypeAlias = ToolResultPart | ToolApprovalResponsePart


@value
class SystemMessage:
    """Instructions to the model."""

    role: ClassVar[Literal["system"]] = "system"
    content: str
    provider_options: ProviderOptions | None = None


@value
class UserMessage:
    """What the user says or shows."""

    role: ClassVar[Literal["user"]] = "user"
    content: tuple[UserPart, ...]
    provider_options: ProviderOptions | None = None


@value
class AssistantMessage:
    """What the model said, thought and asked for."""

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: tuple[AssistantPart, ...]
    provider_options: ProviderOptions | None = None


@value
class ToolMessage:
    """What the tools gave back, and answers to approval requests."""

    role: ClassVar[Literal["tool"]] = "tool"
    content: tuple[ToolMessagePart, ...]
    provider_options: ProviderOptions | None = None


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
Prompt: TypeAlias = tuple[Message, ...]
