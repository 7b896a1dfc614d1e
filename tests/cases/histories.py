"""Approvals in histories that are repeated, not complete, or meet another policy than when they were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion import MemoryApprovalStore
from onion.providers._json import object_in, text_in
from tests.cases.case import Case, WaitingError, rows
from tests.cases.expectations import differences
from tests.cases.resuming import Desk, assistant, call, parts_of, request, response, result, tool_message, user
from tests.cases.runs import Mode, Ran, of_run, ran

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.loop import RunOptions
    from onion.spec.base import JsonObject, JsonValue

# --- approvals that come again ---------------------------------------------------------------------------------------


def _with_result(history: list[JsonObject]) -> list[list[JsonObject]]:
    """The result in the last tool message, or in one before it."""
    *before, last = history
    made = result("p1", "pay")
    return [[*before, tool_message(*parts_of(last), made)], [*before, tool_message(made), last]]


def _twice(history: list[JsonObject]) -> list[list[JsonObject]]:
    *before, last = history
    return [[*before, tool_message(*parts_of(last), *parts_of(last))]]


def _later(history: list[JsonObject]) -> list[list[JsonObject]]:
    said: JsonObject = {"type": "text", "text": "paid"}
    return [[*history, tool_message(result("p1", "pay")), assistant(said), user("thanks")]]


REPETITIONS: Mapping[str, Callable[[list[JsonObject]], list[list[JsonObject]]]] = {
    "append tool-result p1 to the last tool message": _with_result,
    "response part twice": _twice,
    "result p1, assistant text, new user message": _later,
}


async def run_repeated(case: Case, mode: Mode) -> list[str]:
    """A history whose approval was used; and the same history twice, which only a store can tell."""
    calls = object_in(case.data, "calls")
    history = [_message(message) for message in rows(calls.get("history"))]
    faults: list[str] = []
    for name, change in object_in(calls, "variants").items():
        if change not in REPETITIONS:
            raise WaitingError(f"a history with {change!r}")
        for messages in REPETITIONS[str(change)](history):
            desk = Desk.of(text_in(calls, "tool"))
            told = await desk.resume(messages, mode)
            observed: JsonObject = {"executions": len(desk.executions), "raises": of_run(told)["raises"]}
            wanted = {**object_in(case.expect, name), "raises": ""}
            faults += [f"{fault} (variant {name})" for fault in differences(wanted, observed)]
    store = MemoryApprovalStore()
    desk = Desk.of(text_in(calls, "tool"))
    for _ in range(2):
        await ran({**desk.options(history), "approval_store": store}, mode)
    return faults + ([] if len(desk.executions) == 1 else [f"with a store: {len(desk.executions)} executions"])


def _message(written: JsonObject) -> JsonObject:
    """A message in the JSON form, from the short one of the case."""
    if "text" in written:
        return {"role": written["role"], "content": written["text"]}
    return {"role": written["role"], "content": [_part(part) for part in rows(written.get("parts"))]}


def _part(part: JsonObject) -> JsonObject:
    match part.get("type"):
        case "tool-call":
            return call(text_in(part, "id"), text_in(part, "name"), part.get("input"))
        case "tool-approval-request":
            return request(text_in(part, "approval_id"), text_in(part, "tool_call_id"))
        case "tool-approval-response":
            return response(text_in(part, "approval_id"), approved=part.get("approved") is True)
        case kind:
            raise WaitingError(f"a part of type {kind!r}")


# --- histories without a decision ------------------------------------------------------------------------------------

TURNS: Mapping[str, Callable[[str], JsonObject]] = {
    "user": lambda _name: user(),
    "user again": lambda _name: user("and now?"),
    "assistant call p1": lambda name: assistant(call("p1", name, {"amount": 1})),
    "assistant call p1 + request ap1": lambda name: assistant(call("p1", name, {"amount": 1}), request("ap1", "p1")),
}


async def run_incomplete(case: Case, mode: Mode) -> list[str]:
    """A call that nobody approved, of a tool that asks by itself, and of one for which a policy asks."""
    calls = object_in(case.data, "calls")
    name = text_in(calls, "tool")
    faults: list[str] = []
    for variant, turns in object_in(calls, "variants").items():
        messages = [_turn(str(turn), name) for turn in (turns if isinstance(turns, list) else [])]
        for is_policy in (False, True):
            desk = Desk.of(name)
            desk.needs_approval = [] if is_policy else [name]
            options = desk.options(messages)
            if is_policy:
                options["tool_approval"] = {name: "user-approval"}
            await ran(options, mode)
            found = differences(case.expect, {"executions": len(desk.executions)})
            faults += [f"{fault} (variant {variant})" for fault in found]
    return faults


def _turn(turn: str, name: str) -> JsonObject:
    if turn not in TURNS:
        raise WaitingError(f"a message {turn!r}")
    return TURNS[turn](name)


# --- what has changed since ------------------------------------------------------------------------------------------


async def run_changed_policy(case: Case, mode: Mode) -> list[str]:
    """A call that was approved, but may not run by now; and names that stand for attributes of objects."""
    calls = object_in(case.data, "calls")
    name = text_in(calls, "tool")
    faults: list[str] = []
    for variant, change in object_in(calls, "variants").items():
        for desk, options in _resumptions(name, change):
            error: Exception | None = None
            told = Ran()
            try:
                told = await ran(options, mode)
            except Exception as failure:  # noqa: BLE001 - what is not the framework's own is a fault
                error = failure
            observed: JsonObject = {"executions": len(desk.executions), "uncaught_allowed": error is not None}
            wanted = {key: value for key, value in case.expect.items() if key != "uncaught"}
            found = differences(wanted, observed) + ([f"crashed with {error!r}"] if error is not None else [])
            is_said = "p1" in desk.results_sent if told.error is None else repr(name) in str(told.error)
            if isinstance(change, str) and not is_said:
                found.append(f"neither a result nor an error names the tool: {told.error!r}")
            faults += [f"{fault} (variant {variant})" for fault in found]
    return faults


def _resumptions(name: str, change: JsonValue) -> list[tuple[Desk, RunOptions]]:
    """The runs of a variant."""
    made, approved = call("p1", name, {"amount": 1}), tool_message(response("ap1"))
    history = [user(), assistant(made, request("ap1", "p1")), approved]
    desk = Desk.of(name, "other")
    match change:
        case "tool missing on resume":
            desk = Desk.of("other")
            return [(desk, desk.options(history))]
        case "policy denied on resume":
            return [(desk, {**desk.options(history), "tool_approval": {name: "denied"}})]
        case "not active on resume":
            return [(desk, {**desk.options(history), "active_tools": ["other"]})]
        case [*names]:
            return [
                (each, each.options(messages))
                for odd in map(str, names)
                for messages in _odd_histories(name, odd)
                for each in [Desk.of(name, "other")]
            ]
        case _:
            raise WaitingError(f"a resumption with {change!r}")


def _odd_histories(name: str, odd: str) -> list[list[JsonObject]]:
    """*odd* in the place of the tool's name, of the approval's id, and of the call's."""
    made, asked = call("p1", name, {}), request("ap1", "p1")
    return [
        [user(), assistant(call("p1", odd, {}), asked), tool_message(response("ap1"))],
        [user(), assistant(made, asked), tool_message(response(odd))],
        [user(), assistant(made, request("ap1", odd)), tool_message(response("ap1"))],
    ]
