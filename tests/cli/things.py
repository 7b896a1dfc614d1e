"""What the tests of the command line name as ``module:object``."""

import asyncio
import signal

from onion.errors import StreamInterruptedError
from onion.loop import Tool, tool
from onion.spec import CallOptions, LanguageModel, Reasoning
from onion.testing import Raise, ScriptedModel, Wait, answer, call, parts, text
from onion.testing.scripted import ScriptItem
from onion.wrap import layer, wrap_language_model

NUMBER = 7


class Catalogue:
    """A place for models, to be reached by a dotted path."""

    hello = ScriptedModel([text("hello")])


def renamed(*, model: LanguageModel) -> str:
    """A hook that shows the model under another id."""
    return f"renamed {model.model_id}"


stack = wrap_language_model(Catalogue.hello, layer(name="Rename", override_model_id=renamed))


def make_hello() -> ScriptedModel:
    """A model that says hello, once."""
    return ScriptedModel([parts("hello", " there")])


def make_caller() -> ScriptedModel:
    """A model that thinks, calls a tool and answers."""
    return ScriptedModel(
        [
            answer(Reasoning(text="I look it up."), call("get_weather", {"city": "Paris"})),
            text("It rains."),
        ]
    )


def make_local() -> ScriptedModel:
    """A model that says it is the local one, and calls a tool only if it must."""

    def first(params: CallOptions) -> ScriptItem:
        must = params.tool_choice is not None and params.tool_choice.type == "required"
        return answer(call("get_weather", {"city": "Paris"})) if must else text("I need no tool.")

    def second(params: CallOptions) -> ScriptItem:
        return text(f"I was offered {len(params.tools or ())} tools and {params.max_output_tokens} tokens.")

    return ScriptedModel([first, second], provider="local")


def make_failing() -> ScriptedModel:
    """A model that fails in the middle of its answer."""
    return ScriptedModel([parts("half an ans", Raise(StreamInterruptedError("the line is dead")))])


def make_interrupted() -> ScriptedModel:
    """A model whose user presses Ctrl-C in the middle of the first answer; the second one is whole."""
    return ScriptedModel([parts("half an ans", Wait(press_ctrl_c)), text("whole")])


async def press_ctrl_c() -> None:
    """What Ctrl-C does, then wait to be ended by it."""
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()


def make_endless() -> ScriptedModel:
    """A model that begins its answer and never goes on."""
    return ScriptedModel([parts("once upon", Wait(asyncio.Event().wait))])


def make_remembering() -> ScriptedModel:
    """A model that tells how many messages it was sent, and fails in its second answer."""

    def count(params: CallOptions) -> ScriptItem:
        return text(f"{len(params.prompt)} messages")

    return ScriptedModel([count, RuntimeError("not today"), count])


def make_broken() -> ScriptedModel:
    """Makes no model."""
    msg = "cannot be made:\n  no reason"
    raise LookupError(msg)


@tool
def shout(word: str) -> str:
    """Say a word loudly."""
    return word.upper()


tools_by_name = {"loud": shout}
nothing_at_all: dict[str, Tool] = {}
mixed = [shout, "a word"]


def make_tools() -> list[Tool]:
    """A list of tools, made when asked for."""
    return [shout]
