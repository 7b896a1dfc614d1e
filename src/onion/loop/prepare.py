"""Before anything is sent: the run from the caller's arguments, and each step from the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onion.errors import InvalidArgumentError
from onion.loop.attachments import Attachments
from onion.loop.interrupt import Control, read_limits
from onion.loop.lifecycle import Lifecycle
from onion.loop.overrides import ask_overrides, call_settings, step_settings
from onion.loop.prompt import PromptWriter, read_instructions, read_prompt
from onion.loop.settings import check_options, read_tool_choice
from onion.loop.state import Run, Step, current_run, new_id
from onion.loop.stop import DEFAULT_STOP, StopCondition, read_conditions
from onion.loop.toolset import active, definitions, tool_set, validate_context
from onion.middleware.retry import Retry
from onion.registry import resolve_model
from onion.spec.base import value
from onion.spec.call import CallOptions, RunInfo
from onion.spec.step import ModelInfo
from onion.wrap import Middleware, has_model_hooks, unwrap, wrap_language_model

if TYPE_CHECKING:
    from onion.loop.output import Output
    from onion.loop.output_reader import OutputReader
    from onion.loop.settings import RunOptions, StepOverrides
    from onion.loop.tools import Tool
    from onion.spec.model import LanguageModel

DEFAULT_MAX_RETRIES = 2
_DEFAULT_RETRY = Retry(DEFAULT_MAX_RETRIES)


@value
class Agent:
    """What a run knows of the agent that it belongs to."""

    name: str | None
    stop_when: tuple[StopCondition, ...]
    callbacks: Mapping[str, object]


def start_run(
    options: RunOptions,
    output: Output[object],
    reader: OutputReader[object],
    *,
    is_streaming: bool,
    agent: Agent | None = None,
    control: Control | None = None,
) -> Run:
    """The run that the arguments describe; nothing is sent yet.

    Raises:
        TypeError: For a name that is no argument, or a missing model.
        OnionError: For an argument that cannot be used; the message names it.
    """
    check_options(options, function="stream_text" if is_streaming else "generate_text")
    model = resolve_model(options["model"])
    layers = _layers(options.get("middleware"))
    tools = tool_set(options.get("tools"))
    contexts = _contexts(tools, options)
    instructions = options.get("instructions")
    messages = read_prompt(
        prompt=options.get("prompt"),
        messages=options.get("messages"),
        allow_system_in_messages=options.get("allow_system_in_messages", False),
    )
    control = control or Control()
    options = {**options, "model": model, "tools_context": contexts}
    read_tool_choice(options.get("tool_choice"))
    return Run(
        options=options,
        is_streaming=is_streaming,
        control=control,
        limits=read_limits(options.get("timeout")),
        told=Lifecycle(layers, (options,) if agent is None else (agent.callbacks, options), control),
        info=RunInfo(
            run_id=new_id(),
            parent=current_run.get(),
            agent=None if agent is None else agent.name,
            context=options.get("context"),
        ),
        layers=layers,
        shorthand=_shorthand(options, layers, model),
        stop_when=read_conditions(options.get("stop_when"), DEFAULT_STOP if agent is None else agent.stop_when),
        settings=call_settings(options, is_agent=agent is not None),
        tools=tools,
        reader=reader,
        response_format=output.response_format,
        writer=PromptWriter(),
        attachments=Attachments(),
        given_instructions=instructions,
        instructions=read_instructions(instructions),
        initial_messages=messages,
        messages=messages,
    )


def _contexts(tools: Mapping[str, Tool], options: RunOptions) -> Mapping[str, object]:
    """What each tool sees that does not see the run's context as it is."""
    given = options.get("tools_context") or {}
    checked = {
        name: validate_context(tool, given.get(name, options.get("context")))
        for name, tool in tools.items()
        if tool.context_schema is not None
    }
    return {**given, **checked} if checked else given


