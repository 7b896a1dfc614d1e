"""The arguments of a call, from the `call` of a scenario (FORMAT.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.loop import Output, has_tool_call, is_loop_finished, is_step_count
from onion.middleware import Retry
from tests.conformance.compare import is_list
from tests.conformance.failures import to_exception
from tests.conformance.repair import repair_layer
from tests.conformance.revive import revive, snake
from tests.conformance.tools import build_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onion.loop import RunOptions, StepOverrides, StepPreparation, StopCondition, ToolApproval, ToolOptions
    from onion.loop.approval import ApprovalOfInput
    from onion.spec import JsonObject, JsonValue, LanguageModel
    from onion.spec.tools import TypedToolCall
    from onion.wrap import Middleware
    from tests.conformance.data import CallData, OutputData, PreparedStep, Scenario, StopData
    from tests.conformance.recorder import Recorder

DEFAULT_RETRIES = 2
AS_THEY_ARE = (
    "prompt", "messages", "instructions", "allowSystemInMessages", "maxOutputTokens", "temperature", "topP", "topK",
    "presencePenalty", "frequencyPenalty", "stopSequences", "seed", "reasoning", "streamRetries", "headers",
    "providerOptions", "activeTools", "toolOrder", "toolCallConcurrency", "toolApprovalSecret",
)  # fmt: skip
"""Arguments whose values need no more than reviving."""


def arguments(
    scenario: Scenario, model: LanguageModel, models: Mapping[str, LanguageModel], recorder: Recorder
) -> RunOptions:
    """The keyword arguments of `generate_text` or `stream_text`, but for `output`."""
    call = scenario["call"]
    given: dict[str, object] = {
        "model": model,
        **{snake(name): revive(value) for name, value in call.items() if name in AS_THEY_ARE},  # type: ignore[arg-type]  # JSON
        **recorder.callbacks(),
        **_retries(call, [] if "repair" not in scenario else [repair_layer(scenario["repair"], recorder)], recorder),
    }
    if "tools" in scenario:
        given["tools"] = build_tools(scenario["tools"], recorder)
    if "stopWhen" in call:
        given["stop_when"] = [_stop_condition(data) for data in call["stopWhen"]]
    if "toolChoice" in call:
        given["tool_choice"] = _snake_members(call["toolChoice"])
    if "toolApproval" in call:
        given["tool_approval"] = _approval(call["toolApproval"])
    if "prepareStep" in call:
        given["prepare_step"] = _prepare_step(call["prepareStep"], models, recorder)
    if "includeRawChunks" in call:
        given["include"] = {"raw_chunks": call["includeRawChunks"]}
    options: RunOptions = given  # type: ignore[assignment]  # names and values are the scenario's
    return options


def output_of(data: OutputData) -> Output[object]:
    """The output that `call.output` describes."""
    name, description = data.get("name"), data.get("description")
    match data["type"]:
        case "text":
            return Output.text()
        case "object":
            return Output.object(data["schema"], name=name, description=description)
        case "array":
            return Output.array(
                data["element"],
                min_items=data.get("minItems"),
                max_items=data.get("maxItems"),
                name=name,
                description=description,
            )
        case "choice":
            return Output.choice(data["options"], name=name, description=description)
        case "json":
            return Output.json(name=name, description=description)


def _retries(call: CallData, layers: list[Middleware], recorder: Recorder) -> dict[str, object]:
    """Retries with a clock that does not wait; a number that cannot be one is left to the function to refuse."""
    retries = call.get("maxRetries", DEFAULT_RETRIES)
    if retries < 0:
        return {"max_retries": retries, "middleware": layers}
    return {"max_retries": 0, "middleware": [*layers, Retry(retries, sleep=recorder.sleep, jitter=0)]}


def _stop_condition(data: StopData) -> StopCondition:
    if "stepCount" in data:
        return is_step_count(data["stepCount"])
    return has_tool_call(*data["hasToolCall"]) if "hasToolCall" in data else is_loop_finished()


def _snake_members(value: JsonValue) -> object:
    return {snake(key): member for key, member in value.items()} if isinstance(value, Mapping) else value


def _approval(rules: JsonObject) -> ToolApproval:
    generic = rules.get("$generic")
    if isinstance(generic, Mapping):
        by_name = {name: _approval_rule(rule) for name, rule in generic.items()}

        def approve(tool_call: TypedToolCall, options: ToolOptions[object]) -> object:
            rule = by_name.get(tool_call.tool_name)
            return rule(tool_call.input, options) if callable(rule) else rule

        return approve  # type: ignore[return-value]  # the statuses are the scenario's
    return {name: _approval_rule(rule) for name, rule in rules.items()}  # type: ignore[misc]  # as above


def _approval_rule(rule: JsonValue) -> JsonValue | ApprovalOfInput:
    if not isinstance(rule, Mapping) or "when" not in rule:
        return rule
    cases = rule["when"]

    def approve(given: JsonValue, _options: ToolOptions[object]) -> object:
        for case in cases if is_list(cases) else ():
            if isinstance(case, Mapping) and case["input"] == given:
                return case["status"]
        return rule.get("default")

    return approve  # type: ignore[return-value]  # the statuses are the scenario's


def _prepare_step(
    steps: Sequence[PreparedStep], models: Mapping[str, LanguageModel], recorder: Recorder
) -> Callable[[StepPreparation], StepOverrides | None]:
    def prepare(told: StepPreparation) -> StepOverrides | None:
        recorder.note_preparation(told)
        for step in steps:
            if step["step"] == told.step_number:
                if "throws" in step:
                    raise to_exception(step["throws"])
                return _overrides(step["override"], told, models)
        return None

    return prepare


def _overrides(override: JsonObject, told: StepPreparation, models: Mapping[str, LanguageModel]) -> StepOverrides:
    changes: dict[str, object] = {snake(name): revive(value) for name, value in override.items()}
    if "model" in override:
        changes["model"] = models[str(override["model"])]
    if "toolChoice" in override:
        changes["tool_choice"] = _snake_members(override["toolChoice"])
    if is_list(more := changes.pop("append_messages", None)):  # type: ignore[arg-type]  # it came from JSON
        changes["messages"] = [*told.messages, *more]
    overrides: StepOverrides = changes  # type: ignore[assignment]  # names and values are the scenario's
    return overrides
