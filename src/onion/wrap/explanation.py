"""What a stack is made of, as data and as a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.spec.base import value
from onion.wrap.checks import check_model
from onion.wrap.hooks import overridden_hooks
from onion.wrap.kernel import unwrap

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel


@value
class LayerExplanation:
    """One layer of a stack.

    Attributes:
        name: Its class, or the name given to `layer`.
        settings: Its `repr`, which shows how it was set up and no secrets.
        hooks: The hooks that it overrides.
    """

    name: str
    settings: str
    hooks: tuple[str, ...]


@value
class Explanation:
    """A stack: its layers, outermost first, around one model. `str` draws it."""

    layers: tuple[LayerExplanation, ...]
    provider: str
    model_id: str

    def __str__(self) -> str:
        rings = [*(layer.settings for layer in self.layers), f"{self.provider}/{self.model_id}"]
        hooks = [*(", ".join(layer.hooks) for layer in self.layers), "the model"]
        lines = [("   " * (depth - 1) + "└─ " if depth else "") + ring for depth, ring in enumerate(rings)]
        width = max(map(len, lines)) + 2
        return "\n".join(f"{line:<{width}}{hook}" for line, hook in zip(lines, hooks, strict=True))


def explain(model: LanguageModel) -> Explanation:
    """The stack of layers that *model* is, outermost first. A model without layers has an empty list of them.

    Raises:
        InvalidArgumentError: For what is no model.
    """
    check_model(model)
    layers, innermost = unwrap(model)
    return Explanation(
        layers=tuple(
            LayerExplanation(name=repr(layer).partition("(")[0], settings=repr(layer), hooks=overridden_hooks(layer))
            for layer in layers
        ),
        provider=innermost.provider,
        model_id=innermost.model_id,
    )
