"""What the tests of the command line name as ``module:object``."""

from onion.loop.tools import Tool, tool
from onion.spec.model import LanguageModel
from onion.testing import ScriptedModel, text
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
    """A new model each time."""
    return ScriptedModel([text("hello there")])


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
