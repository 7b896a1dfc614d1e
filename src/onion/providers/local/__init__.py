"""A real model without key or network: a small one inside this process, or any other ``.gguf`` file.

`local` makes the model, `fetch` brings the weights, `serve` puts it behind HTTP endpoints. The engine comes with the
extra ``local`` and is loaded at the first call.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from onion.providers.local.model import LocalModel
from onion.providers.local.native import EngineSettings
from onion.providers.local.weights import cache_folder, find_weights

if TYPE_CHECKING:
    import os

    from onion.providers.local.fetching import Fetched, fetch
    from onion.providers.local.serving import LocalServer, serve

__all__ = ["Fetched", "LocalModel", "LocalServer", "cache_folder", "fetch", "local", "serve"]

_HOMES = {"Fetched": "fetching", "LocalServer": "serving", "fetch": "fetching", "serve": "serving"}
"""Names of this page that load on first use, archives and pip behind them, and the modules that define them."""


def local(
    model: str | os.PathLike[str] | None = None,
    *,
    context_tokens: int = 4096,
    slots: int = 4,
    threads: int | None = None,
) -> LocalModel:
    """The local model. Nothing is loaded before its first call.

    Args:
        model: Path of a ``.gguf`` file; None means the weights that `fetch` (``onion local fetch``) brings.
        context_tokens: Prompt and answer of one call together, in tokens. Memory grows with it times *slots*.
        slots: Calls that run at the same time; more of them wait.
        threads: Of the processor; None lets the engine choose.

    Raises:
        LocalModelError: When the weights are not there.
        InvalidArgumentError: When a number is less than 1.
    """
    weights, model_id = find_weights(model)
    return LocalModel(
        EngineSettings(weights=weights, model_id=model_id, context_tokens=context_tokens, slots=slots, threads=threads)
    )


if not TYPE_CHECKING:  # a checker that saw it would take every misspelled name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = found
        return found


class _Callable(ModuleType):
    """This module, callable: ``onion.providers.local`` is the package to some and the function to others.

    Importing a submodule binds the package's name in ``onion.providers`` again, whatever stood there, so a function
    of that name would not last.
    """

    def __call__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        context_tokens: int = 4096,
        slots: int = 4,
        threads: int | None = None,
    ) -> LocalModel:
        return local(model, context_tokens=context_tokens, slots=slots, threads=threads)


sys.modules[__name__].__class__ = _Callable
