"""Layers around a model: `Middleware`, `wrap_language_model`, `layer` and `explain`."""

from onion.wrap.explanation import Explanation, LayerExplanation, explain
from onion.wrap.functions import layer
from onion.wrap.hooks import (
    DoGenerate,
    DoStream,
    Execute,
    Middleware,
    Mode,
    has_model_hooks,
    is_overridden,
    overridden_hooks,
    own_hooks,
)
from onion.wrap.kernel import WrappedModel, unwrap, wrap_language_model

__all__ = [
    "DoGenerate",
    "DoStream",
    "Execute",
    "Explanation",
    "LayerExplanation",
    "Middleware",
    "Mode",
    "WrappedModel",
    "explain",
    "has_model_hooks",
    "is_overridden",
    "layer",
    "overridden_hooks",
    "own_hooks",
    "unwrap",
    "wrap_language_model",
]
