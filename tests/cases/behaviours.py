"""What the tools of a case do, as the case writes it.

``-> x`` returns the text, ``return 1`` a literal; ``raise ValueError("x")`` raises; ``sleep 0.05`` may go before each.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from onion import provider_tool, tool
from onion.providers._json import object_in
from onion.spec.base import JsonValue
from tests.cases.case import WaitingError

if TYPE_CHECKING:
    from onion import Tool, ToolOptions
    from onion.spec.base import JsonObject

Style: TypeAlias = Literal["async", "thread"]
"""How the functions of the tools are written: plain ones run in threads."""

STYLES: tuple[Style, ...] = ("async", "thread")
ANYTHING: JsonObject = {"type": "object"}
DECLARED = ("execute", "no-execute", "needs-approval")
FASTER = 5
"""By how much less the tools sleep than the case says: only the order matters."""

_DOES = re.compile(
    r"(?:sleep (?P<seconds>[\d.]+)[;,]? ?)?"
    r"(?:-> (?P<text>.*)|return (?P<literal>.+)|raise (?P<error>[\w.]+)\((?P<said>.*)\))?"
)


@dataclass(slots=True)
class Log:
    """What became of the tools' functions.

    Attributes:
        entered: Call ids, in the order in which the functions were entered.
        completed: Call ids, in the order in which they were left again.
        inputs: What they were given.
        names: The tools' names by call id.
    """

    entered: list[str] = field(default_factory=list[str])
    completed: list[str] = field(default_factory=list[str])
    inputs: list[JsonValue] = field(default_factory=list["JsonValue"])
    names: dict[str, str] = field(default_factory=dict[str, str])

    def enter(self, name: str, call_id: str, given: JsonValue) -> None:
        """The function of a tool begins."""
        self.entered.append(call_id)
        self.inputs.append(given)
        self.names[call_id] = name


@dataclass(frozen=True)
class Behaviour:
    """What a function does: it sleeps, and then raises or returns."""

    seconds: float
    outcome: JsonValue
    error: Exception | None

    def settle(self) -> JsonValue:
        """Raise or return."""
        if self.error is not None:
            raise self.error
        return self.outcome


def behaviour_of(written: JsonValue) -> Behaviour:
    """The behaviour that a case writes; what is no sentence is returned as it is."""
    if not isinstance(written, str) or not written:
        return Behaviour(0, written, None)
    found = _DOES.fullmatch(written)
    if found is None:
        raise WaitingError(f"a tool that does {written!r}")
    seconds = float(found["seconds"] or 0) / FASTER
    if found["error"] is not None:
        return Behaviour(seconds, None, exception_of(found["error"], found["said"]))
    if found["literal"] is not None:
        return Behaviour(seconds, ast.literal_eval(found["literal"]), None)
    return Behaviour(seconds, found["text"], None)


def exception_of(name: str, text: str) -> Exception:
    """The exception of that name, with the argument that *text* writes."""
    home: object = asyncio if name.startswith("asyncio.") else builtins
    kind: type[Exception] = getattr(home, name.removeprefix("asyncio."))
    return kind(ast.literal_eval(text)) if text else kind()


def tools_of(calls: JsonObject, log: Log, style: Style) -> list[Tool]:
    """The tools that a case declares, as a list of names or by name how each is declared or what it does."""
    declared = calls.get("tools", [])
    named: JsonObject = declared if isinstance(declared, dict) else {}
    names = [str(name) for name in declared] if isinstance(declared, list | dict) else []
    behaviours = object_in(calls, "tool_behaviour")
    schema = object_in(calls, "tool_schema") or ANYTHING
    return [
        _tool(name, named.get(name, "execute"), behaviours.get(name, "-> done"), schema, log, style) for name in names
    ]


def _tool(name: str, declared: JsonValue, behaviour: JsonValue, schema: JsonObject, log: Log, style: Style) -> Tool:
    if isinstance(declared, str) and declared.startswith("provider"):
        return provider_tool(
            id=f"acme.{name}",
            name=name,
            is_provider_executed=True,
            supports_deferred_results="supports deferred results" in declared,
        )
    if declared == "no-execute":
        return tool(name=name, input_schema=schema, execute=None)
    what = behaviour_of(behaviour if declared in DECLARED else declared)

    async def run(given: JsonValue, options: ToolOptions[object]) -> object:
        log.enter(name, options.tool_call_id, given)
        try:
            await asyncio.sleep(what.seconds)
            return what.settle()
        finally:
            log.completed.append(options.tool_call_id)

    def run_in_thread(given: JsonValue, options: ToolOptions[object]) -> object:
        log.enter(name, options.tool_call_id, given)
        try:
            time.sleep(what.seconds)
            return what.settle()
        finally:
            log.completed.append(options.tool_call_id)

    execute = run if style == "async" else run_in_thread
    return tool(name=name, input_schema=schema, execute=execute, needs_approval=declared == "needs-approval")
