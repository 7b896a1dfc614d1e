"""The cases of class 2 (how calls are put together) with the layer around the model: it mends these and no others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from onion import Tool, generate_text, is_step_count, stream_text, tool
from onion.middleware import ToolCallRepair
from onion.providers import openai_compatible
from onion.providers.anthropic import Anthropic
from onion.spec import CallOptions, FunctionTool, GenerateResult, LanguageModel, TextPart, ToolCall, UserMessage
from onion.spec.base import is_object
from onion.streaming import collect
from onion.testing import Lint, ScriptedModel, answer, call, text
from onion.wrap import Middleware, wrap_language_model
from tests.providers.loopback import answer as respond
from tests.providers.loopback import serve, stream

INPUTS = Path(__file__).parents[2] / "cases" / "inputs"
NAMES = ("read", "weather", "time", "snooze", "alarm", "search", "f", "transfer")
PARAMS = CallOptions(
    prompt=(UserMessage(content=(TextPart(text="go"),)),),
    tools=tuple(FunctionTool(name=name, input_schema={"type": "object"}) for name in NAMES),
)


def case(name: str) -> Mapping[str, object]:
    found: object = json.loads((INPUTS / f"{name}.json").read_text())
    assert is_object(found)
    return found


async def calls_of(name: str, *layers: Middleware) -> list[ToolCall]:
    """The calls in the answer of the case's server."""
    said = case(name)
    is_stream = "sse" in said
    async with serve(
        stream(str(said["sse"]).encode()) if is_stream else respond(json.dumps(said["body"]).encode())
    ) as server:
        provider = (
            Anthropic(base_url=server.url, api_key="k")
            if said["provider"] == "anthropic"
            else openai_compatible(base_url=server.url, api_key="k")
        )
        model = wrap_language_model(provider.language_model("m"), [*layers, Lint()])
        result: GenerateResult = await (
            collect(await model.do_stream(PARAMS)) if is_stream else model.do_generate(PARAMS)
        )
        await provider.aclose()
    return [part for part in result.content if isinstance(part, ToolCall)]


async def ran(model: LanguageModel, found: Tool, *, is_stream: bool) -> str:
    """The text of a run with the layer."""
    layers, stop = [ToolCallRepair(ask=False)], is_step_count(3)
    if not is_stream:
        return (await generate_text(model=model, prompt="go", tools=[found], middleware=layers, stop_when=stop)).text
    async with stream_text(model=model, prompt="go", tools=[found], middleware=layers, stop_when=stop) as result:
        return "".join([delta async for delta in result.text_stream])


def shown(calls: Sequence[ToolCall]) -> list[tuple[str, str]]:
    return [(call.tool_name, call.input) for call in calls]


@pytest.mark.parametrize("name", ["C15", "C16", "C17", "C19", "C22"])
async def test_a_call_that_is_put_together_right_is_not_touched(name: str) -> None:
    bare = await calls_of(name)

    mended = await calls_of(name, ToolCallRepair(ask=False))

    assert shown(mended) == shown(bare) != []
    assert all(call.error is None and "onion" not in (call.provider_metadata or {}) for call in mended)


async def test_an_input_whose_beginning_is_json_is_not_taken_for_that_beginning() -> None:
    (bare,) = await calls_of("C18")

    (mended,) = await calls_of("C18", ToolCallRepair(ask=False))

    assert mended.input == bare.input
    assert mended.error is not None


@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "generate"])
async def test_a_misspelled_tool_is_not_taken_for_another(*, is_stream: bool) -> None:
    asked: list[str] = []

    @tool
    def weather(city: str) -> str:
        """Weather."""
        asked.append(city)
        return "sunny"

    calls = call("weather", {"city": "Rom"}, id="t1"), call("wether", {"city": "Rom"}, id="t2")
    outcome = await ran(ScriptedModel([answer(*calls), text("ok")]), weather, is_stream=is_stream)

    assert asked == ["Rom"]
    assert outcome == "ok"


@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "generate"])
async def test_a_list_in_a_string_is_read_where_the_tool_takes_a_list_and_a_text_stays_text(*, is_stream: bool) -> None:
    saved: list[tuple[list[str], str]] = []

    @tool
    def save(tags: list[str], note: str) -> str:
        """Save."""
        saved.append((tags, note))
        return "saved"

    wrote = call("save", {"tags": '["a","b"]', "note": "[1,2]"})
    outcome = await ran(ScriptedModel([answer(wrote), text("ok")]), save, is_stream=is_stream)

    assert saved == [(["a", "b"], "[1,2]")]
    assert outcome == "ok"
