"""Every hook of Middleware works as it is: it changes nothing."""

import inspect

import pytest

from onion.spec import StreamResult
from onion.spec.tools import TypedToolCall
from onion.streaming import replay
from onion.testing import ScriptedModel, text
from onion.wrap import Middleware, overridden_hooks
from onion.wrap.hooks import MODEL_HOOKS, RUN_HOOKS
from tests.wrap.traces import ASK

MODEL = ScriptedModel([], provider="acme.chat", model_id="m")


async def test_the_hooks_around_a_model_pass_on() -> None:
    async def generate(_: object = None, /) -> object:
        return text("hi")

    stream = replay(text("hi"))

    async def do_stream(_: object = None, /) -> StreamResult:
        return stream

    base = Middleware()
    calls = {"do_generate": generate, "do_stream": do_stream, "params": ASK, "model": MODEL}

    assert await base.transform_params(params=ASK, type="generate", model=MODEL) is ASK
    assert await base.wrap_generate(**calls) == text("hi")  # type: ignore[arg-type]  # one table for both
    assert await base.wrap_stream(**calls) is stream  # type: ignore[arg-type]  # one table for both
    assert base.override_provider(model=MODEL) == "acme.chat"
    assert base.override_model_id(model=MODEL) == "m"
    assert base.override_supported_urls(model=MODEL) == {}
    await stream.aclose()


async def test_the_hook_around_a_tool_executes_it() -> None:
    async def execute(**_: object) -> object:
        return 42

    call = TypedToolCall(tool_call_id="c", tool_name="t", input={})

    assert await Middleware().wrap_tool(execute=execute, tool_call=call, tool=None, options=None) == 42


@pytest.mark.parametrize("name", [name for name in RUN_HOOKS if name != "wrap_tool"])
def test_the_hooks_that_are_told_do_nothing(name: str) -> None:
    assert getattr(Middleware(), name)(None) is None


def test_the_lists_of_hooks_are_whole() -> None:
    hooks = {name for name, _ in inspect.getmembers(Middleware, inspect.isfunction) if not name.startswith("_")}

    assert hooks == {"is_idle", *MODEL_HOOKS, *RUN_HOOKS}
    assert overridden_hooks(Middleware()) == ()
    assert repr(Middleware()) == "Middleware()"
