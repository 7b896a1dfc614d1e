"""What a step said and did, as the messages that the next step's prompt continues with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.loop.reading import read_output
from onion.spec.content import Custom, Reasoning, Text
from onion.spec.prompt import (
    AssistantMessage,
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FileData,
    FilePart,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultOutput,
    ToolResultPart,
)
from onion.spec.tools import (
    FileOutput,
    ReasoningFileOutput,
    ToolApprovalRequestOutput,
    ToolApprovalResponseOutput,
    TypedToolCall,
    TypedToolError,
    TypedToolResult,
)

if TYPE_CHECKING:
    from onion.loop.tools import Tool
    from onion.spec.base import JsonValue, ProviderMetadata, ProviderOptions
    from onion.spec.prompt import AssistantPart, ToolMessagePart
    from onion.spec.step import ResponseMessage, StepContent

_OUTPUTS = get_args(ToolResultOutput)
_SAFE = 2**53
"""Whole numbers below it are the same in every JSON reader."""
_OUTCOMES = (TypedToolResult, TypedToolError)
"""A tuple, because a union is made anew each time it is asked."""


async def response_messages(content: Sequence[StepContent], tools: Mapping[str, Tool]) -> tuple[ResponseMessage, ...]:
    """The messages that a step adds: what the model said, then what its client tools gave.

    Args:
        content: The content of the step, without preliminary results; tool outcomes in the order of their calls.
        tools: By name, for the way they show their outputs.

    Returns:
        None, one or two messages. Sources and empty texts without metadata are left out; the metadata that is ours
        never enters.
    """
    said: list[AssistantPart] = []
    given: list[ToolMessagePart] = []
    for part in content:
        if isinstance(part, _OUTCOMES):
            outcome = await outcome_part(part, tools)
            (said if part.provider_executed else given).append(outcome)
        elif isinstance(part, ToolApprovalResponseOutput):
            given.extend(_response_parts(part))
        elif (spoken := _assistant_part(part)) is not None:
            said.append(spoken)
    messages: list[ResponseMessage] = []
    if said:
        messages.append(AssistantMessage(content=tuple(said)))
    if given:
        messages.append(ToolMessage(content=tuple(given)))
    return tuple(messages)


def options_from(metadata: ProviderMetadata | None) -> ProviderOptions | None:
    """What goes back to the provider of the *metadata* that it sent."""
    if metadata is None or "onion" not in metadata:
        return metadata
    return {name: member for name, member in metadata.items() if name != "onion"} or None


def _assistant_part(part: StepContent) -> AssistantPart | None:
    if isinstance(part, TypedToolCall):  # of which there may be many
        return call_part(part)
    match part:
        case Text(text="") if options_from(part.provider_metadata) is None:
            return None
        case Text():
            return TextPart(text=part.text, provider_options=options_from(part.provider_metadata))
        case Reasoning():
            return ReasoningPart(text=part.text, provider_options=options_from(part.provider_metadata))
        case FileOutput() | ReasoningFileOutput():
            kind = FilePart if isinstance(part, FileOutput) else ReasoningFilePart
            options = options_from(part.provider_metadata)
            return kind(media_type=part.file.media_type, data=FileData(data=part.file.base64), provider_options=options)
        case Custom():
            return CustomPart(kind=part.kind, provider_options=options_from(part.provider_metadata))
        case ToolApprovalRequestOutput():
            return request_part(part)
        case _:
            return None


def request_part(request: ToolApprovalRequestOutput) -> ToolApprovalRequestPart:
    """The request as a message has it."""
    return ToolApprovalRequestPart(
        approval_id=request.approval_id,
        tool_call_id=request.tool_call.tool_call_id,
        is_automatic=request.is_automatic,
        reason=request.reason,
        signature=request.signature,
        provider_options=_with_agent(request.provider_metadata),
    )


def _with_agent(metadata: ProviderMetadata | None) -> ProviderOptions | None:
    """As `options_from`, with what a waiting sub-run has to find again; it is taken out before a model is called."""
    if not metadata or "onion" not in metadata:
        return metadata
    options, kept = options_from(metadata), metadata["onion"].get("agent")
    return options if kept is None else {**(options or {}), "onion": {"agent": kept}}


def call_part(call: TypedToolCall) -> ToolCallPart:
    """The call as a message has it; an input that no provider could read back becomes ``{}``."""
    is_readable = not call.invalid or isinstance(call.input, Mapping | list)
    return ToolCallPart(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        input=call.input if is_readable else {},
        provider_executed=call.provider_executed,
        provider_options=_with_agent(call.provider_metadata),
    )


def _response_parts(part: ToolApprovalResponseOutput) -> list[ToolMessagePart]:
    call = part.tool_call
    response = ToolApprovalResponsePart(
        approval_id=part.approval_id,
        approved=part.approved,
        reason=part.reason,
        provider_executed=part.provider_executed,
        provider_options=options_from(part.provider_metadata),
    )
    is_denied_here = not part.approved and not part.provider_executed
    return [response, denied_part(call, part.reason)] if is_denied_here else [response]


def denied_part(call: TypedToolCall | ToolCallPart, reason: str | None) -> ToolResultPart:
    """What the model is told of a call that was not allowed to run."""
    denied = ExecutionDenied(reason=reason)
    return ToolResultPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, output=denied)


async def outcome_part(outcome: TypedToolResult | TypedToolError, tools: Mapping[str, Tool]) -> ToolResultPart:
    """What the model is told of the *outcome* of a call."""
    if isinstance(outcome, TypedToolError):
        output = error_output(outcome.error, provider_executed=bool(outcome.provider_executed))
    else:
        tool = tools.get(outcome.tool_name)
        is_plain = tool is None or tool.to_model_output is None
        output = _own_output(outcome) if is_plain else await model_output(tool, outcome)
    return ToolResultPart(
        tool_call_id=outcome.tool_call_id,
        tool_name=outcome.tool_name,
        output=output,
        provider_options=options_from(outcome.provider_metadata),
    )


async def model_output(tool: Tool | None, result: TypedToolResult) -> ToolResultOutput:
    """The output of a tool as the model is given it.

    What `to_model_output` says, if the tool has that; else text as text, and everything else as JSON: pydantic models,
    dataclasses, dates and sets too. A tool that gives a tool result output, such as `ContentOutput`, has its way.

    Raises:
        InvalidArgumentError: When `to_model_output` gives something else.
        TypeValidationError: When the output has no JSON form.
    """
    if tool is None or tool.to_model_output is None:
        return _own_output(result)
    shown = tool.to_model_output(result.output, result)
    if inspect.isawaitable(shown):
        shown = await shown
    try:
        return read_output(shown, "output")
    except TypeValidationError as error:
        msg = f"to_model_output of tool {result.tool_name!r} must give a tool result output: {error}"
        raise InvalidArgumentError(msg, parameter="to_model_output", value=shown) from error


def _own_output(result: TypedToolResult) -> ToolResultOutput:
    is_output = isinstance(result.output, _OUTPUTS)
    place = f"the output of tool {result.tool_name!r}"
    return read_output(result.output, place) if is_output else plain_output(result.output, place=place)


def plain_output(output: object, *, place: str) -> TextOutput | JsonOutput:
    """Text as text, everything else as JSON.

    Raises:
        TypeValidationError: When the output has no JSON form.
    """
    if isinstance(output, str):
        return TextOutput(value=output)
    return JsonOutput(value=_json_of(output, place))


def error_output(error: object, *, provider_executed: bool) -> ToolResultOutput:
    """A failure as the model is told of it: the provider's own as JSON, all others as text."""
    if provider_executed and not isinstance(error, BaseException):
        return ErrorJsonOutput(value=_json_of(error, "the error of a tool"))
    return ErrorTextOutput(value=error_text(error))


def error_text(error: object) -> str:
    """``NAME: MESSAGE``, or the name alone where there is no message; what is no exception as its JSON."""
    if isinstance(error, BaseException):
        name, message = type(error).__name__, _message_of(error)
        return f"{name}: {message}" if message.strip() else name
    if isinstance(error, str):
        return error
    from pydantic_core import to_json

    return to_json(error, serialize_unknown=True).decode()


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failure:  # noqa: BLE001 - an exception of a tool may be unable to say what it is
        return f"(its message cannot be read: {type(failure).__name__})"


def _json_of(output: object, place: str) -> JsonValue:
    if output is None or output is True or output is False:
        return output
    if type(output) is int and abs(output) < _SAFE:
        return output
    from pydantic_core import PydanticSerializationError, from_json, to_json

    try:  # through text: that alone turns NaN, which JSON lacks, into "NaN"
        json: JsonValue = from_json(to_json(output, inf_nan_mode="strings", bytes_mode="base64"))
    except (PydanticSerializationError, ValueError) as error:  # ValueError: a number of thousands of digits
        msg = f"{place} has no JSON form ({error}): give JSON, or set to_model_output"
        raise TypeValidationError(msg, value=output) from error
    return json
