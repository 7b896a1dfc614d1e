"""What the loop makes of a model's content, as it arrives."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onion.errors import ToolCallNotFoundForApprovalError, UnsupportedFunctionalityError
from onion.loop.options import ToolOptions
from onion.loop.settling import settle_call
from onion.spec.content import (
    Custom,
    DocumentSource,
    File,
    ReasoningFile,
    ToolApprovalRequest,
    ToolCall,
    ToolResult,
    URLSource,
)
from onion.spec.full_stream import ToolInputStartOutput
from onion.spec.parts import ToolInputDelta, ToolInputEnd, ToolInputStart
from onion.spec.prompt import FileData, FileText
from onion.spec.tools import (
    FileOutput,
    GeneratedFile,
    ReasoningFileOutput,
    ToolApprovalRequestOutput,
    TypedToolCall,
    TypedToolError,
    TypedToolResult,
)

if TYPE_CHECKING:
    from onion.loop.state import Run, Step
    from onion.loop.tools import Tool
    from onion.spec.content import Content
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.parts import StreamPart


async def arrive(run: Run, step: Step, part: StreamPart | Content) -> Sequence[FullStreamPart]:
    """Take a part into the step; what the full stream shows of it. Text and reasoning are not looked at.

    Raises:
        ToolCallNotFoundForApprovalError: For a provider's question about a call that nobody made.
        Exception: What an approval policy raised.
    """
    match part:
        case ToolInputStart() | ToolInputDelta() | ToolInputEnd():
            return await _input_part(run, step, part)
        case ToolCall():
            return await settle_call(run, step, part)
        case ToolResult():
            result = _provider_result(step, part)
            if not part.preliminary:
                step.others.append(result)
            return (result,)
        case ToolApprovalRequest():
            request = ToolApprovalRequestOutput(
                approval_id=part.approval_id,
                tool_call=_call_of(run, step, part),
                provider_metadata=part.provider_metadata,
            )
            step.others.append(request)
            return (request,)
        case File() | ReasoningFile():
            kind = FileOutput if isinstance(part, File) else ReasoningFileOutput
            file = kind(file=_generated(part), provider_metadata=part.provider_metadata)
            step.others.append(file)
            return (file,)
        case URLSource() | DocumentSource() | Custom():
            step.others.append(part)
            return (part,)
        case _:
            return ()


async def _input_part(
    run: Run, step: Step, part: ToolInputStart | ToolInputDelta | ToolInputEnd
) -> Sequence[FullStreamPart]:
    """Pieces of a tool's input; the tool may listen to them."""
    if isinstance(part, ToolInputStart):
        if step.tool_choice.type == "none" and not part.provider_executed:
            return ()
        tool = step.inputs[part.id] = step.tools.get(part.tool_name)
        if tool is not None and tool.on_input_start is not None:
            await run.told.call(tool.on_input_start, _hearing(run, step, part.id, tool))
        return (
            ToolInputStartOutput(
                id=part.id,
                tool_name=part.tool_name,
                provider_executed=part.provider_executed,
                dynamic=part.dynamic or (True if tool is not None and tool.is_dynamic else None),
                title=part.title or (None if tool is None else tool.title),
                tool_metadata=None if tool is None else tool.metadata,
                provider_metadata=part.provider_metadata,
            ),
        )
    if part.id not in step.inputs and step.tool_choice.type == "none":
        return ()
    tool = step.inputs.get(part.id)
    if isinstance(part, ToolInputDelta) and tool is not None and tool.on_input_delta is not None:
        await run.told.call(tool.on_input_delta, part.delta, _hearing(run, step, part.id, tool))
    return (part,)


def _hearing(run: Run, step: Step, tool_call_id: str, tool: Tool) -> ToolOptions[object]:
    """What a tool is told while its input is still being written."""
    contexts = run.options.get("tools_context") or {}
    context = contexts.get(tool.name, run.info.context)
    return ToolOptions(tool_call_id=tool_call_id, messages=step.messages, context=context, run=step.info)


def _known_call(step: Step, tool_call_id: str) -> TypedToolCall | None:
    return next(
        (part for part in step.others if isinstance(part, TypedToolCall) and part.tool_call_id == tool_call_id), None
    )


def _call_of(run: Run, step: Step, part: ToolApprovalRequest) -> TypedToolCall:
    earlier = (call for done in run.steps for call in done.tool_calls if call.tool_call_id == part.tool_call_id)
    found = _known_call(step, part.tool_call_id) or next(earlier, None)
    if found is None:
        msg = (
            f"the provider asks whether call {part.tool_call_id!r} may run (approval {part.approval_id!r}), "
            "but it made no such call"
        )
        raise ToolCallNotFoundForApprovalError(msg, tool_call_id=part.tool_call_id, approval_id=part.approval_id)
    return found


def _provider_result(step: Step, part: ToolResult) -> TypedToolResult | TypedToolError:
    """The result with the input of its call, if the call was made in this step."""
    call = _known_call(step, part.tool_call_id)
    tool_input = None if call is None else call.input
    tool_metadata = None if call is None else call.tool_metadata
    if part.is_error:
        return TypedToolError(
            tool_call_id=part.tool_call_id,
            tool_name=part.tool_name,
            input=tool_input,
            error=part.result,
            provider_executed=True,
            dynamic=part.dynamic,
            tool_metadata=tool_metadata,
            provider_metadata=part.provider_metadata,
        )
    return TypedToolResult(
        tool_call_id=part.tool_call_id,
        tool_name=part.tool_name,
        input=tool_input,
        output=part.result,
        provider_executed=True,
        dynamic=part.dynamic,
        preliminary=part.preliminary,
        tool_metadata=tool_metadata,
        provider_metadata=part.provider_metadata,
    )


def _generated(part: File | ReasoningFile) -> GeneratedFile:
    content = part.data
    if isinstance(content, FileData):
        data = content.data
    elif isinstance(content, FileText):
        data = content.text.encode()
    else:
        msg = f"the model made a {part.media_type} file and gives it by {content.type}: only its content can be kept"
        raise UnsupportedFunctionalityError(msg, functionality=f"generated files by {content.type}")
    encoded = data if isinstance(data, str) else base64.b64encode(data).decode()
    return GeneratedFile(media_type=part.media_type, base64=encoded)
