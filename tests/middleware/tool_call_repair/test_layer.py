from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import (
    InvalidArgumentError,
    InvalidToolInputError,
    JSONParseError,
    NoSuchToolError,
    ToolCallRepairError,
)
from onion.middleware import BrokenToolCall, ToolCallRepair
from onion.spec import (
    CallOptions,
    FunctionTool,
    GenerateResult,
    JsonValue,
    LanguageModel,
    ProviderTool,
    TextPart,
    ToolCall,
    ToolChoice,
    UnifiedFinishReason,
    UserMessage,
)
from onion.streaming import collect
from onion.testing import ScriptedModel, ScriptItem, answer, text, usage
from tests.middleware.stacks import ASK, UNAVAILABLE, under_test

ADD = FunctionTool(
    name="add",
    input_schema={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
)
FIND = FunctionTool(name="find_it", input_schema={"type": "object", "properties": {"q": {"type": "string"}}})
SEARCH = ProviderTool(id="x.search", name="search", args={})
TOOLS = ASK.replace(tools=(ADD, FIND, SEARCH))
Ask = Callable[[LanguageModel, CallOptions], Awaitable[GenerateResult]]


async def generate(model: LanguageModel, params: CallOptions = TOOLS) -> GenerateResult:
    return await model.do_generate(params)


async def stream(model: LanguageModel, params: CallOptions = TOOLS) -> GenerateResult:
    return await collect(await model.do_stream(params))


both_modes = pytest.mark.parametrize("ask", [generate, stream], ids=["generate", "stream"])


def called(name: str, input: str, *, id: str = "c1") -> ToolCall:
    return ToolCall(tool_call_id=id, tool_name=name, input=input)


def only_call(result: GenerateResult) -> ToolCall:
    (found,) = (part for part in result.content if isinstance(part, ToolCall))
    return found


def note_of(call: ToolCall) -> JsonValue:
    return (call.provider_metadata or {}).get("onion", {}).get("toolCallRepair")


def repaired_by(function: Callable[[BrokenToolCall], ToolCall | Awaitable[ToolCall | None] | None]) -> ToolCallRepair:
    return ToolCallRepair(repair=function, mechanical=False, ask=False)


@both_modes
@pytest.mark.parametrize(
    ("broken", "name", "input", "steps"),
    [
        (called("find_it", '{"q":"a"'), "find_it", '{"q":"a"}', ["unclosed-bracket"]),
        (called("findIt", '{"q":"a"}'), "find_it", '{"q":"a"}', ["name"]),
        (called("findIt", ""), "find_it", "", ["name"]),
        (called("add", '```json\n{"a":1,"b":2,}\n```'), "add", '{"a":1,"b":2}', ["fence", "trailing-comma"]),
        (called("add", '"{\\"a\\":1,\\"b\\":2}"'), "add", '{"a":1,"b":2}', ["double-encoded"]),
    ],
    ids=lambda value: value.input if isinstance(value, ToolCall) else "",
)
async def test_what_needs_no_guess_is_mended_without_asking(
    ask: Ask, broken: ToolCall, name: str, input: str, steps: list[str]
) -> None:
    inner = ScriptedModel([answer("let me see", broken)])

    found = only_call(await ask(under_test(inner, ToolCallRepair()), TOOLS))

    assert (found.tool_call_id, found.tool_name, found.input, found.error) == ("c1", name, input, None)
    assert note_of(found) == {"by": "mechanical", "toolName": broken.tool_name, "input": broken.input, "steps": steps}
    assert len(inner.calls) == 1


@both_modes
async def test_a_list_written_as_a_text_is_decoded_where_the_schema_wants_a_list(ask: Ask) -> None:
    save = FunctionTool(
        name="save",
        input_schema={
            "type": "object",
            "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "note": {"type": "string"}},
        },
    )
    inner = ScriptedModel([answer(called("save", '{"tags":"[\\"a\\",\\"b\\"]","note":"[1,2]"}'))])

    found = only_call(await ask(under_test(inner, ToolCallRepair()), ASK.replace(tools=(save,))))

    assert found.input == '{"tags": ["a", "b"], "note": "[1,2]"}'


@both_modes
@pytest.mark.parametrize(
    "good",
    [
        called("add", '{"a":1,"b":2}'),
        called("search", '{"anything":1}'),
        replace(called("unknown", "{"), provider_executed=True),
        replace(called("unknown", "{"), dynamic=True),
        replace(called("add", "{"), error=ValueError("an inner layer tried")),
    ],
    ids=["valid", "tool of the provider", "run by the provider", "dynamic", "tried before"],
)
async def test_a_call_that_needs_no_repair_passes_untouched(ask: Ask, good: ToolCall) -> None:
    inner = ScriptedModel([answer("hi", good, finish_reason="tool-calls")])

    result = await ask(under_test(inner, ToolCallRepair()), TOOLS)

    assert only_call(result) == good
    assert only_call(result).error is good.error
    assert len(inner.calls) == 1


@both_modes
async def test_without_tools_nothing_is_looked_at(ask: Ask) -> None:
    said = answer(called("add", "{"))

    result = await ask(under_test(ScriptedModel([said]), ToolCallRepair()), ASK)

    assert result.content == said.content


@both_modes
@pytest.mark.parametrize("reason", ["length", "content-filter", "error", "interrupted", "other"])
async def test_a_call_of_an_answer_that_is_not_whole_is_never_repaired(ask: Ask, reason: UnifiedFinishReason) -> None:
    said = answer(called("find_it", '{"q":"a"'), finish_reason=reason)
    inner = ScriptedModel([said])

    result = await ask(under_test(inner, ToolCallRepair()), TOOLS)

    assert result.content == said.content
    assert only_call(result).error is None
    assert len(inner.calls) == 1


@both_modes
async def test_the_model_is_asked_again_with_the_schema_and_the_problem(ask: Ask) -> None:
    inner = ScriptedModel([answer(called("add", '{"a":"one","b":2}')), answer(called("add", '{"a":1,"b":2}', id="c9"))])

    result = await ask(under_test(inner, ToolCallRepair()), TOOLS)

    found = only_call(result)
    assert (found.tool_call_id, found.input, found.error) == ("c1", '{"a":1,"b":2}', None)
    assert note_of(found) == {"by": "model", "toolName": "add", "input": '{"a":"one","b":2}'}
    asked = inner.params[1]
    assert asked.tools == (ADD,)
    assert asked.tool_choice == ToolChoice(type="tool", tool_name="add")
    (*before, question) = asked.prompt
    assert tuple(before) == TOOLS.prompt
    assert isinstance(question, UserMessage)
    assert isinstance(question.content[0], TextPart)
    assert '"additionalProperties": false' in question.content[0].text
    assert "not of type" in question.content[0].text
    assert result.usage == usage(20, 10)


@both_modes
async def test_for_an_unknown_tool_the_model_may_choose_among_all(ask: Ask) -> None:
    inner = ScriptedModel([answer(called("sum", '{"a":1,"b":2}')), answer(called("add", '{"a":1,"b":2}'))])

    found = only_call(await ask(under_test(inner, ToolCallRepair()), TOOLS))

    assert (found.tool_name, found.input) == ("add", '{"a":1,"b":2}')
    assert inner.params[1].tools == TOOLS.tools
    assert inner.params[1].tool_choice == ToolChoice(type="required")


@both_modes
@pytest.mark.parametrize(
    ("second", "error", "input"),
    [
        (text('```json\n{"a":1,"b":2}\n```'), None, '{"a":1,"b":2}'),
        (text(" "), InvalidToolInputError, "x"),
        (text("I cannot"), InvalidToolInputError, "x"),
        (answer(called("add", '{"a":"still"}')), InvalidToolInputError, "x"),
        (UNAVAILABLE, ToolCallRepairError, "x"),
    ],
    ids=["text", "nothing", "prose", "still wrong", "failure"],
)
async def test_what_comes_of_asking(ask: Ask, second: ScriptItem, error: type[Exception] | None, input: str) -> None:
    inner = ScriptedModel([answer(called("add", "x")), second])

    found = only_call(await ask(under_test(inner, ToolCallRepair()), TOOLS))

    assert found.input == input
    assert type(found.error) is (error or type(None))


@both_modes
async def test_an_unknown_tool_that_is_answered_with_prose_stays_unknown(ask: Ask) -> None:
    inner = ScriptedModel([answer(called("sum", "{}")), text("sorry")])

    found = only_call(await ask(under_test(inner, ToolCallRepair()), TOOLS))

    assert isinstance(found.error, NoSuchToolError)
    assert found.error.available_tools == ("add", "find_it", "search")


@both_modes
async def test_one_answer_is_asked_about_a_bounded_number_of_times(ask: Ask) -> None:
    broken = [called("add", "x", id=f"c{number}") for number in range(4)]
    inner = ScriptedModel([answer(*broken), *[answer(called("add", '{"a":1,"b":2}'))] * 4])

    result = await ask(under_test(inner, ToolCallRepair(max_asks=2)), TOOLS)

    calls = [part for part in result.content if isinstance(part, ToolCall)]
    assert [call.error is None for call in calls] == [True, True, False, False]
    assert len(inner.calls) == 3


@both_modes
async def test_asking_can_be_left_out(ask: Ask) -> None:
    inner = ScriptedModel([answer(called("add", "x"))])

    found = only_call(await ask(under_test(inner, ToolCallRepair(ask=False)), TOOLS))

    assert isinstance(found.error, InvalidToolInputError)
    assert isinstance(found.error.__cause__, JSONParseError)
    assert found.input == "x"


@both_modes
async def test_the_loops_own_check_is_asked_where_there_is_one(ask: Ask) -> None:
    def even(value: JsonValue) -> None:
        if value != {"a": 2, "b": 2}:
            raise RuntimeError("a check may raise anything")

    inner = ScriptedModel([answer(called("add", '{"a":1,"b":2}'))])
    params = ASK.replace(tools=(replace(ADD, validate=even),))

    found = only_call(await ask(under_test(inner, ToolCallRepair(ask=False)), params))

    assert isinstance(found.error, InvalidToolInputError)
    assert isinstance(found.error.__cause__, RuntimeError)


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"$ref": "https://x.example/schema.json"}], ids=str)
async def test_a_schema_that_cannot_be_used_is_not_the_fault_of_the_call(schema: dict[str, JsonValue]) -> None:
    said = answer(called("t", '{"a":1}'))
    params = ASK.replace(tools=(FunctionTool(name="t", input_schema=schema),))

    result = await generate(under_test(ScriptedModel([said]), ToolCallRepair()), params)

    assert result == said


