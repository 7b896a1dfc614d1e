from __future__ import annotations

import pytest

from onion.middleware import AddToolInputExamples
from onion.spec import CallOptions, FunctionTool, ProviderTool, Tool, ToolInputExample
from onion.testing import ScriptedModel, text
from tests.middleware.stacks import ASK, parts_of, under_test

EXAMPLES = (ToolInputExample(input={"x": 1}), ToolInputExample(input={"x": "zwölf", "y": [True, None]}))
WITH = FunctionTool(name="a", description="Does A.", input_schema={"type": "object"}, input_examples=EXAMPLES)
BARE = FunctionTool(name="c", input_schema={"type": "object"}, input_examples=EXAMPLES[:1])
WITHOUT = FunctionTool(name="b", description="No examples.", input_schema={"type": "object"})
PROVIDER = ProviderTool(id="x.y", name="y", args={})


async def sent(tools: tuple[Tool, ...] | None, layer: AddToolInputExamples, mode: str = "generate") -> CallOptions:
    inner = ScriptedModel([text("ok")])
    model = under_test(inner, layer)
    params = ASK.replace(tools=tools)
    await (parts_of(model, params) if mode == "stream" else model.do_generate(params))
    return inner.params[0]


@pytest.mark.parametrize("mode", ["generate", "stream"])
async def test_examples_go_into_the_description_and_out_of_the_tool(mode: str) -> None:
    found = await sent((WITH, WITHOUT, PROVIDER, BARE), AddToolInputExamples(), mode)

    assert found.tools is not None
    described, unchanged, provider, bare = found.tools
    assert isinstance(described, FunctionTool)
    assert described.description == 'Does A.\n\nInput Examples:\n{"x":1}\n{"x":"zwölf","y":[true,null]}'
    assert described.input_examples is None
    assert (unchanged, provider) == (WITHOUT, PROVIDER)
    assert isinstance(bare, FunctionTool)
    assert bare.description == 'Input Examples:\n{"x":1}'


async def test_prefix_format_and_whether_examples_stay_can_be_chosen() -> None:
    layer = AddToolInputExamples(
        "For example:", format=lambda example, index: f"{index + 1}. {example.input}", remove=False
    )

    found = await sent((BARE,), layer)

    assert found.tools is not None
    assert isinstance(found.tools[0], FunctionTool)
    assert found.tools[0].description == "For example:\n1. {'x': 1}"
    assert found.tools[0].input_examples == EXAMPLES[:1]


@pytest.mark.parametrize("tools", [None, (), (WITHOUT, PROVIDER)], ids=["none", "empty", "without examples"])
async def test_without_examples_nothing_changes(tools: tuple[Tool, ...] | None) -> None:
    found = await sent(tools, AddToolInputExamples())

    assert found.tools == tools


def test_it_shows_its_settings() -> None:
    assert repr(AddToolInputExamples()) == "AddToolInputExamples(prefix='Input Examples:', remove=True)"
