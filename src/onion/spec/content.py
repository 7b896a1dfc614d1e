"""What a model generates, whole. All of these but text and reasoning also occur as stream parts."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Literal, TypeAlias

from onion.spec.base import JsonValue, ProviderMetadata, value
from onion.spec.prompt import FileContent


@value
class Text:
    """Text of the answer."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    provider_metadata: ProviderMetadata | None = None


@value
class Reasoning:
    """What the model thought; may be empty where only a signature was given."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str
    provider_metadata: ProviderMetadata | None = None


@value
class File:
    """A file that the model made."""

    type: ClassVar[Literal["file"]] = "file"
    media_type: str
    data: FileContent
    provider_metadata: ProviderMetadata | None = None


@value
class ReasoningFile:
    """A file that the model made while it reasoned."""

    type: ClassVar[Literal["reasoning-file"]] = "reasoning-file"
    media_type: str
    data: FileContent
    provider_metadata: ProviderMetadata | None = None


@value
class URLSource:
    """A web page that the answer rests on."""

    type: ClassVar[Literal["source"]] = "source"
    source_type: ClassVar[Literal["url"]] = "url"
    id: str
    url: str
    title: str | None = None
    provider_metadata: ProviderMetadata | None = None


@value
class DocumentSource:
    """A document that the answer rests on."""

    type: ClassVar[Literal["source"]] = "source"
    source_type: ClassVar[Literal["document"]] = "document"
    id: str
    media_type: str
    title: str
    filename: str | None = None
    provider_metadata: ProviderMetadata | None = None


Source: TypeAlias = URLSource | DocumentSource


@value
class Custom:
    """Content that only one provider knows; `kind` is ``provider.kind``."""

    type: ClassVar[Literal["custom"]] = "custom"
    kind: str
    provider_metadata: ProviderMetadata | None = None


@value
class ToolCall:
    """A tool call as the model wrote it: `input` is JSON text, valid or not.

    Attributes:
        provider_executed: The provider runs the tool itself; the loop must not.
        dynamic: The tool is not declared; its type is known only at run time.
        error: Set by a layer that failed to repair the call. In-process only: neither in JSON nor in equality.
    """

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call_id: str
    tool_name: str
    input: str
    provider_executed: bool | None = None
    dynamic: bool | None = None
    provider_metadata: ProviderMetadata | None = None
    error: Exception | None = field(default=None, compare=False, metadata={"json": False})


@value
class ToolResult:
    """The result of a tool that the provider ran itself; `result` is its JSON value."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    tool_call_id: str
    tool_name: str
    result: JsonValue
    is_error: bool | None = None
    preliminary: bool | None = None
    dynamic: bool | None = None
    provider_metadata: ProviderMetadata | None = None


@value
class ToolApprovalRequest:
    """The provider asks whether a tool that it runs itself may run."""

    type: ClassVar[Literal["tool-approval-request"]] = "tool-approval-request"
    approval_id: str
    tool_call_id: str
    provider_metadata: ProviderMetadata | None = None


OtherContent: TypeAlias = (
    File | ReasoningFile | URLSource | DocumentSource | Custom | ToolCall | ToolResult | ToolApprovalRequest
)
"""Content that a stream carries as one part."""

Content: TypeAlias = Text | Reasoning | OtherContent
