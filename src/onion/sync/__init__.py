"""The loop for programs that are not async: the same names, blocking.

Everything runs on one event loop in a background thread, in a copy of the caller's context, so it works inside of a
running event loop too, such as a notebook's. Nothing is implemented twice: these are doors to the async functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, overload

from onion.agent import ContextT
from onion.agent import OutputT as AgentOutputT
from onion.agent import ToolLoopAgent as AsyncAgent
from onion.loop.generate import generate as generate_async
from onion.loop.generate import stream as stream_async
from onion.loop.output import to_output
from onion.sync.stream import StreamTextResult
from onion.sync.worker import blocking

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Unpack

    from onion.agent import AgentCall, PrepareCall
    from onion.loop.output import Output
    from onion.loop.results import GenerateTextResult
    from onion.loop.schema import SchemaSource
    from onion.loop.settings import LoopOptions, RunOptions
    from onion.loop.tool_value import Function, Tool
    from onion.spec.model import LanguageModel

__all__ = ["StreamTextResult", "ToolLoopAgent", "generate_text", "stream_text"]

OutputT = TypeVar("OutputT")


@overload
def generate_text(*, output: None = None, **options: Unpack[RunOptions]) -> GenerateTextResult[str]: ...
@overload
def generate_text(
    *, output: Output[OutputT] | type[OutputT], **options: Unpack[RunOptions]
) -> GenerateTextResult[OutputT]: ...
def generate_text(
    *, output: Output[OutputT] | type[OutputT] | None = None, **options: Unpack[RunOptions]
) -> GenerateTextResult[str] | GenerateTextResult[OutputT]:
    """`onion.generate_text`, blocking."""
    if output is None:
        return blocking(lambda: generate_async(to_output(None), options))
    return blocking(lambda: generate_async(to_output(output), options))


@overload
def stream_text(*, output: None = None, **options: Unpack[RunOptions]) -> StreamTextResult[str]: ...
@overload
def stream_text(
    *, output: Output[OutputT] | type[OutputT], **options: Unpack[RunOptions]
) -> StreamTextResult[OutputT]: ...
def stream_text(
    *, output: Output[OutputT] | type[OutputT] | None = None, **options: Unpack[RunOptions]
) -> StreamTextResult[str] | StreamTextResult[OutputT]:
    """`onion.stream_text`, blocking."""
    if output is None:
        return StreamTextResult(stream_async(to_output(None), options))
    return StreamTextResult(stream_async(to_output(output), options))


class ToolLoopAgent(Generic[ContextT, AgentOutputT]):
    """`onion.ToolLoopAgent`, blocking. Takes the same arguments."""

    def __init__(
        self,
        *,
        model: str | LanguageModel,
        name: str | None = None,
        output: Output[AgentOutputT] | type[AgentOutputT] | None = None,
        call_options_schema: SchemaSource | None = None,
        prepare_call: PrepareCall | None = None,
        **settings: Unpack[LoopOptions],
    ) -> None:
        self._async = AsyncAgent[ContextT, AgentOutputT](
            model=model,
            name=name,
            output=output,
            call_options_schema=call_options_schema,
            prepare_call=prepare_call,
            **settings,
        )

    def generate(
        self, *, options: object = None, **call: Unpack[AgentCall[ContextT]]
    ) -> GenerateTextResult[AgentOutputT]:
        """Run to the end."""
        return blocking(lambda: self._async.generate(options=options, **call))

    def stream(self, *, options: object = None, **call: Unpack[AgentCall[ContextT]]) -> StreamTextResult[AgentOutputT]:
        """Run as a stream."""
        return StreamTextResult(self._async.stream(options=options, **call))

    def as_tool(
        self,
        name: str,
        description: str,
        *,
        input_schema: SchemaSource | None = None,
        prompt: Callable[[object], str] | None = None,
        title: str | None = None,
        needs_approval: bool | Callable[..., bool | Awaitable[bool]] = False,
        to_model_output: Function | None = None,
    ) -> Tool:
        """This agent as a tool of another run."""
        return self._async.as_tool(
            name,
            description,
            input_schema=input_schema,
            prompt=prompt,
            title=title,
            needs_approval=needs_approval,
            to_model_output=to_model_output,
        )

    @property
    def name(self) -> str | None:
        """For telemetry."""
        return self._async.name

    def __repr__(self) -> str:
        return repr(self._async)
