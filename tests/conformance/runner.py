"""Runs one scenario and records what happened (FORMAT.md, section 7)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from onion import wrap_language_model
from onion.loop.output import DEFAULT_OUTPUT
from onion.spec import CallOptions, from_json
from tests.conformance.arguments import arguments, output_of
from tests.conformance.calls import AgentCall, FunctionCall
from tests.conformance.compare import is_list
from tests.conformance.encoding import encode, encode_error
from tests.conformance.layers import build_layers
from tests.conformance.recorder import Recorder
from tests.conformance.results import record_result
from tests.conformance.revive import revive
from tests.conformance.scripted import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Mapping

    from onion import LanguageModel, StreamTextResult
    from onion.loop import RunOptions
    from onion.spec import JsonValue
    from tests.conformance.data import Record, Scenario

T = TypeVar("T")

MAX_SECONDS = 10


async def run_scenario(scenario: Scenario) -> Record:
    """What Onion does with *scenario*, with the keys of `expect`."""
    recorder = Recorder()
    main = ScriptedModel(recorder, scenario["model"], scenario.get("modelConfig", {}))
    others = {key: ScriptedModel(recorder, answers, {}, key) for key, answers in scenario.get("models", {}).items()}
    model: LanguageModel = main
    if "middleware" in scenario:
        wrap = scenario.get("wrap", {})
        layers = build_layers(scenario["middleware"], recorder)
        model = wrap_language_model(main, layers, model_id=wrap.get("modelId"), provider_id=wrap.get("providerId"))
    async with asyncio.timeout(MAX_SECONDS):
        if scenario["mode"] == "model":
            record = await _call_model(scenario, model)
        else:
            options = arguments(scenario, model, others, recorder)
            record = await _run_loop(scenario, options, recorder)
    unused = sum(len(one.left) for one in (main, *others.values()))
    record |= recorder.record() | {"unusedModelResponses": unused or None}
    return record | _counts(scenario, record)


def _counts(scenario: Scenario, record: Record) -> Record:
    """The two keys that are recorded only where a scenario asks for them."""
    counted = {"modelCallCount": record["modelCalls"], "stepCount": record.get("steps")}
    return {
        key: len(found) for key, found in counted.items() if key in scenario.get("expectOnly", ()) and is_list(found)
    }


async def _call_model(scenario: Scenario, model: LanguageModel) -> Record:
    call = scenario["call"]
    params = from_json(CallOptions, revive(call["options"]))
    record: Record = {"modelInfo": _model_info(model)}
    try:
        if call["method"] == "doGenerate":
            record["result"] = encode(await model.do_generate(params))
        else:
            parts: list[JsonValue] = []
            record["streamParts"] = parts
            async with await model.do_stream(params) as stream:
                async for part in stream:
                    parts.append(encode(part))  # noqa: PERF401 - what came before a failure counts
    except Exception as error:  # noqa: BLE001 - a failure is an observation
        record["error"] = encode_error(error)
    return record


def _model_info(model: LanguageModel) -> JsonValue:
    urls = {kind: [pattern.pattern for pattern in patterns] for kind, patterns in model.supported_urls.items()}
    return {"provider": model.provider, "modelId": model.model_id, "supportedUrls": encode(urls or None)}


async def _run_loop(scenario: Scenario, options: RunOptions, recorder: Recorder) -> Record:
    call = scenario["call"]
    output = output_of(call["output"]) if "output" in call else DEFAULT_OUTPUT
    run = AgentCall(call, options, output) if call.get("agent") else FunctionCall(options, output)
    try:
        if scenario["mode"] == "generate":
            return record_result(await _abortable(run.generate(), recorder))
        result = run.stream()
    except BaseException as error:  # noqa: BLE001 - a failure is an observation, a cancellation too
        return {"error": encode_error(error), "errorPhase": "call"}
    return await _read(scenario, result, recorder)


async def _abortable(call: Coroutine[object, object, T], recorder: Recorder) -> T:
    """What *call* gives, in a task that the scenario can cancel (DECISIONS.md, 31)."""
    task = asyncio.create_task(call)
    recorder.abort = task.cancel
    return await task


async def _read(scenario: Scenario, result: StreamTextResult[object], recorder: Recorder) -> Record:
    """Read all views, made before the first read, then the values of the result."""
    call = scenario["call"]
    views: dict[str, AsyncIterator[object]] = {"fullStream": result.full_stream, "textStream": result.text_stream}
    if "output" in call:
        views["partialOutputs"] = result.partial_output_stream
        if call["output"]["type"] == "array":
            views["elements"] = result.element_stream
    abort = call.get("abort", {})
    recorder.abort = lambda: result.abort(abort.get("reason"))
    if abort.get("when") == "before":
        recorder.abort()
    seen: dict[str, list[JsonValue]] = {}
    failures: dict[str, BaseException] = {}
    for name, view in views.items():
        seen[name], failure = await _drained(view)
        if failure is not None:
            failures[name] = failure
    record: Record = dict(seen.items())
    record["textStream"] = "".join(map(str, seen["textStream"]))
    try:
        await result.steps
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a failure is an observation
        return record | {"error": encode_error(error), "errorPhase": "result"} | _view_errors(failures, error)
    return record | _view_errors(failures, None) | record_result(await result.consume())


async def _drained(view: AsyncIterator[object]) -> tuple[list[JsonValue], BaseException | None]:
    items: list[JsonValue] = []
    try:
        async for item in view:
            items.append(encode(item))  # noqa: PERF401 - what came before a failure counts
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a failure is an observation
        return items, error
    return items, None


def _view_errors(failures: Mapping[str, BaseException], failure: BaseException | None) -> Record:
    """What views raised, but for the failure of the run, which each of them raises but the full stream."""
    keys = {"fullStream": "streamError", "elements": "elementStreamError"}
    return {
        keys.get(name, f"{name}Error"): encode_error(error)
        for name, error in failures.items()
        if error is not failure or name == "fullStream"
    }