async def test_a_cancellation_while_asking_is_none_of_a_failed_repair() -> None:
    inner = ScriptedModel([answer(called("add", "x")), asyncio.CancelledError()])

    with pytest.raises(asyncio.CancelledError):
        await generate(under_test(inner, ToolCallRepair()))


@given(
    input=st.sampled_from(['{"a":1,"b":2}', '{"a":1,"b":2,}', '{"a":1', "x", '"{}"', ""]),
    name=st.sampled_from(["add", "Add", "nope"]),
)
def test_both_modes_give_the_same(input: str, name: str) -> None:
    said = answer("hi", called(name, input))
    asked = answer(called("add", '{"a":5,"b":5}'))

    async def both() -> tuple[GenerateResult, GenerateResult]:
        inner = ScriptedModel([said, asked])
        other = ScriptedModel([said, asked])
        return await generate(under_test(inner, ToolCallRepair())), await stream(under_test(other, ToolCallRepair()))

    whole, streamed = asyncio.run(both())

    assert whole == streamed


async def test_one_layer_serves_many_calls_at_once() -> None:
    layer = ToolCallRepair()
    models = [
        under_test(ScriptedModel([answer(called("add", f"x{n}")), answer(called("add", f'{{"a":{n},"b":0}}'))]), layer)
        for n in range(20)
    ]

    results = await asyncio.gather(*(generate(model) for model in models))

    assert [only_call(result).input for result in results] == [f'{{"a":{n},"b":0}}' for n in range(20)]


def test_a_number_below_none_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="max_asks must be at least 0, got -1"):
        ToolCallRepair(max_asks=-1)


def test_it_shows_its_settings() -> None:
    assert repr(ToolCallRepair()) == "ToolCallRepair(mechanical=True, ask=True)"
    assert repr(repaired_by(lambda _: None)) == "ToolCallRepair(repair=…, mechanical=False, ask=False)"
