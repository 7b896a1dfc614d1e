"""What a tool is told beside its input."""

from __future__ import annotations

from typing import Generic, TypeVar

from onion.spec.base import value
from onion.spec.call import RunInfo
from onion.spec.prompt import Message

ContextT_co = TypeVar("ContextT_co", covariant=True)


@value
class ToolOptions(Generic[ContextT_co]):
    """What one execution of a tool may want to know. A parameter with this type is not part of the tool's schema.

    Attributes:
        tool_call_id: The call that is being answered.
        messages: What the model was sent in this step, without instructions.
        context: What the caller gave for this tool in `tools_context`, else in `context`.
        run: The run, its step and the run above it; None outside of a run.
    """

    tool_call_id: str
    messages: tuple[Message, ...] = ()
    context: ContextT_co
    run: RunInfo | None = None
