"""ToolLoopAgent: the loop's defaults in a bundle, to be called many times; no loop of its own."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeAlias

from onion.errors import InvalidArgumentError
from onion.loop.generate import generate, stream
from onion.loop.lifecycle import Callbacks
from onion.loop.output import DEFAULT_OUTPUT, Output, to_output
from onion.loop.prepare import Agent
from onion.loop.schema import schema_of
from onion.loop.settings import KNOWN_TO_AGENTS, LoopOptions, RunOptions, check_options
from onion.loop.sub_agents import first_messages, outputs
from onion.loop.tools import tool
from onion.spec.base import value

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import TypeVar

    from onion.loop.interrupt import TimeoutLimits
    from onion.loop.options import ToolOptions
    from onion.loop.prompt import MessageInput, PromptInput
    from onion.loop.results import GenerateTextResult
    from onion.loop.schema import Schema, SchemaSource
    from onion.loop.stream_result import StreamTextResult
    from onion.loop.tool_value import Function, Tool
    from onion.spec.model import LanguageModel
    from onion.spec.prompt import Message
    from onion.spec.step import StepResult

    # PEP 696 for type checkers only: an agent that is told nothing of them has an `object` context and a text output.
    ContextT = TypeVar("ContextT", default=object)
    OutputT = TypeVar("OutputT", default=str)
else:
    from typing import TypeVar

    ContextT = TypeVar("ContextT")
    OutputT = TypeVar("OutputT")

MAX_STEPS = 20
"""Steps of an agent that was not told when to stop."""

logger: logging.Logger = logging.getLogger("onion")


class CallOverrides(LoopOptions, total=False):
    """What `prepare_call` may change for one call: everything but the output."""

    model: str | LanguageModel
    prompt: PromptInput | None
    messages: Sequence[MessageInput] | None


@value
class CallPreparation:
    """What `prepare_call` is told before each call of an agent.

    Attributes:
        arguments: What the loop would be given: the agent's settings with those of the call.
        options: What the call gave as `options=`, validated by the agent's `call_options_schema`.
    """

    arguments: RunOptions
    options: object


PrepareCall: TypeAlias = Callable[[CallPreparation], CallOverrides | Awaitable[CallOverrides | None] | None]


class AgentCall(Callbacks, Generic[ContextT], total=False):
    """What one call of an agent is given; the callbacks are told beside the agent's own.

    Keys:
        prompt, messages: One of them.
        context, tools_context, timeout: As in `LoopOptions`; they take the place of the agent's.
    """

    prompt: PromptInput | None
    messages: Sequence[MessageInput] | None
    context: ContextT
    tools_context: Mapping[str, object] | None
    timeout: float | TimeoutLimits | None


def step_limit(steps: tuple[StepResult, ...]) -> bool:
    """Stop after `MAX_STEPS` steps, and say in the log that there was more to do."""
    if len(steps) < MAX_STEPS:
        return False
    logger.warning("the agent was stopped after %d steps with work left: give it stop_when=", MAX_STEPS)
    return True


@value
class Task:
    """What an agent that is a tool is given, if nothing else was said."""

    prompt: str


def _prompt_of(given: object) -> str:
    return given.prompt if isinstance(given, Task) else str(given)


class ToolLoopAgent(Generic[ContextT, OutputT]):
    """A model with tools and instructions, ready to be called.

    Args:
        model: What answers, or a string such as ``"openai:gpt-5"``.
        name: For telemetry.
        output: What the answers shall be; see `generate_text`.
        call_options_schema: What the `options=` of a call must look like.
        prepare_call: Asked before each call for what is to differ in it; plain or async.
        settings: See `LoopOptions`. It stops after 20 steps if `stop_when` is absent.

    Raises:
        TypeError: For a name that is no argument, or a missing model.
        InvalidArgumentError: For a setting that cannot be used, a `call_options_schema` that is no schema, or an
            `output` that is none.
    """

    def __init__(
        self,
        *,
        model: str | LanguageModel,
        name: str | None = None,
        output: Output[OutputT] | type[OutputT] | None = None,
        call_options_schema: SchemaSource | None = None,
        prepare_call: PrepareCall | None = None,
        **settings: Unpack[LoopOptions],
    ) -> None:
        check_options({"model": model, **settings}, function="ToolLoopAgent", known=KNOWN_TO_AGENTS)
        self.name = name
        self._output: Output[OutputT] = DEFAULT_OUTPUT if output is None else to_output(output)  # type: ignore[assignment]  # without `output=`, OutputT is str: see the TypeVar
        self._schema: Schema | None = (
            None if call_options_schema is None else schema_of(call_options_schema, parameter="call_options_schema")
        )
        self._prepare_call = prepare_call
        self._model = model
        self._settings = settings
        self._agent = Agent(name=name, stop_when=(step_limit,), callbacks=settings)

    async def generate(
        self, *, options: object = None, **call: Unpack[AgentCall[ContextT]]
    ) -> GenerateTextResult[OutputT]:
        """Run to the end; see `generate_text`.

        Args:
            options: For `prepare_call`; checked by the agent's `call_options_schema`.
            call: See `AgentCall`.
        """
        prepared = self._prepared(self._arguments(call), options)
        if isinstance(prepared, Awaitable):
            prepared = await prepared
        return await generate(self._output, prepared, agent=self._agent)

    def stream(self, *, options: object = None, **call: Unpack[AgentCall[ContextT]]) -> StreamTextResult[OutputT]:
        """Run as a stream; see `stream_text`. An async `prepare_call` runs at the first read.

        Args:
            options: For `prepare_call`; checked by the agent's `call_options_schema`.
            call: See `AgentCall`.
        """
        arguments = self._arguments(call)
        prepared = self._prepared(arguments, options)
        if isinstance(prepared, Awaitable):
            return stream(self._output, arguments, agent=self._agent, prepare=prepared)
        return stream(self._output, prepared, agent=self._agent)

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
        """This agent as a tool of another run.

        Each part of its full stream is a preliminary output, its own output is the output. Its run is counted in
        `usage_with_agents` and `agent_runs` of the outer result. What it asks approval for is asked by the outer run,
        under the id ``<id of the call>/<inner id>``; answering that resumes it. It is given the context that the tool
        is given.

        Args:
            name: What the model calls it.
            description: What it does, for the model.
            input_schema: What the model gives it; without it, an object with a text ``prompt``.
            prompt: Makes the agent's prompt of a validated input; needed with *input_schema*.
            title: What the tool is called in a user interface.
            needs_approval: As for any tool.
            to_model_output: As for any tool.

        Raises:
            InvalidArgumentError: For an input schema without a prompt, or one that is no schema.
        """
        if (input_schema is None) is not (prompt is None):
            msg = "input_schema and prompt go together: prompt makes the agent's prompt of such an input"
            raise InvalidArgumentError(msg, parameter="prompt", value=prompt)
        make = prompt or _prompt_of

        def start(messages: tuple[Message, ...], context: object) -> StreamTextResult[object]:
            arguments: RunOptions = {
                "model": self._model,
                **self._settings,
                "prompt": None,
                "messages": messages,
                "context": context,
            }
            return stream(self._output, arguments, agent=self._agent)

        def execute(given: object, options: ToolOptions[object]) -> AsyncIterator[object]:
            return outputs(
                lambda messages: start(messages, options.context), first_messages(make(given)), options, name=self.name
            )

        return tool(
            name=name,
            description=description,
            input_schema=schema_of(Task if input_schema is None else input_schema, parameter="input_schema"),
            execute=execute,
            title=title,
            needs_approval=needs_approval,
            to_model_output=to_model_output,
        )

    def _arguments(self, call: AgentCall[ContextT]) -> RunOptions:
        return {"model": self._model, **self._settings, **call}

    def _prepared(self, arguments: RunOptions, given: object) -> RunOptions | Awaitable[RunOptions]:
        options = given if self._schema is None else self._schema.validate_python(given)
        if self._prepare_call is None:
            if given is not None and self._schema is None:
                msg = "options= is for prepare_call or call_options_schema, and the agent has neither"
                raise InvalidArgumentError(msg, parameter="options", value=given)
            return arguments
        overrides = self._prepare_call(CallPreparation(arguments=arguments, options=options))
        return _later(arguments, overrides) if isinstance(overrides, Awaitable) else _with(arguments, overrides)

    def __repr__(self) -> str:
        return f"ToolLoopAgent(name={self.name!r}, model={self._model!r})"


def _with(arguments: RunOptions, overrides: CallOverrides | None) -> RunOptions:
    return arguments if overrides is None else {**arguments, **overrides}


async def _later(arguments: RunOptions, overrides: Awaitable[CallOverrides | None]) -> RunOptions:
    return _with(arguments, await overrides)
