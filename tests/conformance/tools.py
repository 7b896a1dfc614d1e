"""The tools of a scenario (FORMAT.md, section 5)."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from onion.loop.tools import Tool, ToolOptions, ToolSettings, dynamic_tool, provider_tool, tool
from tests.conformance.encoding import encode
from tests.conformance.failures import to_exception
from tests.conformance.revive import revive

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from onion.spec import JsonObject, JsonValue
    from tests.conformance.data import Behaviour, ToolData
    from tests.conformance.recorder import Recorder

Options = ToolOptions[object]


def build_tools(tools: Mapping[str, ToolData], recorder: Recorder) -> dict[str, Tool]:
    """The tools, in their order."""
    return {name: _tool(name, data, recorder) for name, data in tools.items()}


def _tool(name: str, data: ToolData, recorder: Recorder) -> Tool:
    settings = _settings(data, recorder)
    behaviour = data.get("behaviour")
    execute = None if behaviour is None else _execute(name, behaviour, recorder)
    kind = data["kind"]
    if kind == "provider":
        return provider_tool(
            id=data["id"],
            args=data.get("args"),
            name=name,
            input_schema=data["inputSchema"],
            execute=execute,
            is_provider_executed=data.get("isProviderExecuted"),
            supports_deferred_results=data.get("supportsDeferredResults", False),
            **settings,
        )
    if kind == "dynamic":
        return dynamic_tool(name=name, input_schema=data["inputSchema"], execute=execute, **settings)
    return tool(name=name, input_schema=data["inputSchema"], execute=execute, **settings)


def _settings(data: ToolData, recorder: Recorder) -> ToolSettings:
    settings: ToolSettings = {
        "description": data.get("description"),
        "title": data.get("title"),
        "strict": data.get("strict"),
        "input_examples": data.get("inputExamples"),
        "provider_options": data.get("providerOptions"),
        "metadata": data.get("metadata"),
    }
    needs_approval = data.get("needsApproval", False)
    if isinstance(needs_approval, bool):
        settings["needs_approval"] = needs_approval
    else:
        inputs = needs_approval["whenInput"]

        def is_among_them(given: JsonValue) -> bool:
            return given in inputs

        settings["needs_approval"] = is_among_them
    if "toModelOutput" in data:
        model_output = data["toModelOutput"]

        def always_the_same(_output: object) -> JsonObject:
            return model_output

        settings["to_model_output"] = always_the_same
    if data.get("recordInputEvents"):
        settings |= _input_hooks(recorder)
    return settings


def _input_hooks(recorder: Recorder) -> ToolSettings:
    def on_start(options: Options) -> None:
        recorder.tool_input_events.append(f"start:{options.tool_call_id}")

    def on_delta(delta: str, options: Options) -> None:
        recorder.tool_input_events.append(f"delta:{options.tool_call_id}:{delta}")

    def on_available(given: object, options: Options) -> None:
        compact = json.dumps(given, separators=(",", ":"), ensure_ascii=False)
        recorder.tool_input_events.append(f"available:{options.tool_call_id}:{compact}")

    return {"on_input_start": on_start, "on_input_delta": on_delta, "on_input_available": on_available}


def _execute(name: str, behaviour: Behaviour, recorder: Recorder) -> Callable[[JsonValue, Options], object]:
    def note(given: JsonValue, options: Options) -> Behaviour:
        recorder.tool_executions.append(
            {
                "toolName": name,
                "toolCallId": options.tool_call_id,
                "input": encode(given),
                "messagesCount": len(options.messages),
            }
        )
        return next((one for one in behaviour.get("byInput", ()) if one.get("input") == given), behaviour)

    async def run(given: JsonValue, options: Options) -> object:
        chosen = note(given, options)
        await asyncio.sleep(_delay_seconds(chosen))
        if chosen.get("abort"):
            recorder.abort()
            await asyncio.Event().wait()
        return _outcome(chosen, given)

    async def run_in_steps(given: JsonValue, options: Options) -> AsyncGenerator[object, None]:
        chosen = note(given, options)
        for value in chosen.get("yields", ()):
            await asyncio.sleep(_delay_seconds(chosen))
            yield revive(value)
        if "throws" in chosen:
            raise to_exception(chosen["throws"])

    def run_at_once(given: JsonValue, options: Options) -> object:
        chosen = note(given, options)
        time.sleep(_delay_seconds(chosen))
        return _outcome(chosen, given)

    return run_in_steps if "yields" in behaviour else run_at_once if behaviour.get("sync") else run


def _delay_seconds(behaviour: Behaviour) -> float:
    return behaviour.get("delayMs", 0) / 1000


def _outcome(behaviour: Behaviour, given: JsonValue) -> object:
    if "throws" in behaviour:
        raise to_exception(behaviour["throws"])
    return given if behaviour.get("returnsInput") else revive(behaviour.get("returns"))
