"""Cases of a run that dies: whoever reads it has to learn of that, and soon."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from onion import is_step_count, stream_text, tool
from onion.errors import APICallError
from onion.spec.parts import ErrorPart
from onion.testing import ScriptedModel, answer, call, parts, text
from tests.cases.behaviours import ANYTHING, STYLES, Style
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.watching import watching

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable, Mapping

    from onion import StreamTextResult
    from onion.loop import RunOptions
    from onion.spec.base import JsonValue

LIMIT_SECONDS = 1.0
"""A hang lasts for ever; a busy machine may take longer than the 200 ms of the case."""
LATER = ("UI part not serialisable",)
"""What is about the UI stream, which is to come."""


async def run(case: Case) -> list[str]:
    """The faults of every way to die."""
    ways = case.data.get("calls")
    faults: list[str] = []
    for way in map(str, ways if isinstance(ways, list) else []):
        if way in LATER:
            continue
        if way not in WAYS:
            raise WaitingError(f"a run of which {way!r}")
        for name, attempt in WAYS[way].items():
            found: list[str] = []
            hangs = 0
            async with watching() as watch:
                try:
                    found = await asyncio.wait_for(attempt(), LIMIT_SECONDS)
                except TimeoutError:
                    hangs = 1
            observed: dict[str, JsonValue] = {"hangs": hangs, "never_retrieved_logs": len(watch.complaints)}
            found = differences(case.expect, observed) + found + watch.faults()
            faults += [f"{fault} ({way}, {name})" for fault in found]
    return faults


# --- readers ---------------------------------------------------------------------------------------------------------


async def _settled(reading: Awaitable[object]) -> object:
    """What reading gave or raised. Nothing passes: what ends a process would end the event loop."""
    try:
        return await reading
    except BaseException as error:  # noqa: BLE001 - see above
        return error


async def _listed(view: AsyncIterable[object]) -> list[object]:
    return [item async for item in view]


async def _read(result: StreamTextResult[str]) -> list[object]:
    """How three readers end that were there from the start: of all parts, of the text, and of a value."""
    full, texts = result.full_stream, result.text_stream
    readings = (_listed(full), _listed(texts), result.consume())
    return list(await asyncio.gather(*map(_settled, readings)))


def _items(listed: object) -> list[object]:
    return [*listed] if isinstance(listed, list) else []


async def _fails(options: RunOptions, failure: type[BaseException]) -> list[str]:
    """Text and value have to end with the failure, all parts with its part or the failure itself."""
    full, *others = await _read(stream_text(**options))
    is_told = isinstance(full, failure) or any(isinstance(part, ErrorPart) for part in _items(full))
    is_raised = all(isinstance(other, failure) for other in others)
    return [] if is_told and is_raised else [f"the readers ended with {full!r}, {others!r}"]


# --- how a run dies, or nearly ---------------------------------------------------------------------------------------


async def _provider_raises() -> list[str]:
    failure = APICallError("the server is down", status_code=400)
    return await _fails({"model": ScriptedModel([failure]), "prompt": "go", "max_retries": 0}, APICallError)


def _tool_raises(error: BaseException, style: Style, count: int) -> Callable[[], Awaitable[list[str]]]:
    def run_in_thread() -> None:
        raise error

    async def run() -> None:
        raise error

    async def attempt() -> list[str]:
        execute = run if style == "async" else run_in_thread
        calls = [call("t", id=f"c{number}") for number in range(count)]
        tools = [tool(name="t", input_schema=ANYTHING, execute=execute)]
        model = ScriptedModel([answer(*calls), text("must not happen")])
        options: RunOptions = {"model": model, "prompt": "go", "tools": tools, "stop_when": is_step_count(2)}
        return await _fails(options, type(error))

    return attempt


async def _callback_raises() -> list[str]:
    def raise_always(event: object) -> None:
        raise LookupError(event)

    model = ScriptedModel([text("done")])
    full, texts, value = await _read(stream_text(model=model, prompt="go", on_step_end=raise_always))
    is_right = isinstance(full, list) and texts == ["done"] and not isinstance(value, BaseException)
    return [] if is_right else [f"the readers ended with {full!r}, {texts!r}, {value!r}"]


async def _one_stops() -> list[str]:
    result = stream_text(model=ScriptedModel([parts("a", "b", "c")]), prompt="go")
    first, second = result.text_stream, result.text_stream
    read = await anext(first)
    rest = await _listed(second)
    return [] if (read, rest) == ("a", ["a", "b", "c"]) else [f"one read {read!r}, the other {rest!r}"]


async def _value_only() -> list[str]:
    told = await stream_text(model=ScriptedModel([parts("a", "b")]), prompt="go").text
    return [] if told == "ab" else [f"the text is {told!r}"]


WAYS: Mapping[str, Mapping[str, Callable[[], Awaitable[list[str]]]]] = {
    "provider raises at start": {"": _provider_raises},
    "tool raises SystemExit": {
        f"{type(error).__name__}, {style}, {count} calls": _tool_raises(error, style, count)
        for error in (SystemExit(3), KeyboardInterrupt())
        for style in STYLES
        for count in (1, 2)
    },
    "callback raises": {"": _callback_raises},
    "tee, one stops": {"": _one_stops},
    "await text only": {"": _value_only},
}
