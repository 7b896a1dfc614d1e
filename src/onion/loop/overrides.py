"""What a step is sent beside its messages: the settings of the run, with what `prepare_step` changes for the step."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, TypeGuard

from onion.errors import InvalidArgumentError
from onion.loop.prompt import read_instructions, read_messages
from onion.loop.settings import StepOverrides, StepPreparation, StepSettings, check_settings

if TYPE_CHECKING:
    from onion.loop.settings import PrepareStep, RunOptions
    from onion.loop.state import Run
    from onion.spec.base import JsonValue, ProviderOptions
    from onion.spec.call import CallSettings
    from onion.spec.model import LanguageModel

AGENT_USER_AGENT = "onion-agent/tool-loop"
_OVERRIDES = tuple(StepOverrides.__annotations__)
_SETTINGS = (
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_k",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "reasoning",
)


def _given(options: StepSettings) -> CallSettings:
    """The settings of a call among *options*, without those that are None."""
    settings: CallSettings = {name: given for name in _SETTINGS if (given := options.get(name)) is not None}  # type: ignore[assignment]  # the names are those of CallSettings
    if (stop_sequences := options.get("stop_sequences")) is not None:
        settings["stop_sequences"] = tuple(stop_sequences)
    if headers := options.get("headers"):
        settings["headers"] = headers
    if (provider_options := options.get("provider_options")) is not None:
        settings["provider_options"] = provider_options
    return settings


def call_settings(options: RunOptions, *, is_agent: bool) -> CallSettings:
    """The settings of every call of a run; an agent says in the User-Agent that it asks, after the user's own words."""
    settings = _given(options)
    if is_agent:
        headers = dict(settings.get("headers") or {})
        name = next((name for name in headers if name.lower() == "user-agent"), "user-agent")
        headers[name] = f"{headers[name]} {AGENT_USER_AGENT}" if name in headers else AGENT_USER_AGENT
        settings["headers"] = headers
    return settings


def step_settings(run: Run, overrides: StepOverrides) -> CallSettings:
    """The settings of one step's call."""
    settings = run.settings | _given(overrides)
    if (over := overrides.get("provider_options")) is not None:
        settings["provider_options"] = _merged(run.settings.get("provider_options") or {}, over)
    return settings


async def ask_overrides(run: Run, model: LanguageModel, prepare: PrepareStep) -> StepOverrides:
    """What `prepare_step` changes for the next step; messages and instructions are changed in the run at once.

    Raises:
        OnionError: When it gives something that cannot be used.
        Exception: What it raised.
    """
    overrides = prepare(
        StepPreparation(
            step_number=len(run.steps),
            model=model,
            steps=tuple(run.steps),
            messages=run.messages,
            instructions=run.given_instructions,
            initial_messages=run.initial_messages,
            initial_instructions=run.options.get("instructions"),
            response_messages=tuple(run.response_messages),
            run=run.info,
        )
    )
    if isinstance(overrides, Awaitable):
        overrides = await overrides
    run.control.check()
    if overrides is None:
        return {}
    if any(name not in _OVERRIDES for name in overrides):
        msg = f"prepare_step must return None or a dict with some of {', '.join(_OVERRIDES)}, got {overrides!r}"
        raise InvalidArgumentError(msg, parameter="prepare_step", value=overrides)
    check_settings(overrides)
    if (messages := overrides.get("messages")) is not None:
        run.messages = read_messages(messages, allow_system_in_messages=True, place="messages of prepare_step")
    if (instructions := overrides.get("instructions")) is not None:
        run.given_instructions, run.instructions = instructions, read_instructions(instructions)
    return overrides


def _merged(base: ProviderOptions, over: ProviderOptions) -> ProviderOptions:
    """Both options, objects member by member at every depth; *over* wins where both have something else."""
    return {**base, **{provider: _deep(base.get(provider, {}), members) for provider, members in over.items()}}


def _deep(base: Mapping[str, JsonValue], over: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    merged = dict(base)
    for name, member in over.items():
        known = merged.get(name)
        merged[name] = _deep(known, member) if _is_members(known) and _is_members(member) else member
    return merged


def _is_members(member: JsonValue) -> TypeGuard[Mapping[str, JsonValue]]:
    return isinstance(member, Mapping)