def _layers(middleware: Middleware | Sequence[Middleware] | None) -> tuple[Middleware, ...]:
    if middleware is None:
        return ()
    given = (middleware,) if isinstance(middleware, Middleware) else middleware
    return tuple([layer for layer in map(_layer, given) if not layer.is_idle()])


def _layer(given: object) -> Middleware:
    if isinstance(given, Middleware):
        return given
    msg = f"middleware must be made of Middleware objects, got {given!r}: subclass Middleware or use onion.layer"
    raise InvalidArgumentError(msg, parameter="middleware", value=given)


def _shorthand(options: RunOptions, layers: tuple[Middleware, ...], model: LanguageModel) -> tuple[Middleware, ...]:
    """The layers that `repair_tool_call` and `max_retries` stand for."""
    shorthand: list[Middleware] = []
    if (repair := options.get("repair_tool_call")) is not None:
        from onion.middleware.tool_call_repair import ToolCallRepair

        shorthand.append(ToolCallRepair(repair=repair, mechanical=False, ask=False))
    retries = options.get("max_retries")
    if any(isinstance(layer, Retry) for layer in (*layers, *unwrap(model)[0])):
        if retries:
            msg = f"max_retries={retries} is given, but the stack holds a Retry layer already: give one of them"
            raise InvalidArgumentError(msg, parameter="max_retries", value=retries)
    elif retries != 0:
        shorthand.append(_DEFAULT_RETRY if retries is None else Retry(retries))
    return tuple(shorthand)


def bind(run: Run, given: str | LanguageModel) -> tuple[LanguageModel, ModelInfo]:
    """*given* with the layers of the run around it, and what it is called; the same objects each time."""
    original = resolve_model(given)
    known = run.models.get(id(original))
    if known is None:
        layers = [*(layer for layer in run.layers if has_model_hooks(layer)), *run.shorthand]
        model = wrap_language_model(original, layers) if layers else original
        known = original, model, ModelInfo(provider=model.provider, model_id=model.model_id)
        run.models[id(original)] = known
    return known[1], known[2]


async def prepare_step(run: Run) -> Step:
    """The next step, ready to be sent.

    Raises:
        OnionError: For messages that cannot be sent.
        Exception: What `prepare_step`, or a download, raised.
    """
    model, model_info = bind(run, run.options["model"])
    prepare = run.options.get("prepare_step")
    overrides: StepOverrides = {} if prepare is None else await ask_overrides(run, model, prepare)
    if (other := overrides.get("model")) is not None:
        model, model_info = bind(run, other)
    chosen = overrides.get("tool_choice")
    tool_choice = read_tool_choice(run.options.get("tool_choice") if chosen is None else chosen)
    names, order = overrides.get("active_tools"), overrides.get("tool_order")
    tools = active(run.tools, run.options.get("active_tools") if names is None else names)
    prompt = run.writer.write(run.instructions, run.messages)
    if run.writer.attachments.are_in(prompt):
        prompt = await run.writer.attachments.fill(prompt, model.supported_urls, run.options.get("download"))
    info = RunInfo(
        run_id=run.info.run_id,
        parent=run.info.parent,
        agent=run.info.agent,
        step_number=len(run.steps),
        messages=run.messages,
        context=run.info.context,
        state=run.info.state,
    )
    include = run.options.get("include") or {}
    params = CallOptions(
        prompt=prompt,
        tools=definitions(tools, run.options.get("tool_order") if order is None else order),
        tool_choice=tool_choice,
        response_format=run.response_format,
        include_raw_chunks=True if run.is_streaming and include.get("raw_chunks") else None,
        run=info,
        **(step_settings(run, overrides) if overrides else run.settings),
    )
    return Step(
        number=len(run.steps),
        info=info,
        model=model,
        model_info=model_info,
        tools=tools,
        messages=run.messages,
        tool_choice=tool_choice,
        params=params,
    )
