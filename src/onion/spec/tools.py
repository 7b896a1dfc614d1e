"""Tool calls and their outcomes as the loop tells them: inputs parsed, outputs as Python values."""

from __future__ import annotations

import base64
from typing import ClassVar, Literal, TypeAlias

from onion.spec.base import JsonObject, JsonValue, ProviderMetadata, value


@value
class GeneratedFile:
    """A file that a model made; `base64` is its content."""

    media_type: str
    base64: str

    @property
    def data(self) -> bytes:
        """The content, decoded."""
        return base64.b64decode(self.base64)


@value
class FileOutput:
    """A file in the content of a step."""

    type: ClassVar[Literal["file"]] = "file"
    file: GeneratedFile
    provider_metadata: ProviderMetadata | None = None


@value
class ReasoningFileOutput:
    """A file that the model made while it reasoned, in the content of a step."""

    type: ClassVar[Literal["reasoning-file"]] = "reasoning-file"
    file: GeneratedFile
    provider_metadata: ProviderMetadata | None = None


@value
class TypedToolCall:
    """A tool call with its input parsed.

    Attributes:
        input: The parsed value; for invalid calls whatever could be made of the text.
        invalid: The call cannot run; `error` says why, and the model is told.
        title: The tool's title, for display.
        tool_metadata: The tool's own metadata.
    """

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call_id: str
    tool_name: str
    input: JsonValue
    provider_executed: bool | None = None
    dynamic: bool | None = None
    invalid: bool | None = None
    error: Exception | None = None
    title: str | None = None
    tool_metadata: JsonObject | None = None
    provider_metadata: ProviderMetadata | None = None


@value
class TypedToolResult:
    """What a tool gave back; `preliminary` for values that an async generator yielded on the way."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    tool_call_id: str
    tool_name: str
    input: JsonValue
    output: object
    provider_executed: bool | None = None
    dynamic: bool | None = None
    preliminary: bool | None = None
    title: str | None = None
    tool_metadata: JsonObject | None = None
    provider_metadata: ProviderMetadata | None = None


@value
class TypedToolError:
    """A tool failed, or its call was invalid; `error` is the exception, or the value that a provider reported."""

    type: ClassVar[Literal["tool-error"]] = "tool-error"
    tool_call_id: str
    tool_name: str
    input: JsonValue
    error: object
    provider_executed: bool | None = None
    dynamic: bool | None = None
    title: str | None = None
    tool_metadata: JsonObject | None = None
    provider_metadata: ProviderMetadata | None = None


@value
class ToolOutputDenied:
    """A call did not run because its approval was denied."""

    type: ClassVar[Literal["tool-output-denied"]] = "tool-output-denied"
    tool_call_id: str
    tool_name: str
    provider_executed: bool | None = None
    dynamic: bool | None = None


@value
class ToolApprovalRequestOutput:
    """The caller is asked, or was answered for by a policy, whether a call may run."""

    type: ClassVar[Literal["tool-approval-request"]] = "tool-approval-request"
    approval_id: str
    tool_call: TypedToolCall
    is_automatic: bool | None = None
    reason: str | None = None
    signature: str | None = None
    provider_metadata: ProviderMetadata | None = None


@value
class ToolApprovalResponseOutput:
    """The answer to an approval request, given by a policy."""

    type: ClassVar[Literal["tool-approval-response"]] = "tool-approval-response"
    approval_id: str
    tool_call: TypedToolCall
    approved: bool
    reason: str | None = None
    provider_executed: bool | None = None
    provider_metadata: ProviderMetadata | None = None


ToolOutcome: TypeAlias = TypedToolResult | TypedToolError
