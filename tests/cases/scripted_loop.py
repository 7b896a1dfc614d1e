"""Cases that are runs of the loop over a scripted model: in both modes, with tools that are async and that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion import has_tool_call, is_step_count
from onion.middleware import ToolCallRepair
from onion.providers._json import count_in, object_in, text_in
from onion.spec.prompt import (
    AssistantMessage,
    Message,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from onion.testing import ScriptedModel
from tests.cases import aborted, callbacks, validated
from tests.cases.behaviours import STYLES, Log, Style, tools_of
from tests.cases.case import Case, WaitingError, rows
from tests.cases.convert import REQUESTS
from tests.cases.expectations import differences
from tests.cases.runs import MODES, Mode, of_run, ran, request_text, result_ids, sent_results
from tests.cases.scripts import answer_of

if TYPE_CHECKING:
    from onion.loop import RunOptions
    from onion.loop.stop import StopCondition
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions
    from onion.testing import ScriptItem

GO = UserMessage(content=(TextPart(text="go"),))
MAX_STEPS = 20
TIMES = 5
"""How often each way to run is repeated where all requests have to be the same."""
OF_ALL_RUNS = ("generate_equals_stream", "request2_identical_over_runs")
OF_REQUEST = ("result_texts", "blank_contents_except")


async def run(case: Case) -> list[str]:
    """The faults of *case*, in every mode and with every style of tools."""
    calls = object_in(case.data, "calls")
    for key, runner in (("abort", aborted.run), ("callbacks", callbacks.run), ("output", validated.run)):
        if key in calls:
            return await runner(case)
    faults: list[str] = []
    for style in STYLES:
        for mode in MODES:
            made = Scenario(calls, style, is_repaired=False)
            faults += [f"{fault} ({mode}, {style})" for fault in await made.check(case.expect, mode)]
            if "tool_schema" in calls:
                made = Scenario(calls, style, is_repaired=True)
                faults += [f"{fault} ({mode}, {style}, repaired)" for fault in await made.check(case.expect, mode)]
            if "result_texts" in case.expect:
                made = Scenario(calls, style, is_repaired=False)
                faults += [f"{fault} ({mode}, {style}, approved)" for fault in await made.check_approved(case, mode)]
    if case.expect.get("generate_equals_stream"):
        answers = [of_run(await ran(Scenario(calls, style).options, mode)) for style in STYLES for mode in MODES]
        unlike = [key for key, told in answers[0].items() if any(other[key] != told for other in answers)]
        faults += [f"differs between modes: {key}" for key in unlike]
    if case.expect.get("request2_identical_over_runs"):
        bodies = {await _second_request(calls, style, mode) for style in STYLES for mode in MODES for _ in range(TIMES)}
        faults += [f"{len(bodies)} different second requests"] if len(bodies) != 1 else []
    return faults


async def _second_request(calls: JsonObject, style: Style, mode: Mode) -> str:
    made = Scenario(calls, style)
    await ran(made.options, mode)
    return request_text(made.model.params[1].prompt)


class Scenario:
    """The model, the tools and the arguments of one run of a case."""

    def __init__(self, calls: JsonObject, style: Style, *, is_repaired: bool = False) -> None:
        self.log = Log()
        self.unfinished: list[str] = []
        self.style = style
        steps = rows(calls.get("steps"))
        self.order = [text_in(call, "id") for step in steps for call in rows(step.get("tool_calls"))]
        self.model = ScriptedModel([self._item(step) for step in steps])
        self.options: RunOptions = {
            "model": self.model,
            "messages": [GO],
            "tools": tools_of(calls, self.log, style),
            "stop_when": _conditions(object_in(calls, "stop")),
            "max_retries": 0,
        }
        if is_repaired:
            self.options["middleware"] = ToolCallRepair(ask=False)

    def _item(self, step: JsonObject) -> ScriptItem:
        def at_call(params: CallOptions) -> ScriptItem:
            del params
            self.unfinished += set(self.log.entered) - set(self.log.completed)
            return answer_of(step)

        return at_call

    async def check(self, expect: JsonObject, mode: Mode) -> list[str]:
        """The faults of one run."""
        told = await ran(self.options, mode)
        observed = {**of_run(told), **self._of_tools(), **_counts(self.model)}
        asked = {key: value for key, value in expect.items() if key not in (*OF_ALL_RUNS, *OF_REQUEST, "must_not")}
        faults = differences(asked, observed) + self._check_request(expect)
        faults += [f"must not be: {rule}" for rule in self._broken(expect.get("must_not"))]
        faults += [f"the model was called while tools ran: {self.unfinished}"] if self.unfinished else []
        faults += ["a stream of the model was left open"] if self.model.open_calls else []
        if told.result is not None and observed["open_calls"]:
            faults += await self._check_answered(observed["open_calls"], told.result.response_messages)
        return faults

    def _of_tools(self) -> dict[str, JsonValue]:
        entered, completed = self.log.entered, self.log.completed
        if self.style == "thread":  # threads begin and end in any order
            entered, completed = sorted(entered, key=self.order.index), sorted(completed, key=self.order.index)
        return {
            "executed_tools": [self.log.names[call_id] for call_id in entered],
            "executed_tools_completed": [self.log.names[call_id] for call_id in completed],
            "executed_with": self.log.inputs[0] if self.log.inputs else None,
        }

    def _broken(self, rules: JsonValue) -> list[str]:
        """The rules, such as ``note is a list``, that an input broke."""
        named = {str(rule).removesuffix(" is a list"): str(rule) for rule in (rules if isinstance(rules, list) else [])}
        if any(name == rule for name, rule in named.items()):
            raise WaitingError(f"the rules {list(named)}")
        given = [found for found in self.log.inputs if isinstance(found, dict)]
        return [rule for name, rule in named.items() if any(isinstance(each.get(name), list) for each in given)]

    def _check_request(self, expect: JsonObject) -> list[str]:
        """What the model was sent of the results, where the case asks for it."""
        if not any(key in expect for key in OF_REQUEST):
            return []
        sent = sent_results(self.model.params[-1].prompt)
        blank = {call_id for call_id, text in sent.items() if not str(text).strip()}
        allowed = expect.get("blank_contents_except")
        faults = differences(object_in(expect, "result_texts"), sent)
        faults += [f"results are missing or in another order: {list(sent)}"] if list(sent) != self.order else []
        for name, to_request in REQUESTS.items():
            body = str(to_request(self.model.params[-1].prompt, {}))
            faults += [f"{name} is not sent {call_id}" for call_id in self.order if call_id not in body]
        blank -= set(map(str, allowed)) if isinstance(allowed, list) else set()
        return faults + ([f"blank results: {sorted(blank)}"] if blank else [])

    async def _check_answered(self, open_calls: JsonValue, made: tuple[Message, ...]) -> list[str]:
        """The caller answers the open calls and calls again: the model has to see all results."""
        ids = [str(call_id) for call_id in open_calls] if isinstance(open_calls, list) else []
        given = ToolMessage(
            content=tuple(
                ToolResultPart(tool_call_id=call_id, tool_name="caller's", output=TextOutput(value="given"))
                for call_id in ids
            )
        )
        await ran({**self.options, "messages": [GO, *made, given]}, "generate")
        seen = result_ids(self.model.params[-1].prompt)
        return [] if sorted(seen) == sorted(self.order) else [f"after the caller's answer the model saw results {seen}"]

    async def check_approved(self, case: Case, mode: Mode) -> list[str]:
        """The faults of a run whose tools had to be approved first."""
        asked = await ran({**self.options, "tool_approval": lambda _call, _options: "user-approval"}, mode)
        made = asked.result.response_messages if asked.result is not None else ()
        if self.log.entered or not made:
            return ["a tool ran before it was approved"]
        await ran({**self.options, "messages": [GO, *made, approval_of(made)]}, mode)
        return self._check_request(case.expect)


def _counts(model: ScriptedModel) -> dict[str, JsonValue]:
    return {"model_calls": len(model.calls), "requests": len(model.calls)}


def _conditions(stop: JsonObject) -> list[StopCondition]:
    """When the case wants the run to stop; a script without end is stopped anyway."""
    if unknown := stop.keys() - {"step_count", "tool_call"}:
        raise WaitingError(f"stop conditions {sorted(unknown)}")
    named = text_in(stop, "tool_call")
    conditions = [is_step_count(count_in(stop, "step_count") or MAX_STEPS)]
    return [*conditions, has_tool_call(named)] if named else conditions


def approval_of(made: tuple[Message, ...]) -> ToolMessage:
    """An approval of everything that *made* asks for."""
    requests = [
        part
        for message in made
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolApprovalRequestPart)
    ]
    return ToolMessage(
        content=tuple(ToolApprovalResponsePart(approval_id=part.approval_id, approved=True) for part in requests)
    )
